"""Settings. Everything comes from the environment; the table in ``README.md`` lists every variable read here.

A variable that is missing without a default, or that does not parse, stops the start with its name.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import environ
from celery.schedules import crontab
from django.core.exceptions import ImproperlyConfigured
from django.templatetags.static import static
from django.urls import reverse_lazy

from language.embedders.choice import REMOTE, read_choice
from retrieval.weights import fault_in

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

# --- Databases, cache, broker ---------------------------------------------------------------------------------


def _database(url: str) -> dict[str, Any]:
    """Turn a database URL into Django's form, with pooled connections and bounded statements."""
    config: dict[str, Any] = env.db_url_config(url)
    if config.get("ENGINE") != "django.db.backends.postgresql":
        msg = "DATABASE_URL must be a postgresql:// address: Keepsake uses PostgreSQL with pgvector"
        raise ImproperlyConfigured(msg)
    config["HOST"] = unquote(config.get("HOST") or "")  # A Unix socket's directory comes percent-encoded.
    config.setdefault("OPTIONS", {})
    config["OPTIONS"]["options"] = "-c statement_timeout=30s -c lock_timeout=10s -c jit=off"
    return config


_database_url = env.str("DATABASE_URL")
DATABASES = {"default": _database(_database_url), "owner": _database(env.str("DATABASE_OWNER_URL", _database_url))}
# For a person with few memories PostgreSQL would plan a search anew each time, to save less than that takes.
DATABASES["default"]["OPTIONS"]["options"] += " -c plan_cache_mode=force_generic_plan"
DATABASES["default"]["OPTIONS"]["pool"] = {
    "min_size": 1,
    "max_size": env.int("DATABASE_POOL_SIZE", default=16),
    "timeout": 3,
}
# Not behind a pooler that hands a connection to another process between transactions and does not know of them.
DATABASE_PREPARES = env.bool("DATABASE_PREPARES", default=True)
# A connection that died with a restarted server is found out before it is handed to a request.
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
# The owner connection exists for migrations only, which may run long; the tests migrate through it too.
DATABASES["owner"]["OPTIONS"]["options"] = "-c jit=off"
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
    """Celery spells a Unix socket differently from redis-py: same server, other scheme."""
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
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 600,
    "socket_connect_timeout": 0.5,
    "socket_timeout": 5,
    "global_keyprefix": "keepsake-queue:",
    # A request must not wait for a broker that is away: the sweep finds what could not be queued.
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0,
    "interval_max": 0,
}
CELERY_BEAT_SCHEDULE = {
    "sweep": {"task": "assistant.sweep", "schedule": timedelta(minutes=2)},
    "sweep-imports": {"task": "assistant.sweep_imports", "schedule": timedelta(minutes=1)},
    "finish-idle": {"task": "assistant.finish_idle", "schedule": timedelta(minutes=5)},
    "purge": {"task": "facts.purge", "schedule": crontab(minute=17, hour=3)},
    "note-shown": {"task": "memories.note_shown", "schedule": timedelta(seconds=5)},
    "expire-memories": {"task": "memories.expire", "schedule": timedelta(minutes=5)},
    "lapse-proposals": {"task": "memories.lapse", "schedule": crontab(minute=7)},
    "tidy-plans": {"task": "memories.tidy_plans", "schedule": timedelta(minutes=2)},
    "purge-memories": {"task": "memories.purge", "schedule": crontab(minute=27, hour=3)},
    "trim": {"task": "journal.trim", "schedule": crontab(minute=37, hour=3)},
}

# --- Applications ---------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",
    "memory_project.staff.apps.StaffAdminConfig",
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
    "drf_spectacular_sidecar",
    "journal",
    "accounts",
    "conversations",
    "memories",
    "facts",
    "assistant",
    "desk",
    "interop",
    "memory_project",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "memory_project.middleware.BodyLimit",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "memory_project.middleware.RequestLog",
]

