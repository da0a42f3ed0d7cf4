"""The project: settings, addresses, accounts, API, embedded services and command line."""

# Celery's tasks bind to this application wherever Django runs.
from worksample.celery import app as celery_app

__all__ = ["celery_app"]
