"""Django's settings, all of them decided by `KVIZ_*` variables (listed in docs/operation.md).

Importing this module changes nothing on disk: `kviz serve` prepares the data folder first.
"""

import logging
import re
from pathlib import Path

from kviz import environment as env
from kviz.common.hosts import AllowedHosts
from kviz.common.mode import Mode
from kviz.forking.copies import n_cores
from kviz.project import content_security

PACKAGE = Path(__file__).resolve().parents[1]
CHECKOUT = PACKAGE.parent
IN_CHECKOUT = (CHECKOUT / "manage.py").is_file()
SHARE = CHECKOUT if IN_CHECKOUT else PACKAGE / "share"
"""Where `templates`, `static` and `docs` are: next to the package, or inside an installed one."""
DOCS_DIR = SHARE / "docs"

DATA_DIR = env.data_dir()
MODE = Mode(env.choice("KVIZ_MODE", tuple(Mode)))
DEBUG = False
SECRET_KEY = env.secret_key()

ALLOWED_HOSTS = env.words("KVIZ_ALLOWED_HOSTS")
BEHIND_TLS = MODE is Mode.SERVER and env.choice("KVIZ_TLS", ("yes", "no")) == "yes"
CSRF_TRUSTED_ORIGINS = [f"https://{host}" for host in ALLOWED_HOSTS] if BEHIND_TLS else []

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "csp",
    "django_vite",
    "rest_framework",
    "drf_spectacular",
    "channels",
    "kviz.common",
    "kviz.reference",
    "kviz.accounts",
    "kviz.snapshots",
    "kviz.runs",
    "kviz.experiments",
    "kviz.questions",
    "kviz.extenders",
    "kviz.clusters",
    "kviz.clusters.followed",
    "kviz.live",
    "kviz.by_hand",
    "kviz.lessons",
    "kviz.classroom",
]

MIDDLEWARE = [
    "kviz.common.observed.Observed",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "kviz.common.middleware.EveryAnswer",
    "kviz.common.middleware.StaticFiles",
    "kviz.common.middleware.GiveBack",
    "django.middleware.locale.LocaleMiddleware",
    "kviz.common.middleware.Private",
    "kviz.project.extra_slash.NoExtraSlash",
    "kviz.common.middleware.ApiProblems",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "kviz.accounts.middleware.CurrentWorkspace",
]

ROOT_URLCONF = "kviz.project.urls"
ASGI_APPLICATION = "kviz.project.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [SHARE / "templates", PACKAGE],  # those of questions are in their folders
        "APP_DIRS": False,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.csrf",
                "django.contrib.messages.context_processors.messages",
                "kviz.accounts.middleware.workspace_context",
                "kviz.reference.classic.classic_context",
            ],
        },
    },
]

# ---------------------------------------------------------------- storage

DATABASES = {"default": env.database(env.text("KVIZ_DATABASE_URL"))}
DATABASE_CONNECTIONS = env.number("KVIZ_DATABASE_CONNECTIONS")
"""Of a process that serves, at most, to PostgreSQL; its threads share them."""
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.text("KVIZ_REDIS_URL")
if REDIS_URL:
    CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "kviz.project.over_redis.Hints",
            "CONFIG": {"hosts": [REDIS_URL]},
        }
    }
    CACHES = {
        "default": {
            "BACKEND": "kviz.project.over_redis.Counts",
            "LOCATION": REDIS_URL,
        }
    }
else:
    CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}

CELERY_BROKER_URL = env.broker(env.text("KVIZ_CELERY_BROKER_URL"))
"""Where workers hear of what waits; empty: they look into the database."""

# ---------------------------------------------------------------- limits

RUN_SECONDS = env.number("KVIZ_RUN_SECONDS")
"""What a worker may take for a run at a stretch; then it has failed, and says so."""
EXPERIMENT_SECONDS = env.number("KVIZ_EXPERIMENT_SECONDS")
GRACE_SECONDS = env.number("KVIZ_GRACE_SECONDS")
"""How much longer it may take to say so, before its process is ended."""
VISIBILITY_SECONDS = env.visibility_s(max(RUN_SECONDS, EXPERIMENT_SECONDS) + GRACE_SECONDS)
"""Redis delivers a message again that nobody has acknowledged for so long."""