ROOT_URLCONF = "memory_project.urls"
WSGI_APPLICATION = "memory_project.wsgi.application"
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
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign-in"
LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

# --- Static files and safety ----------------------------------------------------------------------------------

STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
WHITENOISE_USE_FINDERS = DEBUG
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CSRF_FAILURE_VIEW = "memory_project.errors.csrf_failure"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_NAME = env.str("SESSION_COOKIE_NAME", default="keepsake_session")
CSRF_COOKIE_NAME = f"{SESSION_COOKIE_NAME}_csrf"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^health/"]  # Probes speak plain HTTP to the process itself.
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env.bool("BEHIND_PROXY", default=False) else None
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
    "ENVIRONMENT": "memory_project.staff.sidebar.environment",
    "SITE_DROPDOWN": [
        {"icon": "home", "title": "My own pages", "link": reverse_lazy("home")},
        {"icon": "api", "title": "The API", "link": reverse_lazy("docs")},
    ],
    "SIDEBAR": {"navigation": "memory_project.staff.sidebar.groups"},
}
MAX_BODY_BYTES = 1_048_576
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_BODY_BYTES

# --- REST -----------------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "accounts.authentication.AgentKeyAuthentication",
        "accounts.authentication.PersonSessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["accounts.permissions.HasPrincipal"],
    "DEFAULT_RENDERER_CLASSES": ["memory_project.rendering.OrjsonRenderer"],
    "DEFAULT_PARSER_CLASSES": ["memory_project.parsing.OrjsonParser"],
    "DEFAULT_THROTTLE_CLASSES": ["accounts.throttling.PrincipalRateThrottle"],
    "DEFAULT_THROTTLE_RATES": {"principal": env.str("API_RATE", default="1200/min")},
    "DEFAULT_PAGINATION_CLASS": "accounts.pagination.Pages",
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_SCHEMA_CLASS": "accounts.schema.Schema",
    "EXCEPTION_HANDLER": "accounts.errors.answer_error",
    "UNAUTHENTICATED_USER": None,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Keepsake",
    "DESCRIPTION": "The memory that agents and people share.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": [],
    "SERVE_AUTHENTICATION": [],
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "POSTPROCESSING_HOOKS": ["drf_spectacular.hooks.postprocess_schema_enums", "accounts.schema.add_errors"],
    "ENUM_NAME_OVERRIDES": {
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
        "ProposalState": "memories.models.Proposal.State",
        "QuerySource": [(source, source) for source in ("memories", "facts", "chunks", "turns")],
        "AgentSource": [(source, source) for source in ("chunks", "turns", "facts")],
        "Scope": [(scope, scope) for scope in ("read", "write", "admin")],
    },
}

# --- Language -------------------------------------------------------------------------------------------------

ANTHROPIC_API_KEY = env.str("ANTHROPIC_API_KEY", default="").strip()
ANTHROPIC_BASE_URL = env.str("ANTHROPIC_BASE_URL", default="") or "https://api.anthropic.com"
KEEPSAKE_MODEL = env.str("KEEPSAKE_MODEL", default="") or ("claude-haiku-5-5" if ANTHROPIC_API_KEY else "offline")
KEEPSAKE_MODEL_TIMEOUT_SECONDS = env.float("KEEPSAKE_MODEL_TIMEOUT_SECONDS", default=60.0)
KEEPSAKE_MODEL_RETRIES = env.int("KEEPSAKE_MODEL_RETRIES", default=2)
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
OPENAI_QUERY_PREFIX = env.str("OPENAI_QUERY_PREFIX", default="")
OPENAI_PASSAGE_PREFIX = env.str("OPENAI_PASSAGE_PREFIX", default="")
VOYAGE_API_KEY = env.str("VOYAGE_API_KEY", default="").strip()
VOYAGE_BASE_URL = env.str("VOYAGE_BASE_URL", default="") or _VOYAGE_URL
KEEPSAKE_CATEGORIES = env.str("KEEPSAKE_CATEGORIES", default="")

