"""kubeconfig files: which there are, and what their contexts name.

Several files are merged as kubectl does: of entries with one name the first counts, and the first
current context; a file of a list that is not there is skipped. Paths are relative to their file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from kviz.clusters.reading.problems import ContextRefused
from scheduler_core import yaml_text

MAX_BYTES = 16 * 1024 * 1024


class Variable(msgspec.Struct, frozen=True):
    """An environment variable that an exec plugin is given."""

    name: str
    value: str


class Exec(msgspec.Struct, frozen=True, rename="camel"):
    """A program that hands out credentials."""

    command: str
    api_version: str = ""
    args: list[str] | None = None
    env: list[Variable] | None = None
    interactive_mode: str = "IfAvailable"
    provide_cluster_info: bool = False


class User(msgspec.Struct, frozen=True, rename="kebab"):
    """How to authenticate. Its text is secret."""

    token: str = ""
    token_file: str = msgspec.field(name="tokenFile", default="")
    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    username: str = ""
    password: str = ""
    act_as: str = msgspec.field(name="as", default="")
    act_as_uid: str = msgspec.field(name="as-uid", default="")
    act_as_groups: list[str] | None = msgspec.field(name="as-groups", default=None)
    act_as_extra: object = msgspec.field(name="as-user-extra", default=None)
    auth_provider: object = None
    exec: Exec | None = None

    def __repr__(self) -> str:
        return "User(...)"


class Extension(msgspec.Struct, frozen=True):
    """What others keep beside an entry; exec plugins are given the one meant for them."""

    name: str
    extension: object = None


class Cluster(msgspec.Struct, frozen=True, rename="kebab"):
    """Where an API server is and how to trust it."""

    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""
    disable_compression: bool = False
    extensions: list[Extension] | None = None


class Context(msgspec.Struct, frozen=True):
    """A cluster and the user for it."""

    cluster: str = ""
    user: str = ""
    namespace: str = ""


Entry = TypeVar("Entry", User, Cluster, Context)


class _NamedUser(msgspec.Struct, frozen=True):
    name: str
    user: User | None = None


class _NamedCluster(msgspec.Struct, frozen=True):
    name: str
    cluster: Cluster | None = None


class _NamedContext(msgspec.Struct, frozen=True):
    name: str
    context: Context | None = None


class _File(msgspec.Struct, frozen=True, rename="kebab"):
    current_context: str | None = ""
    users: list[_NamedUser] | None = None
    clusters: list[_NamedCluster] | None = None
    contexts: list[_NamedContext] | None = None


@dataclass(frozen=True)
class Placed(Generic[Entry]):
    """An entry, and the folder its paths are relative to."""

    entry: Entry
    folder: Path


@dataclass(frozen=True)
class Kubeconfig:
    """The merged files; `current` is empty if they name no current context."""

    files: tuple[Path, ...]
    current: str
    contexts: Mapping[str, Placed[Context]]
    clusters: Mapping[str, Placed[Cluster]]
    users: Mapping[str, Placed[User]]

    def context_named(self, name: str) -> str:
        """The name of a context that is there; the current one for an empty name.

        Raises ContextRefused.
        """
        chosen = name or self.current
        if chosen in self.contexts:
            return chosen
        there = ", ".join(sorted(self.contexts)[:20]) or "none"
        if not chosen:
            raise ContextRefused(f"No context is current; choose one of: {there}.")
        raise ContextRefused(f"There is no context {chosen!r}; there are: {there}.")


def kubeconfig_paths(given: Path | None, environment: Mapping[str, str]) -> tuple[Path, ...]:
    """The files that count: the one given, else those of KUBECONFIG, else `~/.kube/config`.

    Of KUBECONFIG and of the default only those that are there.
    """
    if given is not None:
        return (given.expanduser(),)
    named = [Path(word) for word in environment.get("KUBECONFIG", "").split(os.pathsep) if word]
    home = environment.get("HOME", "")
    found = named or ([Path(home) / ".kube" / "config"] if home else [])
    return tuple(path for path in found if path.exists())


def read_kubeconfig(paths: Sequence[Path]) -> Kubeconfig:
    """Read and merge files. Raises ContextRefused for one that cannot be read."""
    files = [(path.absolute().parent, _read(path)) for path in paths]
    return Kubeconfig(
        files=tuple(paths),
        current=next((file.current_context for _, file in files if file.current_context), ""),
        contexts=_merged(
            (each.name, each.context, folder)
            for folder, file in files
            for each in file.contexts or ()
        ),
        clusters=_merged(
            (each.name, each.cluster, folder)
            for folder, file in files
            for each in file.clusters or ()
        ),
        users=_merged(
            (each.name, each.user, folder) for folder, file in files for each in file.users or ()
        ),
    )


def _merged(entries: Iterable[tuple[str, Entry | None, Path]]) -> Mapping[str, Placed[Entry]]:
    merged: dict[str, Placed[Entry]] = {}
    for name, entry, folder in entries:
        if entry is not None:
            merged.setdefault(name, Placed(entry, folder))
    return merged


def _read(path: Path) -> _File:
    """One file. Its text holds secrets: no message quotes it. Raises ContextRefused."""
    try:
        data = path.read_bytes()
        if len(data) > MAX_BYTES:
            raise ContextRefused(f"{path} is too large for a kubeconfig file.")
        plain = yaml_text.value(data.decode())
    except OSError as error:
        raise ContextRefused(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise ContextRefused(f"{path} is not UTF-8 text.") from None
    except yaml_text.NotYaml as error:
        where = f" at line {error.line}" if error.line else ""
        raise ContextRefused(f"{path} is not valid YAML{where}.") from None
    try:
        return msgspec.convert(plain if plain is not None else {}, _File)
    except msgspec.ValidationError as error:
        # It names the field and the types, not the value.
        raise ContextRefused(f"{path} is not a kubeconfig file: {error}.") from None
