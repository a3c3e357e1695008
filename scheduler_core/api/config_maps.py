"""A KubeSchedulerConfiguration that stands in a ConfigMap, as most clusters keep it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from scheduler_core.api.coerce import Plain
from scheduler_core.api.parse import MALFORMED
from scheduler_core.yaml_text import NotYaml, value

CONFIG_MAP: Final = "ConfigMap"
_HELD: Final = "KubeSchedulerConfiguration"


def configuration_in(source: msgspec.Raw | Mapping[str, Plain] | str) -> str:
    """Return the text of the configuration in a ConfigMap; empty if there is none."""
    try:
        if isinstance(source, msgspec.Raw):
            plain = msgspec.json.decode(source) if _HELD.encode() in bytes(source) else None
        elif isinstance(source, str):
            plain = value(source) if _HELD in source else None
        else:
            plain = source
    except (*MALFORMED, NotYaml, RecursionError):
        return ""
    if isinstance(plain, list) and plain:
        plain = plain[0]
    data = plain.get("data") if isinstance(plain, Mapping) else None
    texts = data.values() if isinstance(data, Mapping) else ()
    return next((text for text in texts if isinstance(text, str) and _HELD in text), "")
