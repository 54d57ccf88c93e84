"""The WSGI application: `waitress-serve memoryweb.wsgi:application`, or `manage.py serve`."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryweb.settings")
application = get_wsgi_application()
