"""Everything that can be configured, read strictly from the environment. README lists it all."""

from datetime import timedelta
from pathlib import Path

from csp.constants import NONE, SELF

from memoryweb import environment as env

BASE_DIR = Path(__file__).resolve().parent.parent

# The home: one folder holds everything there is to keep.
MEMORYWEB_HOME = env.folder("MEMORYWEB_HOME", BASE_DIR / "data")
MEMORYWEB_MEMORY_DIR = env.folder("MEMORYWEB_MEMORY_DIR", MEMORYWEB_HOME / "memory")

# Limits of one request; the API answers 413 or 422 beyond them.
MEMORYWEB_BODY_LIMIT = 2 * 1024 * 1024
MEMORYWEB_BATCH_BODY_LIMIT = 32 * 1024 * 1024
MEMORYWEB_RATE_LIMIT = env.whole("MEMORYWEB_RATE_LIMIT", 0)
# Minutes for which what a page deleted can be brought back.
MEMORYWEB_TRASH_MINUTES = env.whole("MEMORYWEB_TRASH_MINUTES", 10, least=1)
# Open connections to the indexes of wikis; the name is TencentDB's. Each has three open files.
KNOWLEDGE_WIKI_POOL_MAX = env.whole("KNOWLEDGE_WIKI_POOL_MAX", 300, least=1)
# Who makes vectors of texts: nobody by default. The key is nowhere but here, and is never shown.
MEMORYWEB_EMBEDDING_URL = env.provider("MEMORYWEB_EMBEDDING_URL")
MEMORYWEB_EMBEDDING_MODEL = env.provider_model("MEMORYWEB_EMBEDDING_MODEL", MEMORYWEB_EMBEDDING_URL)
MEMORYWEB_EMBEDDING_API_KEY = env.text("MEMORYWEB_EMBEDDING_API_KEY", "")
# How long a search waits for the vector of its words.
MEMORYWEB_EMBEDDING_TIMEOUT = env.seconds("MEMORYWEB_EMBEDDING_TIMEOUT", 3.0, least=0.1, most=60.0)
MEMORYWEB_EMBEDDING_AUTO = env.flag("MEMORYWEB_EMBEDDING_AUTO", False)
MEMORYWEB_EMBEDDING_ALLOW_PRIVATE = env.flag("MEMORYWEB_EMBEDDING_ALLOW_PRIVATE", False)
DATA_UPLOAD_MAX_MEMORY_SIZE = MEMORYWEB_BATCH_BODY_LIMIT
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2000

# There is no debug mode: its pages and logs show what people trust us to keep.
DEBUG = False
LOOPBACK = ["localhost", "127.0.0.1", "[::1]"]
ALLOWED_HOSTS = env.listed("MEMORYWEB_ALLOWED_HOSTS", [*LOOPBACK])
CSRF_TRUSTED_ORIGINS = env.origins("MEMORYWEB_CSRF_TRUSTED_ORIGINS")
MEMORYWEB_TRUSTED_PROXIES = env.networks("MEMORYWEB_TRUSTED_PROXIES")
CSRF_FAILURE_VIEW = "memoryweb.resuming.csrf_failed"
HTTPS = env.flag("MEMORYWEB_HTTPS", False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_HSTS_SECONDS = 30 * 24 * 3600 if HTTPS else 0
SESSION_COOKIE_AGE = 14 * 24 * 3600
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "form-action": [SELF],
    }
}

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "ninja",
    "axes",
    "csp",
    "memoryweb.core",
    "episodes",
    "bank",
    "search",
    "memoryweb",
]

MIDDLEWARE = [
    "memoryweb.core.proxies.behind_proxies",
    "django.middleware.security.SecurityMiddleware",
    "memoryweb.core.middleware.request_id",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "memoryweb.core.middleware.kept_by_nobody",
    "memoryweb.core.middleware.problem_documents",
    "memoryweb.core.middleware.body_limit",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "memoryweb.core.middleware.PathEnds",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "memoryweb.resuming.LoginRequired",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "memoryweb.core.middleware.DomainErrors",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "memoryweb.urls"
WSGI_APPLICATION = "memoryweb.wsgi.application"
APPEND_SLASH = True

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "memoryweb.context.frame",
            ],
        },
    }
]

DATABASES = {
    "default": {
        "ENGINE": "memoryweb.core.sqlite",
        "NAME": MEMORYWEB_HOME / "memoryweb.sqlite3",
        "CONN_MAX_AGE": None,
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 30,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA mmap_size=0;",
        },
        # Tests run on a real file too: WAL and locks are part of what is tested.
        "TEST": {"NAME": MEMORYWEB_HOME / "test.sqlite3"},
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "core.User"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "login"

# Ten wrong passwords for one name from one address close that door for a quarter of an hour;
# from other addresses the person still gets in, so nobody can lock somebody else out.
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_CALLABLE = "memoryweb.views.locked_out"
AXES_VERBOSE = False

LANGUAGE_CODE = "en"
USE_I18N = False
TIME_ZONE = env.zone("MEMORYWEB_TIME_ZONE")
USE_TZ = True

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_MAX_AGE = 0  # Revalidated by time stamp: an upgrade shows at the next page.

LOG_LEVEL = env.choice("MEMORYWEB_LOG_LEVEL", "info", {"debug", "info", "warning", "error"})
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL.upper()},
    "loggers": {
        # Their debug lines would hold memory text and SQL parameters.
        "django": {"handlers": ["console"], "level": "WARNING", "propagate": False},
        "django.server": {"handlers": ["console"], "level": "WARNING", "propagate": False},
        "httpx": {"handlers": ["console"], "level": "WARNING", "propagate": False},
        "httpcore": {"handlers": ["console"], "level": "WARNING", "propagate": False},
        "axes": {"handlers": ["console"], "level": "WARNING", "propagate": False},
        "mcp": {"handlers": ["console"], "level": "WARNING", "propagate": False},
        "waitress": {"handlers": ["console"], "level": "WARNING", "propagate": False},
        # It warns of every request that waits for a thread, however shortly.
        "waitress.queue": {"handlers": ["console"], "level": "ERROR", "propagate": False},
    },
}

# The last of all: where another setting is refused, no home is made to hold a key.
SECRET_KEY = env.secret_key("MEMORYWEB_SECRET_KEY", MEMORYWEB_HOME / "secret.key")
