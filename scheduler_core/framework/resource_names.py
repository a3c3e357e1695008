"""Which resource names the scheduler counts.

Upstream: v1.36 pkg/apis/core/v1/helper/helpers.go and pkg/scheduler/util/utils.go.
"""

from __future__ import annotations

from functools import lru_cache

from scheduler_core.api.labels import label_key_problems
from scheduler_core.cluster.requests import CPU, HUGE_PAGES_PREFIX, MEMORY
from scheduler_core.devices.classes import IMPLICIT_PREFIX

EPHEMERAL_STORAGE = "ephemeral-storage"
BASIC_RESOURCES = (CPU, MEMORY, EPHEMERAL_STORAGE)

_NATIVE_DOMAIN = "kubernetes.io/"
_ATTACHABLE_VOLUMES_PREFIX = "attachable-volumes-"
_QUOTA_PREFIX = "requests."


@lru_cache(maxsize=4096)
def is_extended_resource_name(name: str) -> bool:
    """Return whether a name is a vendor's, such as `example.com/gpu`."""
    if "/" not in name or _NATIVE_DOMAIN in name or name.startswith(_QUOTA_PREFIX):
        return False
    return not label_key_problems(_QUOTA_PREFIX + name)


@lru_cache(maxsize=4096)
def is_scalar_resource_name(name: str) -> bool:
    """Return whether a name is counted in addition to the basic ones.

    Those are extended resources, huge pages, prefixed native ones and attachable volumes.
    """
    return (
        is_extended_resource_name(name)
        or name.startswith((HUGE_PAGES_PREFIX, _ATTACHABLE_VOLUMES_PREFIX))
        or _NATIVE_DOMAIN in name
    )


def may_be_backed_by_devices(name: str) -> bool:
    """Tell whether a class of devices may back a resource of that name."""
    return is_extended_resource_name(name) or name.startswith(IMPLICIT_PREFIX)


def is_counted(name: str) -> bool:
    """Return whether the scheduler keeps account of a resource at all (pods aside)."""
    return name in BASIC_RESOURCES or is_scalar_resource_name(name)
