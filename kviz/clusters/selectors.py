"""Reads: which real clusters somebody may import, and the way to one of them.

In local mode these are the contexts of the kubeconfig, as kubectl finds it; in server mode what the
operator listed, never a file that a user names.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import msgspec
from django.conf import settings

from kviz.accounts.models import Workspace
from kviz.clusters.reading.credentials import refusal_of_user
from kviz.clusters.reading.kubeconfig import Kubeconfig, kubeconfig_paths, read_kubeconfig
from kviz.clusters.reading.problems import ClusterProblem, ContextRefused
from kviz.clusters.reading.targets import (
    IN_CLUSTER,
    SERVICE_HOST,
    Protection,
    Target,
    in_cluster_target,
    protection_of,
    target_of,
)
from kviz.common.mode import Mode
from scheduler_core.api.errors import UNREADABLE

# The operator's list of clusters (`KVIZ_CLUSTERS_FILE`): what a server offers, and to whom.
#
# clusters:
# - name: production
#   kubeconfig: /etc/kviz/production.kubeconfig   # or inCluster: true
#   context: admin                                # default: its current context
#   visibleTo: everyone                           # or a list of workspaces' ids


class Listed(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A cluster that the operator lists."""

    name: str
    visible_to: Literal["everyone"] | list[str]
    kubeconfig: str = ""
    context: str = ""
    in_cluster: bool = False

    def is_visible_to(self, workspace_id: str) -> bool:
        return self.visible_to == "everyone" or workspace_id in self.visible_to


class _List(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    clusters: list[Listed]


def listed_clusters(path: Path | None) -> list[Listed]:
    """The list; empty without a file. Raises ContextRefused, with words for the operator."""
    if path is None:
        return []
    try:
        found = msgspec.yaml.decode(path.read_bytes(), type=_List).clusters
    except OSError as error:
        raise ContextRefused(f"KVIZ_CLUSTERS_FILE {path}: {error.strerror}") from None
    except UNREADABLE as error:
        raise ContextRefused(f"KVIZ_CLUSTERS_FILE {path}: {error}") from None
    names = [each.name for each in found]
    if len(set(names)) < len(names):
        raise ContextRefused(f"KVIZ_CLUSTERS_FILE {path}: two clusters have the same name")
    for each in found:
        if bool(each.kubeconfig) == each.in_cluster:
            raise ContextRefused(
                f"KVIZ_CLUSTERS_FILE {path}: {each.name} needs either kubeconfig or inCluster"
            )
    return found


LIST_IS_BROKEN = "The operator's list of clusters cannot be read; the server's log says why."

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Offer:
    """A cluster that may be imported; nothing was asked of it yet."""

    name: str
    server: str = ""
    """Its address; empty where it is the operator's business."""
    protection: Protection | None = None
    is_current: bool = False
    refusal: str = ""
    """Why it cannot be imported, if that is known without a request; empty if it may work."""


@dataclass(frozen=True)
class Offered:
    offers: tuple[Offer, ...]
    files: tuple[Path, ...] = ()
    """The kubeconfig files of local mode."""
    problem: str = ""
    """Why there are none; empty if nothing is wrong."""


class NotOffered(ClusterProblem):
    """There is no such cluster for this workspace."""


def clusters_offered(*, workspace: Workspace) -> Offered:
    """The clusters a workspace may import. Runs no plugin and asks nobody."""
    if settings.MODE == Mode.SERVER:
        try:
            return Offered(tuple(Offer(each.name) for each in _listed_for(workspace)))
        except ContextRefused as problem:
            log.error("%s", problem)
            return Offered((), problem=LIST_IS_BROKEN)
    paths = kubeconfig_paths(None, os.environ)
    try:
        kubeconfig = read_kubeconfig(paths)
    except ContextRefused as problem:
        return Offered((), paths, str(problem))
    offers = tuple(_offer(kubeconfig, name) for name in kubeconfig.contexts)
    if not paths and SERVICE_HOST in os.environ:
        offers = (Offer(IN_CLUSTER, is_current=True),)
    return Offered(offers, paths)


def target_get(*, workspace: Workspace, name: str) -> Target:
    """The way to a cluster that is offered. Raises NotOffered and ContextRefused."""
    if settings.MODE == Mode.SERVER:
        for listed in _listed_for(workspace):
            if listed.name == name:
                return replace(_target_listed(listed), name=name)
        raise NotOffered(f"There is no cluster {name!r} here.")
    if name not in [offer.name for offer in clusters_offered(workspace=workspace).offers]:
        raise NotOffered(f"There is no context {name!r} in the kubeconfig.")
    paths = kubeconfig_paths(None, os.environ)
    return target_of(read_kubeconfig(paths), name) if paths else in_cluster_target(os.environ)


def _listed_for(workspace: Workspace) -> list[Listed]:
    listed = listed_clusters(settings.CLUSTERS_FILE)
    return [each for each in listed if each.is_visible_to(str(workspace.pk))]


def _target_listed(listed: Listed) -> Target:
    if listed.in_cluster:
        return in_cluster_target(os.environ)
    return target_of(read_kubeconfig([Path(listed.kubeconfig)]), listed.context)


def _offer(kubeconfig: Kubeconfig, name: str) -> Offer:
    context = kubeconfig.contexts[name].entry
    cluster, user = kubeconfig.clusters.get(context.cluster), kubeconfig.users.get(context.user)
    is_current = name == kubeconfig.current
    if cluster is None:
        text = f"The cluster {context.cluster!r} that it names is not there."
        return Offer(name, is_current=is_current, refusal=text)
    refusal = (
        refusal_of_user(context.user, user.entry)
        if user is not None
        else f"The user {context.user!r} that it names is not there."
    )
    server = cluster.entry.server
    insecure = cluster.entry.insecure_skip_tls_verify
    # What stands before an @ would be credentials.
    shown = server.rpartition("@")[2]
    return Offer(name, shown, protection_of(server, insecure=insecure), is_current, refusal)