# --- Other people's protocols ---------------------------------------------------------------------------------

# Without a token there is no webhook.
TELEGRAM_SECRET_TOKEN = env.str("TELEGRAM_SECRET_TOKEN", default="")
TELEGRAM_BOT_NAME = env.str("TELEGRAM_BOT_NAME", default="")

# --- Rules of the house: named limits, each in the unit that its name says --------------------------------------

MESSAGE_MAX_CHARACTERS = 32_000
MESSAGES_PER_REQUEST = 500
SUMMARY_THRESHOLD_MESSAGES = 30
SUMMARY_BATCH_MESSAGES = 20
WINDOW_MESSAGES = 20
EXTRACTED_PER_USER_MESSAGE = 3
# What is learned from one person in 24 hours, facts and memories together, bounds the cost and what is to be reviewed.
EXTRACTED_PER_USER_AND_DAY = env.int("EXTRACTED_PER_USER_AND_DAY", default=200)
# How often a model is asked about one part of a conversation: to choose, then to mend what was not taken.
EXTRACTION_ROUNDS = env.int("EXTRACTION_ROUNDS", default=3)
EXTRACTION_CONTEXT_MESSAGES = 6
HOLD_SECONDS = 86_400
# A stream of updates holds a thread, so it ends by itself, and a process has fewer of them than threads.
UPDATES_STREAM_SECONDS = 30
UPDATES_STREAMS = 16
UPDATES_KEPT_SECONDS = 600
IDLE_FINISH_SECONDS = 3_600
BATCH_LEASE_SECONDS = 240
# A batch asks the model twice and embeds twice at most, then renews its lease before it goes on.
MODEL_TIMEOUT_MAX_SECONDS = 75
EMBEDDER_TIMEOUT_MAX_SECONDS = 40
TURN_BUDGET_TOKENS = 16_000
FACTS_BLOCK_TOKENS = 4_000
RECALLED_CHUNKS = 3
RECALLED_TURNS = 8
RECALLED_FACTS = 8
# So much of what was said right before and after a recalled turn goes with it.
RECALLED_NEIGHBOUR_TOKENS = 120
# A turn looks once more where nothing that it found scores this, in deviations from what the person's rows score on
# average: the scale of cosines is another one with every embedder. docs/search.md has how often that is.
RECALL_CONFIDENT = env.float("RECALL_CONFIDENT", default=1.8)
# What a second look adds at most.
RECALLED_AGAIN = 3
RECALLED_AGAIN_TOKENS = 512
# Weights of the search that differ from those of retrieval/weights.py, by name.
SEARCH_WEIGHTS = env.dict("SEARCH_WEIGHTS", cast={"value": float}, default={})
RECALLED_MEMORIES = 8
# What an answer of memory.query holds unless it is told otherwise, and the most that may be asked for.
QUERY_TOP_K = 10
QUERY_MOST_RESULTS = 100
QUERY_BUDGET_TOKENS = 512
QUERY_MOST_TOKENS = 100_000
# So many at least are ranked by what else speaks for them, and so many the model chooses among.
QUERY_CANDIDATES = 50
QUERY_CHOSEN_AMONG = 50
# So many bullets in all tell of what is related to what was found.
QUERY_RELATED = 2
# What speaks for a memory whatever is asked, in points of one deviation from how near the person's memories are to the
# question: for each step of importance off the ordinary, half of it after so many days without use; for having been
# worded just now, half of it after so many days; for being pinned; for being related to what was found before it, at
# full strength; against being an insight.
# Measured on the observations of LoCoMo (benchmarks/ranking.py; recall@5 and @10 are 73.6 and 82.3): without recency
# -0.7 and 0, twice as much of it +0.3 and 0; without relations +0.4 and +0.1, twice as much of them -0.8 and +0.5. So
# neither moves much. No data tells of importance, pins and insights: a pin weighs as much as two steps of importance,
# an insight comes behind what was said.
RANK_IMPORTANCE = 0.1
RANK_IMPORTANCE_HALF_DAYS = 90
RANK_RECENCY = 0.1
RANK_RECENCY_HALF_DAYS = 30
RANK_PINNED = 0.2
RANK_RELATED = 0.2
RANK_INSIGHT = 0.5
# What the memory block always carries, memories and places: their lines, without the fence and the headings.
MEMORY_BLOCK_TOKENS = env.int("MEMORY_BLOCK_TOKENS", default=10_000)
MEMORY_CACHE_SECONDS = 600
MEMORY_PAGE_CACHE_SECONDS = 300
ARCHIVE_DAYS = 30
# A history of one's own: what may be uploaded, what that may hold unpacked, and one conversation of it, in memory.
IMPORT_MAX_BYTES = env.int("IMPORT_MAX_MB", default=512) * 1_048_576
IMPORT_MAX_CONTENT_BYTES = 2_048 * 1_048_576
IMPORT_MAX_CONVERSATION_BYTES = 32 * 1_048_576
IMPORT_MAX_RATIO = 200
# A worker is given back after so long, so that what others said meanwhile is not kept waiting by somebody's history.
IMPORT_SLICE_SECONDS = 20
IMPORT_LEASE_SECONDS = 180
INDEX_SLICE_SECONDS = 30
OPERATION_EVENT_DAYS = 90
LINK_CODE_MINUTES = 10
LINK_ATTEMPTS = 5
IDEMPOTENCY_HOURS = 24
# Cosine similarities of facts, measured with the bundled embedder on the 95 pairs of tests/facts/pairs.py, each under
# four names of one to three words (all its cosines are high; a longer name in both makes them higher):
#   from   same, of 25   contradicting, of 24   related, of 26   unrelated, of 20
#   0.984     12 - 17             1                    0                0         duplicate: dropped, evidence kept
#   0.97      19 - 22             3 - 6              0 - 3              0         rejected before: stays away
#   0.86         25              23 - 24               26             2 - 18      near enough to ask what it is
# A model's or the rules' word that two contradict, or say the same, counts before these; so do figures that differ.
FACT_DUPLICATE_SIMILARITY = env.float("FACT_DUPLICATE_SIMILARITY", default=0.984)
FACT_RELATED_SIMILARITY = env.float("FACT_RELATED_SIMILARITY", default=0.86)
FACT_NEIGHBOURS = 8
TOMBSTONE_SIMILARITY = env.float("TOMBSTONE_SIMILARITY", default=0.97)
# Cosine similarities of memories, measured in the same way on the 122 pairs of tests/memories/pairs.py. In brackets:
# those of them whose figures and names agree and that the rules don't take for a contradiction.
#   from   same, of 26   contradicting, of 27   related, of 27   unrelated, of 20   fields: same, of 8   others, of 14
#   0.99      8 [6]            1 [0]                1 [0]               0                  0 [0]              0 [0]
#   0.98     14 [12]           1 [0]                1 [0]               0                  4 [4]              1 [1]
#   0.97     18 [16]           5 [0]                2 [0]               0                  5 [5]              5 [3]
#   0.95     24 [22]           8 [1]                3 [1]               0                  8 [8]              8 [5]
#   0.89     26 [24]          24 [9]               14 [10]              0                  8 [8]             14 [5]
#   0.88     26 [24]          25 [10]              17 [11]              0                  8 [8]             14 [5]
#   0.86     26 [24]          25 [10]              22 [14]              1                  8 [8]             14 [5]
#   0.84     26 [24]          27 [12]              26 [16]              2                  8 [8]             14 [5]
# From auto on two are one, if what is in brackets holds; longer texts are nearer to each other than these, so it leaves
# room. From update on the word that they say the same is taken, from check_low on that they contradict each other. From
# fallback_low on consolidation looks at them, from link_min on they are linked. A field is mixed up more easily.
MEMORY_AUTO_SIMILARITY = env.float("MEMORY_AUTO_SIMILARITY", default=0.98)
MEMORY_UPDATE_SIMILARITY = env.float("MEMORY_UPDATE_SIMILARITY", default=0.89)
MEMORY_CHECK_LOW_SIMILARITY = env.float("MEMORY_CHECK_LOW_SIMILARITY", default=0.88)
MEMORY_FALLBACK_LOW_SIMILARITY = env.float("MEMORY_FALLBACK_LOW_SIMILARITY", default=0.86)
MEMORY_LINK_MIN_SIMILARITY = env.float("MEMORY_LINK_MIN_SIMILARITY", default=0.86)
MEMORY_FIELD_AUTO_SIMILARITY = env.float("MEMORY_FIELD_AUTO_SIMILARITY", default=0.99)
MEMORY_FIELD_UPDATE_SIMILARITY = env.float("MEMORY_FIELD_UPDATE_SIMILARITY", default=0.95)
MEMORY_NEIGHBOURS = 8
# Of a new memory's neighbours, those that it is linked to.
MEMORY_LINKS = 3
PROPOSAL_DAYS = 7
# Saying memories in fewer: how many a plan is about, how many of them a request waits for, how long a plan is kept.
OPTIMIZE_MOST_MEMORIES = 1_000
OPTIMIZE_AT_ONCE_MEMORIES = 200
OPTIMIZE_PLAN_HOURS = 24
OPTIMIZE_PLANS_PER_DAY = 20
# A batch asks the model once and embeds once, while its lease holds.
OPTIMIZE_LEASE_SECONDS = 240
OPTIMIZE_SLICE_SECONDS = 30

