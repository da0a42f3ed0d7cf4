"""The one settings file. Everything that differs between installations comes from the environment.

Variables not set are looked up in the environment file of the embedded services (see ``worksample.home``); a variable
that is needed and found in neither place stops the start with its name.
"""

import os
from datetime import timedelta
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import environ

from worksample.home import environment_file, home

env = environ.Env()
if os.environ.get("WORKSAMPLE_EMBEDDED", "1") == "1" and environment_file().exists():
    env.read_env(str(environment_file()))

try:
    VERSION = version("worksample")
except PackageNotFoundError:  # a checkout that was not installed
    VERSION = "0+checkout"

HOME = home()
DEBUG = env.bool("WORKSAMPLE_DEBUG", default=False)
SECRET_KEY = env.str("WORKSAMPLE_SECRET_KEY")
# Fernet keys, newest first, that encrypt provider credentials at rest.
CREDENTIAL_KEYS = env.list("WORKSAMPLE_CREDENTIAL_KEYS")
ALLOWED_HOSTS = env.list("WORKSAMPLE_ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("WORKSAMPLE_TRUSTED_ORIGINS", default=[])
SITE_URL = env.str("WORKSAMPLE_SITE_URL", default="http://127.0.0.1:8000")
# Operators of one's own machine may measure models on it; a site for strangers must not let them reach its network.
ALLOW_LOCAL_ENDPOINTS = env.bool("WORKSAMPLE_ALLOW_LOCAL_ENDPOINTS", default=False)

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django.contrib.postgres",
    "django_htmx",
    "pgtrigger",
    "rest_framework",
    "knox",
    "drf_spectacular",
    "worksample.accounts",
    "questions",
    "evaluation",
    "frontend",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "frontend.middleware.ContentSecurityPolicyMiddleware",
]

ROOT_URLCONF = "worksample.urls"
ASGI_APPLICATION = "worksample.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "frontend.context.site",
            ],
        },
    },
]

DATABASES = {"default": env.db_url("DATABASE_URL")}
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}

AUTH_USER_MODEL = "accounts.User"
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "front"
LOGOUT_REDIRECT_URL = "front"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
# Set where the site is served over https; a session over plain http on loopback needs them off.
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SITE_URL.startswith("https://")
SECURE_HSTS_SECONDS = 31_536_000 if SITE_URL.startswith("https://") else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env.bool("WORKSAMPLE_BEHIND_PROXY", False) else None
X_FRAME_OPTIONS = "DENY"

# How the questions app, which knows no grader, has its questions checked.
QUESTION_CHECK = "evaluation.checking.check_question"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = Path(env.str("WORKSAMPLE_STATIC_ROOT", default=str(HOME / "static")))
# The few static files lie in the packages themselves, so that nothing has to be collected first.
WHITENOISE_USE_FINDERS = True
DATA_UPLOAD_MAX_MEMORY_SIZE = 20 * 1024 * 1024

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "knox.auth.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticatedOrReadOnly"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": [
        "rest_framework.parsers.JSONParser",
        "rest_framework.parsers.MultiPartParser",
    ],
    "DEFAULT_PAGINATION_CLASS": "worksample.api.pagination.CursorPagination",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_THROTTLE_CLASSES": [
        "rest_framework.throttling.AnonRateThrottle",
        "rest_framework.throttling.UserRateThrottle",
    ],
    "DEFAULT_THROTTLE_RATES": {
        "anon": env.str("WORKSAMPLE_ANON_RATE", default="600/min"),
        "user": env.str("WORKSAMPLE_USER_RATE", default="6000/min"),
    },
    "EXCEPTION_HANDLER": "worksample.api.errors.problem_details",
    "DEFAULT_VERSIONING_CLASS": None,
}
REST_KNOX = {"TOKEN_TTL": timedelta(days=90), "AUTO_REFRESH": False}
SPECTACULAR_SETTINGS = {
    "TITLE": "worksample",
    "DESCRIPTION": "Tasks, configurations, evaluations, trials and leaderboards of worksample.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
}

# A worker that gives no sign of life for this long loses its evaluation to another.
LEASE_SECONDS = env.float("WORKSAMPLE_LEASE_SECONDS", default=15.0)

CELERY_BROKER_URL = env.str("CELERY_BROKER_URL")
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TIMEZONE = TIME_ZONE
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
SWEEP_SECONDS = env.float("WORKSAMPLE_SWEEP_SECONDS", default=5.0)
CELERY_BEAT_SCHEDULE = {
    # One that finds every worker busy is of no use later: the next one follows.
    "sweep": {"task": "evaluation.sweep", "schedule": SWEEP_SECONDS, "options": {"expires": SWEEP_SECONDS}},
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["console"], "level": env.str("WORKSAMPLE_LOG_LEVEL", default="INFO")},
    "loggers": {"httpx": {"level": "WARNING"}, "django.server": {"level": "WARNING"}},
}
