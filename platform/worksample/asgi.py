"""ASGI entry point: ``uvicorn worksample.asgi:application``."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "worksample.settings")

application = get_asgi_application()
