"""What the environment says: the `KVIZ_*` variables, read with django-environ, checked here.

`environment.yaml` declares them, with their defaults and what `docs/operation.md` says of them.

Nothing here needs Django's settings, so the command line can use it before Django starts.
"""

from __future__ import annotations

import os
import re
import secrets
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec
from environ import Env
from environ.compat import ImproperlyConfigured

from scheduler_core import yaml_text

MIB: Final = 1024 * 1024
POSTGRESQL: Final = re.compile(r"postgres(ql)?://[^/]*/[^/?]")
BROKER: Final = re.compile(r"(rediss?|amqps?)://[^/]+")
ISSUER: Final = re.compile(r"https://\S+|http://(localhost|127\.0\.0\.1|\[::1\])[:/]\S*")
SIGNS_OF_LIFE: Final = {
    "connect_timeout": 3,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 2,
    "tcp_user_timeout": 15_000,
}
"""How libpq notices that a server is gone (all but the last, ms, in seconds); an address may say
otherwise."""
SPARE_S: Final = 600
"""How much longer than its task takes a message stays with its worker, by default."""
VITE: Final = re.compile(r"(https?)://([\w.-]+):(\d+)")

_environment: Final = Env()
_environment.escape_proxy = True


class EnvironmentProblem(Exception):
    """A `KVIZ_*` variable has a value kviz cannot work with; the message names it."""


