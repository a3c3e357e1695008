"""How a request authenticates, from a user of a kubeconfig.

The official client does not find the credentials: it ignores `as:` and reads with all rights of
the user, sends anonymous requests when an exec plugin fails, and reports a line break at the end
of a token file with an error that has the token. kviz refuses what it cannot do safely, and never
sends anonymous requests (docs/clusters.md has all forms).
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Protocol

import msgspec

from kviz.clusters.reading.kubeconfig import Exec, Placed, User
from kviz.clusters.reading.problems import ContextRefused

EXEC_V1: Final = "client.authentication.k8s.io/v1"
EXEC_VERSIONS: Final = (EXEC_V1, "client.authentication.k8s.io/v1beta1")
EXEC_TIMEOUT_S: Final = 60
FILE_AGE_S: Final = 60
"""A token file is read again after so long: service accounts' tokens are replaced."""
EARLY_S: Final = 60
"""A token is replaced so long before it expires."""


class Bearer(Protocol):
    """A token that is sent along, newly obtained when it has to be."""

    def token(self) -> str:
        """The token as it counts now. Raises ContextRefused."""


@dataclass(frozen=True)
class FixedToken:
    """A token that stands in the kubeconfig."""

    text: str = field(repr=False)

    def token(self) -> str:
        return self.text


@dataclass
class TokenFile:
    """A token in a file, without the blanks and line breaks around it."""

    path: Path
    _text: str = field(default="", repr=False)
    _read_at: float = 0.0

    def token(self) -> str:
        if not self._text or time.monotonic() - self._read_at > FILE_AGE_S:
            self._text = checked_token(_text_of(self.path, "token file"), f"token file {self.path}")
            self._read_at = time.monotonic()
        return self._text


