"""The WSGI application: `waitress-serve memoryweb.wsgi:application`, or `manage.py serve`."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryweb.settings")
application = get_wsgi_application()

from bank import sync  # noqa: E402 - after the apps are there
from memoryweb.core import health  # noqa: E402

# Not here: no connection is opened before a fork. `serve` does it before it answers anyone;
# under another server the first /healthz does.
health.do_first("saves that were begun are finished", sync.recover)