MAX_UPLOAD_BYTES = env.number("KVIZ_MAX_UPLOAD_MIB") * env.MIB
"""One request's body, as sent (compressed or not)."""
MAX_UNPACKED_BYTES = env.number("KVIZ_MAX_UNPACKED_MIB") * env.MIB
"""What the files of one upload may unpack to, together."""
READING_BYTES = env.number("KVIZ_READING_MIB") * env.MIB
"""Memory of the process that reads an upload."""
MAX_CYCLES = env.number("KVIZ_MAX_CYCLES")
"""A run stops after so many scheduling cycles, and says so."""
MAX_OFFLINE_BYTES = env.number("KVIZ_MAX_OFFLINE_MIB") * env.MIB
"""What a page that carries its run may weigh (docs/exporting.md)."""
MAX_VARIANTS = env.number("KVIZ_MAX_VARIANTS")
"""Of one experiment."""
MAX_EXPERIMENTS = env.number("KVIZ_MAX_EXPERIMENTS") if MODE is Mode.SERVER else None
"""That a workspace may have waiting or running; None: any number."""
MAX_WAITING_RUNS = env.number("KVIZ_MAX_WAITING_RUNS") if MODE is Mode.SERVER else None
MAX_SESSIONS = env.number("KVIZ_MAX_SESSIONS") if MODE is Mode.SERVER else None
"""Live sessions that a workspace may have at once."""
MAX_SHARE_LINKS = env.number("KVIZ_MAX_SHARE_LINKS") if MODE is Mode.SERVER else None
"""That open runs of a workspace."""
MAX_WORKSPACES = env.number("KVIZ_MAX_WORKSPACES") if MODE is Mode.SERVER else None
"""Of which a person is an owner."""
MAX_TOKENS = env.number("KVIZ_MAX_TOKENS") if MODE is Mode.SERVER else None
"""Of a person; those that have expired count until they are revoked."""
MAX_INVITATIONS = env.number("KVIZ_MAX_INVITATIONS") if MODE is Mode.SERVER else None
"""Links that invite to a workspace."""
EXPERIMENT_PROCESSES = env.number("KVIZ_EXPERIMENT_PROCESSES", n_cores())
"""How many variants of an experiment run at the same time; by default one for each core."""
LUCK_OF_RUNS = env.choice("KVIZ_LUCK_OF_RUNS", ("yes", "no")) == "yes"
"""Whether it is found out unasked how lucky small runs were."""
EXTENDER_HOSTS = env.words("KVIZ_EXTENDER_HOSTS")
"""Which scheduler extenders runs may call (docs/extenders.md); by default none."""
try:
    AllowedHosts.parse(EXTENDER_HOSTS)
except ValueError as problem:
    raise env.EnvironmentProblem(f"KVIZ_EXTENDER_HOSTS: {problem}") from None

EXTENDER_DEADLINE_S = env.number("KVIZ_EXTENDER_DEADLINE_MS") / 1000
"""A scheduler that has kviz as its extender gets 503 after so long; below its httpTimeout."""
LESSONS_DIR = env.text("KVIZ_LESSONS_DIR")
"""A folder with lessons beside those that come with kviz (docs/lessons.md)."""
CLASS_HOURS = env.number("KVIZ_CLASS_HOURS")
"""When a live class ends by itself."""
CLASS_SEATS_PER_ADDRESS = env.number("KVIZ_CLASS_SEATS_PER_ADDRESS")
"""How many may be in a live class from one address, in server mode."""
CLUSTERS_FILE = Path(clusters_file) if (clusters_file := env.text("KVIZ_CLUSTERS_FILE")) else None
"""Server mode: the real clusters to import, and for which workspaces (docs/clusters.md)."""
MAX_REENACTED_CYCLES = env.number("KVIZ_MAX_REENACTED_CYCLES")
"""How far into a run of 1,000 nodes a cycle may be to be re-enacted while somebody waits."""
ALLOWED_PLUGINS = env.words("KVIZ_ALLOW_PLUGINS") if MODE is Mode.SERVER else None
"""Plugins of other packages that runs may enable; None: all that are installed."""

