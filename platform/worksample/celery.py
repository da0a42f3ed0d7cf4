"""The Celery application: ``celery -A worksample.celery worker``."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "worksample.settings")

app = Celery("worksample")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