class _Status(msgspec.Struct, frozen=True, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: datetime | None = None

    def __repr__(self) -> str:
        return "_Status(...)"


class _ExecCredential(msgspec.Struct, frozen=True, rename="camel"):
    api_version: str
    kind: str
    status: _Status | None = None


@dataclass
class ExecPlugin:
    """A program that hands out a token, a certificate, or both; run again before they expire."""

    user: str
    plugin: Exec
    folder: Path
    cluster: Mapping[str, object] | None
    """What it gets about the cluster, if it needs that."""
    _status: _Status | None = field(default=None, repr=False)

    def token(self) -> str:
        return self.status().token

    def status(self) -> _Status:
        """What it handed out. Raises ContextRefused: never continues without credentials."""
        if self._status is None or _is_over(self._status):
            self._status = self._run()
        return self._status

    def _run(self) -> _Status:
        name = Path(self.plugin.command).name
        try:
            done = subprocess.run(  # the kubeconfig's own command, as kubectl runs it
                [self._program(), *(self.plugin.args or [])],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=EXEC_TIMEOUT_S,
                env=self._environment(),
                check=False,
            )
        except FileNotFoundError:
            raise ContextRefused(
                f"The exec plugin {name} of user {self.user} is not installed."
            ) from None
        except OSError as error:
            raise ContextRefused(
                f"The exec plugin {name} of user {self.user} cannot be run: {error.strerror}."
            ) from None
        except subprocess.TimeoutExpired:
            raise ContextRefused(
                f"The exec plugin {name} of user {self.user} did not end within {EXEC_TIMEOUT_S} s."
            ) from None
        if done.returncode:
            raise ContextRefused(
                f"The exec plugin {name} of user {self.user} failed (exit status "
                f"{done.returncode}). Try the context with kubectl to see what it says."
            )
        return self._answer(done.stdout)

    def _answer(self, output: bytes) -> _Status:
        whose = f"The exec plugin {Path(self.plugin.command).name} of user {self.user}"
        try:
            credential = msgspec.json.decode(output, type=_ExecCredential)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise ContextRefused(f"{whose} did not print an ExecCredential.") from None
        if credential.api_version != self.plugin.api_version:
            raise ContextRefused(
                f"{whose} is configured as {self.plugin.api_version} and answered as "
                f"{credential.api_version[:60]}."
            )
        status = credential.status or _Status()
        if not (status.token or status.client_certificate_data):
            raise ContextRefused(f"{whose} handed out neither a token nor a certificate.")
        if status.token:
            checked_token(status.token, f"token of {whose[0].lower()}{whose[1:]}")
        return status

    def _program(self) -> str:
        """A command with a slash is relative to the kubeconfig, any other is looked up in PATH."""
        command = self.plugin.command
        return str(self.folder / command) if os.sep in command else command

    def _environment(self) -> dict[str, str]:
        spec: dict[str, object] = {"interactive": False}
        if self.cluster is not None:
            spec["cluster"] = self.cluster
        info = {"apiVersion": self.plugin.api_version, "kind": "ExecCredential", "spec": spec}
        own = {each.name: each.value for each in self.plugin.env or ()}
        return {**os.environ, **own, "KUBERNETES_EXEC_INFO": json.dumps(info)}


def _is_over(status: _Status) -> bool:
    over_at = status.expiration_timestamp
    if over_at is None:
        return False
    return (over_at - datetime.now(UTC)).total_seconds() < EARLY_S


@dataclass(frozen=True)
class Certificate:
    """A client certificate and its key, as PEM."""

    certificate: bytes = b""
    key: bytes = field(default=b"", repr=False)


@dataclass(frozen=True)
class Credentials:
    """A token, a certificate, or both; never neither."""

    bearer: Bearer | None
    certificate: Certificate = Certificate()


def credentials_of(name: str, user: Placed[User], cluster: Mapping[str, object]) -> Credentials:
    """The credentials of a user. Raises ContextRefused for forms that are not safe or are gone."""
    entry = user.entry
    if refusal := refusal_of_user(name, entry):
        raise ContextRefused(refusal)
    certificate = Certificate(
        _pem(entry.client_certificate_data, entry.client_certificate, user.folder, "certificate"),
        _pem(entry.client_key_data, entry.client_key, user.folder, "key"),
    )
    if bool(certificate.certificate) != bool(certificate.key):
        raise ContextRefused(f"User {name} has a client certificate or a key, not both.")
    bearer = _bearer(name, user, cluster)
    if isinstance(bearer, ExecPlugin):
        status = bearer.status()
        if status.client_certificate_data:
            certificate = Certificate(
                status.client_certificate_data.encode(), status.client_key_data.encode()
            )
        if not status.token:
            return Credentials(None, certificate)
    if bearer is None and not certificate.certificate:
        raise ContextRefused(
            f"User {name} has no credentials: kviz would ask as nobody (system:anonymous)."
        )
    return Credentials(bearer, certificate)


def refusal_of_user(name: str, user: User) -> str:
    """Why this user is not to be used, empty if it is."""
    if user.act_as or user.act_as_uid or user.act_as_groups or user.act_as_extra:
        return (
            f"User {name} acts as somebody else (`as`). kviz does not impersonate, and without it "
            "would read with the rights of the user behind it. Use a context of its own."
        )
    if user.auth_provider is not None:
        return (
            f"User {name} has an auth-provider; Kubernetes 1.26 removed them. Use an exec plugin."
        )
    if user.username or user.password:
        return f"User {name} has a user name and password; Kubernetes 1.19 removed them."
    plugin = user.exec
    if plugin is None:
        return ""
    if plugin.api_version not in EXEC_VERSIONS:
        return (
            f"The exec plugin of user {name} has apiVersion {plugin.api_version[:60] or '(none)'}; "
            f"kviz knows {' and '.join(EXEC_VERSIONS)}."
        )
    if plugin.interactive_mode == "Always":
        return (
            f"The exec plugin of user {name} wants a terminal (interactiveMode: Always), and kviz "
            "does not give it one."
        )
    return ""


def _bearer(name: str, user: Placed[User], cluster: Mapping[str, object]) -> Bearer | None:
    """The token that counts: a file goes before a token, a plugin comes last, as with kubectl."""
    entry = user.entry
    if entry.token_file:
        bearer = TokenFile(user.folder / entry.token_file)
        bearer.token()
        return bearer
    if entry.token:
        return FixedToken(checked_token(entry.token, f"token of user {name}"))
    if entry.exec is not None:
        told = cluster if entry.exec.provide_cluster_info else None
        return ExecPlugin(name, entry.exec, user.folder, told)
    return None


def checked_token(text: str, what: str) -> str:
    """A token as it may stand in a header. Raises ContextRefused without quoting it."""
    token = text.strip()
    if not token:
        raise ContextRefused(f"The {what} is empty.")
    if not token.isascii() or not token.isprintable() or " " in token:
        raise ContextRefused(f"The {what} holds characters that no token has.")
    return token


def _pem(data: str, path: str, folder: Path, what: str) -> bytes:
    """PEM text that stands in the kubeconfig, or in a file. Raises ContextRefused."""
    return pem_of(data, folder / path if path else None, f"client {what}")


def pem_of(data: str, path: Path | None, what: str) -> bytes:
    """PEM text out of base64 or a file, empty if there is neither. Raises ContextRefused."""
    if data:
        try:
            return msgspec.convert(data, bytes)
        except msgspec.ValidationError:
            raise ContextRefused(f"The {what} is not base64.") from None
    return _text_of(path, what).encode() if path else b""


def _text_of(path: Path, what: str) -> str:
    try:
        return path.read_text()
    except OSError as error:
        raise ContextRefused(f"The {what} {path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise ContextRefused(f"The {what} {path} is not text.") from None
