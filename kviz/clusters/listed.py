"""The operator's list of clusters (`KVIZ_CLUSTERS_FILE`): what a server offers, and to whom.

clusters:
- name: production
  kubeconfig: /etc/kviz/production.kubeconfig   # or inCluster: true
  context: admin                                # default: its current context
  visibleTo: everyone                           # or a list of workspaces' ids
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from kviz.clusters.reading.problems import ContextRefused
from scheduler_core.api.errors import UNREADABLE


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