# --- What can't be right together -----------------------------------------------------------------------------

for _holds, _fault in (
    (KEEPSAKE_MODEL == "offline" or ANTHROPIC_API_KEY, "KEEPSAKE_MODEL names a model, which needs ANTHROPIC_API_KEY"),
    (len(KEEPSAKE_MODEL) <= 80, "KEEPSAKE_MODEL may have 80 characters: it is stored with what the model wrote"),
    (ANTHROPIC_API_KEY.isascii() and not any(map(str.isspace, ANTHROPIC_API_KEY)), "ANTHROPIC_API_KEY is no key"),
    (ANTHROPIC_BASE_URL.startswith(("https://", "http://")), "ANTHROPIC_BASE_URL must be an http(s):// address"),
    (
        0 < KEEPSAKE_MODEL_TIMEOUT_SECONDS <= MODEL_TIMEOUT_MAX_SECONDS,
        f"KEEPSAKE_MODEL_TIMEOUT_SECONDS must be more than 0 and at most {MODEL_TIMEOUT_MAX_SECONDS}",
    ),
    (KEEPSAKE_MODEL_RETRIES >= 0, "KEEPSAKE_MODEL_RETRIES must not be negative"),
    (1 <= EXTRACTION_ROUNDS <= 10, "EXTRACTION_ROUNDS must be from 1 to 10"),
    (EXTRACTED_PER_USER_AND_DAY >= 0, "EXTRACTED_PER_USER_AND_DAY must not be negative"),
    (not fault_in(SEARCH_WEIGHTS), f"SEARCH_WEIGHTS: {fault_in(SEARCH_WEIGHTS)}"),
    (0 <= RECALL_CONFIDENT < float("inf"), "RECALL_CONFIDENT must be 0, for never, or more"),
    (MEMORY_BLOCK_TOKENS > 0, "MEMORY_BLOCK_TOKENS must be more than 0"),
    (
        0
        < MEMORY_LINK_MIN_SIMILARITY
        <= MEMORY_FALLBACK_LOW_SIMILARITY
        <= MEMORY_CHECK_LOW_SIMILARITY
        <= MEMORY_UPDATE_SIMILARITY
        <= min(MEMORY_AUTO_SIMILARITY, MEMORY_FIELD_UPDATE_SIMILARITY),
        "The MEMORY_…_SIMILARITY must be in order: LINK_MIN ≤ FALLBACK_LOW ≤ CHECK_LOW ≤ UPDATE ≤ AUTO, FIELD_UPDATE",
    ),
    (
        max(MEMORY_AUTO_SIMILARITY, MEMORY_FIELD_UPDATE_SIMILARITY) <= MEMORY_FIELD_AUTO_SIMILARITY,
        "MEMORY_FIELD_AUTO_SIMILARITY must be at least MEMORY_AUTO_SIMILARITY and MEMORY_FIELD_UPDATE_SIMILARITY",
    ),
    (IMPORT_MAX_BYTES > 0, "IMPORT_MAX_MB must be more than 0"),
    (
        0 < KEEPSAKE_EMBEDDER_TIMEOUT_SECONDS <= EMBEDDER_TIMEOUT_MAX_SECONDS,
        f"KEEPSAKE_EMBEDDER_TIMEOUT_SECONDS must be more than 0 and at most {EMBEDDER_TIMEOUT_MAX_SECONDS}",
    ),
    (
        0 < KEEPSAKE_EMBEDDER_QUERY_TIMEOUT_SECONDS <= EMBEDDER_TIMEOUT_MAX_SECONDS,
        f"KEEPSAKE_EMBEDDER_QUERY_TIMEOUT_SECONDS must be more than 0 and at most {EMBEDDER_TIMEOUT_MAX_SECONDS}",
    ),
    (KEEPSAKE_EMBEDDER_RETRIES >= 0, "KEEPSAKE_EMBEDDER_RETRIES must not be negative"),
    (1 <= KEEPSAKE_EMBEDDER_BATCH <= 1_000, "KEEPSAKE_EMBEDDER_BATCH must be from 1 to 1,000"),
    (32 <= KEEPSAKE_EMBEDDER_TEXT_TOKENS <= 8_000, "KEEPSAKE_EMBEDDER_TEXT_TOKENS must be from 32 to 8,000"),
    *(
        (holds, fault)
        for name, key, url in (("OPENAI", OPENAI_API_KEY, OPENAI_BASE_URL), ("VOYAGE", VOYAGE_API_KEY, VOYAGE_BASE_URL))
        for holds, fault in (
            (key.isascii() and not any(map(str.isspace, key)), f"{name}_API_KEY is no key"),
            (url.startswith(("https://", "http://")), f"{name}_BASE_URL must be an http(s):// address"),
        )
    ),
    *(
        (
            choice.kind not in REMOTE or (OPENAI_API_KEY if choice.kind == "openai" else VOYAGE_API_KEY) or elsewhere,
            f"{setting} names {choice.kind}, which needs {choice.kind.upper()}_API_KEY",
        )
        for setting, value in (
            ("KEEPSAKE_EMBEDDER", KEEPSAKE_EMBEDDER),
            ("KEEPSAKE_EMBEDDER_BEFORE", KEEPSAKE_EMBEDDER_BEFORE or "bundled"),
        )
        for choice in (read_choice(setting, value),)
        for elsewhere in (choice.kind == "openai" and OPENAI_BASE_URL != _OPENAI_URL,)
    ),
):
    if not _holds:
        raise ImproperlyConfigured(_fault)

# --- Logs -----------------------------------------------------------------------------------------------------

LOG_LEVEL = env.str("LOG_LEVEL", default="INFO")
DJANGO_STRUCTLOG_USER_ID_FIELD = None  # Authentication notes it; asking here would read the session of every request.
LOGGING = logging_config(LOG_LEVEL, json_lines=env.bool("LOG_JSON", default=False))