class Setting(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A variable: what it says, and its default, or in words how that is computed."""

    says: str
    default: str | int = ""
    computed: str = ""


@cache
def declared() -> Mapping[str, Setting]:
    """Return every variable by its name, in the order of `docs/operation.md`."""
    text = Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
    return msgspec.convert(yaml_text.value(text), dict[str, Setting])


def text(name: str, computed: str = "") -> str:
    """A value as it stands; `$OTHER` stands for that of another variable."""
    default = computed or str(declared()[name].default)
    if not os.environ.get(name, "").strip():
        return default
    try:
        return str(_environment.str(name)).strip() or default
    except ImproperlyConfigured as error:
        raise EnvironmentProblem(f"{name} names another variable. {error}") from error


def number(name: str, computed: int | None = None, *, at_least: int = 1) -> int:
    """A whole number."""
    value = text(name, "" if computed is None else str(computed))
    if not value.isascii() or not value.isdigit() or int(value) < at_least:
        raise EnvironmentProblem(
            f"{name} must be a whole number of at least {at_least}, not {value!r}"
        )
    return int(value)


def words(name: str) -> list[str]:
    """A comma-separated list."""
    return _words(text(name)) or _words(str(declared()[name].default))


def _words(listed: str) -> list[str]:
    found: list[str] = Env.parse_value(listed, [str.strip])
    return [word for word in found if word]


def choice(name: str, options: Sequence[str]) -> str:
    """One of `options`."""
    value = text(name)
    if value not in options:
        raise EnvironmentProblem(f"{name} must be one of {', '.join(options)}, not {value!r}")
    return value


def data_dir() -> Path:
    """Where SQLite and stored files live: `KVIZ_DATA_DIR`, else the platform's data folder."""
    if configured := text("KVIZ_DATA_DIR"):
        return Path(configured).expanduser().absolute()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "kviz"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "kviz"


def prepare_data_dir() -> Path:
    """Create the data folder and the key that signs cookies; only its owner may look inside.

    Raises EnvironmentProblem where nothing can be written.
    """
    folder = data_dir()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        key = folder / "secret-key"
        if not key.exists():
            handle = os.open(key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(secrets.token_urlsafe(50))
    except OSError as problem:
        raise EnvironmentProblem(
            f"The data folder {folder} cannot be written to: {problem.strerror}. "
            "KVIZ_DATA_DIR names another one."
        ) from problem
    return folder


def secret_key() -> str:
    """`KVIZ_SECRET_KEY`, else the key in the data folder, else one for this process only."""
    if configured := text("KVIZ_SECRET_KEY"):
        return configured
    try:
        return (data_dir() / "secret-key").read_text(encoding="ascii")
    except FileNotFoundError:
        return secrets.token_urlsafe(50)


def database(url: str) -> Mapping[str, object]:
    """Django's settings for `postgresql://user:password@host:port/name?option=value`, or SQLite.

    Empty means SQLite in the data folder. Writers take the lock when they begin (IMMEDIATE), so
    that two of them queue up instead of failing halfway.
    """
    if not url:
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": str(data_dir() / "kviz.sqlite3"),
            "OPTIONS": {
                "transaction_mode": "IMMEDIATE",
                "timeout": 20,
                "init_command": (
                    "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL; "
                    "PRAGMA synchronous=NORMAL; PRAGMA busy_timeout=20000;"
                ),
            },
        }
    if not POSTGRESQL.match(url):
        raise EnvironmentProblem(
            "KVIZ_DATABASE_URL must look like postgresql://user:password@host:5432/name"
        )
    found: dict[str, Any] = Env.db_url_config(url)
    return {
        **found,
        "ENGINE": "kviz.project.postgresql",
        "OPTIONS": {**SIGNS_OF_LIFE, **found.get("OPTIONS", {})},
        "CONN_MAX_AGE": 0,
        "CONN_HEALTH_CHECKS": True,
    }


def broker(url: str) -> str:
    """The address of a broker that Celery speaks with here; empty for none."""
    if url and not BROKER.match(url):
        raise EnvironmentProblem(
            "KVIZ_CELERY_BROKER_URL must look like redis://host:6379/1 or "
            "amqp://user:password@host:5672//"
        )
    return url


def visibility_s(longest_s: int) -> int:
    """How long a broker believes that a message is being worked at: longer than any work takes."""
    given_s = number("KVIZ_VISIBILITY_SECONDS", longest_s + SPARE_S)
    if given_s <= longest_s:
        raise EnvironmentProblem(
            f"KVIZ_VISIBILITY_SECONDS is {given_s}, and a task may take {longest_s} s (the longer "
            "of KVIZ_RUN_SECONDS and KVIZ_EXPERIMENT_SECONDS, and KVIZ_GRACE_SECONDS): the broker "
            "would deliver it again while it is under way. Leave KVIZ_VISIBILITY_SECONDS out, or "
            f"make it at least {longest_s + 1}"
        )
    return given_s


def secret(name: str, name_of_file: str) -> str:
    """A secret value, in a variable or in the file that another one names."""
    if not (file := text(name_of_file)):
        return text(name)
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except OSError as problem:
        raise EnvironmentProblem(f"{name_of_file} {file}: {problem.strerror}") from problem


def openid(issuer: str, name: str) -> Mapping[str, object]:
    """django-allauth's settings for the one OpenID provider; none without an issuer."""
    if not issuer:
        return {}
    if not ISSUER.fullmatch(issuer):
        raise EnvironmentProblem(
            "KVIZ_OIDC_ISSUER must look like https://login.example.com/realms/team, not "
            f"{issuer!r}; without TLS only the machine itself is believed"
        )
    client_id = text("KVIZ_OIDC_CLIENT_ID")
    if not client_id:
        raise EnvironmentProblem("KVIZ_OIDC_CLIENT_ID is wanted with KVIZ_OIDC_ISSUER")
    app = {
        "provider_id": "openid",
        "name": name,
        "client_id": client_id,
        "secret": secret("KVIZ_OIDC_CLIENT_SECRET", "KVIZ_OIDC_CLIENT_SECRET_FILE"),
        "settings": {"server_url": issuer.rstrip("/"), "fetch_userinfo": False},
    }
    scopes = words("KVIZ_OIDC_SCOPES")
    return {"openid_connect": {"OAUTH_PKCE_ENABLED": True, "SCOPE": scopes, "APPS": [app]}}


def vite_server(url: str) -> Mapping[str, object]:
    """django-vite's settings for a development server at `url`; none of an empty one."""
    if not url:
        return {}
    if (parts := VITE.fullmatch(url)) is None:
        raise EnvironmentProblem(
            f"KVIZ_VITE_SERVER must look like http://localhost:5173, not {url!r}"
        )
    return {
        "dev_mode": True,
        "dev_server_protocol": parts[1],
        "dev_server_host": parts[2],
        "dev_server_port": int(parts[3]),
    }
