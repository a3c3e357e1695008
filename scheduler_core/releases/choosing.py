"""Which release a run follows, where nobody named one, and why it is that one.

What is known of a cluster's release is stored in a few words: `server v1.37.1` (its API server says
so), `nodes v1.37.1` (its newest kubelet; no kubelet is newer than the control plane, so this is the
least that the scheduler can be), `nodes v1.37.1 v1.36.2` (its newest and its oldest), or `nothing`.
Empty where it was never asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from scheduler_core.api import KubeObject, Node
from scheduler_core.releases import LATEST, RELEASES, release_named
from scheduler_core.releases.table import Release
from scheduler_core.wording import say

AUTO: Final = "auto"
"""What stands for a release that is chosen by what the cluster says."""
NOTHING: Final = "nothing"
SERVER: Final = "server"
NODES: Final = "nodes"

_VERSION: Final = re.compile(r"v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,6}))?(?![\d])")

Version = tuple[int, int, int]


class Chosen(Struct, frozen=True):
    """A release, and in few words what it was chosen by; that is empty if somebody named it."""

    release: Release
    told: str = ""

    @property
    def text(self) -> str:
        return in_words(self.release.name, self.told)


def release_asked(asked: str) -> str:
    """Return the name of the table that is asked for, or `AUTO`, also for nothing.

    Raises UnknownRelease.
    """
    return AUTO if asked in ("", AUTO) else release_named(asked)


def release_told(objects: Iterable[KubeObject], server_version: str = "") -> str:
    """Return what is known of a cluster's release, by the `gitVersion` of its API server first.

    Of the objects only nodes count.
    """
    if _read(server_version):
        return f"{SERVER} {_plain(server_version)}"
    nodes = (each for each in objects if isinstance(each, Node))
    said = {each.status.node_info.kubelet_version for each in nodes}
    read = {version: _plain(text) for text in said if (version := _read(text))}
    return " ".join([NODES, *(read[each] for each in _ends(read))]) if read else NOTHING


def chosen_release(asked: str, told: str) -> Chosen:
    """Return the release to follow: the requested one, or by the cluster's data.

    `asked` is the name of a table, or `AUTO`. Raises KeyError for another name.
    """
    if asked != AUTO:
        return Chosen(RELEASES[asked])
    version = _version_told(told)
    return Chosen(_nearest(version) if version else LATEST, told or NOTHING)


def is_known(told: str) -> bool:
    """Return whether there is a table of the minor release that a cluster says it runs.

    So it is, too, where nothing is said.
    """
    version = _version_told(told)
    return version is None or version[:2] in {_numbers(each)[:2] for each in RELEASES.values()}


def why(told: str) -> str:
    """Say what a release was chosen by; empty if somebody named it."""
    if not told:
        return ""
    version = _version_told(told)
    if version is None:
        return say("release.nothing_says", "nothing says which; the newest that kviz knows")
    source, text, *older = told.split(" ")
    if source == SERVER:
        said = say("release.server_says", "the API server says {version}", version=text)
    elif older:
        said = say(
            "release.nodes_differ", "nodes say {oldest} to {newest}", oldest=older[0], newest=text
        )
    else:
        said = say("release.nodes_say", "nodes say {version}", version=text)
    if version[:2] < _numbers(next(iter(RELEASES.values())))[:2]:
        return say("release.too_old", "{said}, older than all releases that kviz knows", said=said)
    if version[:2] > _numbers(LATEST)[:2]:
        return say("release.too_new", "{said}, newer than all releases that kviz knows", said=said)
    return said


def in_words(name: str, told: str) -> str:
    """Name a release with what it was chosen by: `1.37.2 (nodes say v1.37.1)`."""
    if not (because := why(told)):
        return name
    return say("release.because", "{release} ({why})", release=name, why=because)


def _ends(versions: Iterable[Version]) -> list[Version]:
    """The newest and the oldest, which may be one."""
    in_order = sorted(versions, reverse=True)
    return [in_order[0], in_order[-1]] if len(in_order) > 1 else in_order


def _nearest(version: Version) -> Release:
    """Return the nearest patch of the version's minor release, else the oldest or the newest."""
    tables = list(RELEASES.values())
    same = [each for each in tables if _numbers(each)[:2] == version[:2]]
    if same:
        return min(same, key=lambda each: abs(_numbers(each)[2] - version[2]))
    older = [each for each in tables if _numbers(each) < version]
    return older[-1] if older else tables[0]


def _version_told(told: str) -> Version | None:
    return _read(told.partition(" ")[2])


def _read(text: str) -> Version | None:
    found = _VERSION.match(text)
    if found is None:
        return None
    major, minor, patch = found.groups()
    return int(major), int(minor), int(patch or 0)


def _plain(text: str) -> str:
    """The version without what a vendor adds to it: `v1.37.1` of `v1.37.1-eks-473151a`."""
    found = _VERSION.match(text)
    assert found is not None
    return f"v{found[0].removeprefix('v')}"


def _numbers(release: Release) -> Version:
    version = _read(release.name)
    assert version is not None
    return version