FILE_UPLOAD_HANDLERS = ["kviz.snapshots.spooling.UnnamedFiles"]
FILE_UPLOAD_TEMP_DIR = env.text("KVIZ_TEMP_DIR") or None
DATA_UPLOAD_MAX_MEMORY_SIZE = 32 * env.MIB
"""Form fields that are not files, such as pasted text."""
DATA_UPLOAD_MAX_NUMBER_FILES = 2_000

# ---------------------------------------------------------------- REST

TRUSTED_PROXIES = ALLAUTH_TRUSTED_PROXY_COUNT = env.number("KVIZ_TRUSTED_PROXIES", at_least=0)
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["kviz.accounts.authentication.WorkspaceAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["kviz.accounts.authentication.MayDoIt"],
    "DEFAULT_RENDERER_CLASSES": ["kviz.common.wording.TranslatingJSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "kviz.project.negotiation.Negotiation",
    "DEFAULT_PARSER_CLASSES": ["kviz.common.json_body.JsonBody"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_THROTTLE_CLASSES": ["kviz.accounts.throttling.WorkspaceRate"],
    "DEFAULT_THROTTLE_RATES": {
        "upload": env.text("KVIZ_UPLOAD_RATE") if MODE is Mode.SERVER else None,
        "guest": env.text("KVIZ_GUEST_RATE") if MODE is Mode.SERVER else None,
        "check": env.text("KVIZ_CHECK_RATE") if MODE is Mode.SERVER else None,
        "run": env.text("KVIZ_RUN_RATE") if MODE is Mode.SERVER else None,
        "experiment": env.text("KVIZ_EXPERIMENT_RATE") if MODE is Mode.SERVER else None,
    },
    "NUM_PROXIES": TRUSTED_PROXIES,
    "EXCEPTION_HANDLER": "kviz.common.problems.exception_handler",
    "UNAUTHENTICATED_USER": None,
    "UNAUTHENTICATED_TOKEN": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "kviz",
    "DESCRIPTION": "Upload a cluster, run the scheduler over it, read every decision.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PUBLIC": True,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "kviz.project.openapi.describe_problems",
    ],
}

# ---------------------------------------------------------------- signing in (docs/accounts.md)

GUESTS = env.choice("KVIZ_GUESTS", ("yes", "no")) == "yes"
"""Server mode: whether one may work without an account."""
AUDIT_DAYS = env.number("KVIZ_AUDIT_DAYS")
"""How long the audit log is kept."""
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "kviz.accounts.passwords.LongEnough",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
ACCOUNT_ADAPTER = "kviz.accounts.sign_in.Accounts"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_UNIQUE_EMAIL = False
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_RATE_LIMITS = {
    "login": "30/m/ip",
    "login_failed": env.text("KVIZ_SIGN_IN_RATE"),
    "change_password": "5/m/user",
}
SOCIALACCOUNT_ADAPTER = "kviz.accounts.sign_in.Identities"
SOCIALACCOUNT_LOGIN_ON_GET = True  # a form may not lead to another site (form-action)
OIDC_ISSUER = env.text("KVIZ_OIDC_ISSUER")
"""Who says who somebody is; empty: nobody but kviz."""
OIDC_NAME = env.text("KVIZ_OIDC_NAME")
"""What the button says."""
OIDC_GROUPS_CLAIM = env.text("KVIZ_OIDC_GROUPS_CLAIM")
OIDC_GROUPS = env.words("KVIZ_OIDC_GROUPS")
"""Only members of these may sign in; empty: everybody the issuer knows may."""
OIDC_ADMIN_GROUPS = env.words("KVIZ_OIDC_ADMIN_GROUPS")
SOCIALACCOUNT_PROVIDERS = env.openid(OIDC_ISSUER, OIDC_NAME)

# ---------------------------------------------------------------- static files

STATIC_URL = "/static/"
STATIC_ROOT = env.text("KVIZ_STATIC_ROOT") or None
STATICFILES_DIRS = [SHARE / "static"]
VITE_SERVER = env.text("KVIZ_VITE_SERVER")
"""A Vite development server, `http://localhost:5173`: pages load the front end from its sources."""
DJANGO_VITE = {
    "default": {
        "manifest_path": SHARE / "static" / "kviz" / "manifest.json",
        "static_url_prefix": "kviz",
        **env.vite_server(VITE_SERVER),
    }
}
WHITENOISE_USE_FINDERS = True
WHITENOISE_ALLOW_ALL_ORIGINS = False
WHITENOISE_AUTOREFRESH = env.choice("KVIZ_AUTORELOAD", ("no", "yes")) == "yes"


def WHITENOISE_IMMUTABLE_FILE_TEST(path: str, url: str) -> bool:
    """Vite puts a hash of the content into these names, so they may be cached for ever."""
    return re.fullmatch(r"/static/kviz/assets/.+-[\w-]{8}\.\w+", url) is not None


# ---------------------------------------------------------------- language and time

USE_I18N = True
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文"), ("zh-hant", "繁體中文")]
LOCALE_PATHS = [SHARE / "locale"]
LANGUAGE_COOKIE_NAME = "kviz_language"
LANGUAGE_COOKIE_AGE = 3600 * 24 * 365
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_SECURE = BEHIND_TLS
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
FORMAT_MODULE_PATH = "kviz.project.formats"

# ---------------------------------------------------------------- safety

SESSION_COOKIE_NAME = "kviz_session"
SESSION_COOKIE_AGE = env.number("KVIZ_GUEST_DAYS") * 24 * 3600
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = BEHIND_TLS
CSRF_COOKIE_NAME = "kviz_csrf"
CSRF_COOKIE_SECURE = BEHIND_TLS
CSRF_FAILURE_VIEW = "kviz.common.problems.csrf_failure"
MESSAGE_STORAGE = "django.contrib.messages.storage.cookie.CookieStorage"
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
EVERY_ANSWER = {
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": content_security.PERMISSIONS,
    "X-Frame-Options": "DENY",
}
"""Headers that Django does not know, or puts on pages only."""
SECURE_HSTS_SECONDS = 3600 * 24 * 30 if BEHIND_TLS else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_TLS else None
CONTENT_SECURITY_POLICY = {"DIRECTIVES": content_security.directives(VITE_SERVER)}

# ---------------------------------------------------------------- logging

LOG_FORMAT = env.choice("KVIZ_LOG_FORMAT", ("line", "json"))
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"},
        "json": {"()": "kviz.common.observed.JsonLines"},
    },
    "filters": {"senders": {"()": "kviz.common.observed.FaultsOfSenders"}},
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": LOG_FORMAT,
            "filters": ["senders"],
        }
    },
    "root": {"handlers": ["stderr"], "level": env.text("KVIZ_LOG_LEVEL")},
    "loggers": {
        "django": {"handlers": [], "level": "WARNING", "propagate": True},
        "django.request": {"level": "ERROR"},
        "kviz.requests": {"level": "INFO" if LOG_FORMAT == "json" else "WARNING"},
        "celery": {"level": "WARNING"},
        "uvicorn": {"level": "WARNING"},
        "httpx": {"level": "WARNING"},
    },
}

logging.captureWarnings(LOG_FORMAT == "json")  # so that these are lines of JSON, too

# ---------------------------------------------------------------- observing

METRICS_TOKEN = env.text("KVIZ_METRICS_TOKEN")
"""What Prometheus shows to read `/metrics`; in server mode nobody reads it without."""
WORKER_METRICS_PORT = env.number("KVIZ_WORKER_METRICS_PORT", at_least=0)
"""Where a worker answers Prometheus; 0: nowhere."""
WORKER_ALIVE_FILE = env.text("KVIZ_WORKER_ALIVE_FILE")
"""What a worker touches as long as it gets on; empty: nothing."""
OTEL_ENDPOINT = env.text("KVIZ_OTEL_ENDPOINT")
"""Where traces go, by OTLP over HTTP; nowhere if empty."""
