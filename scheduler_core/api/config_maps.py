"""A KubeSchedulerConfiguration that stands in a ConfigMap, as most clusters keep it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from scheduler_core.api.coerce import Plain
from scheduler_core.api.parse import MALFORMED
from scheduler_core.yaml_text import NotYaml, value

CONFIG_MAP: Final = "ConfigMap"
_HELD: Final = "KubeSchedulerConfiguration"
_OBJECTS: Final = re.compile(
    r"^\s*(?:- )?\"?kind\"?: *\"?(?:Pod|Node|List|PodList|NodeList)\b", re.MULTILINE
)


def configuration_in(source: msgspec.Raw | Mapping[str, Plain] | str) -> str:
    """Return the text of the configuration in a ConfigMap; empty if there is none."""
    _, texts = _texts(source, _HELD)
    return next((text for text in texts.values() if _HELD in text), "")


def manifests_in(source: msgspec.Raw | Mapping[str, Plain] | str) -> Iterator[tuple[str, str]]:
    """Yield the name of a ConfigMap with each key that has objects of a cluster as text."""
    name, texts = _texts(source, "apiVersion")
    yield from ((name, key) for key, text in texts.items() if _OBJECTS.search(text))


def _texts(
    source: msgspec.Raw | Mapping[str, Plain] | str, needed: str
) -> tuple[str, dict[str, str]]:
    """The name of a ConfigMap and its data; none where the text lacks what is needed."""
    try:
        if isinstance(source, msgspec.Raw):
            plain = msgspec.json.decode(source) if needed.encode() in bytes(source) else None
        elif isinstance(source, str):
            plain = value(source) if source.count(needed) else None
        else:
            plain = source
    except (*MALFORMED, NotYaml, RecursionError):
        plain = None
    if isinstance(plain, list) and plain:
        plain = plain[0]
    data = plain.get("data") if isinstance(plain, Mapping) else None
    metadata = plain.get("metadata") if isinstance(plain, Mapping) else None
    name = metadata.get("name") if isinstance(metadata, Mapping) else ""
    texts = data.items() if isinstance(data, Mapping) else ()
    return str(name), {str(key): text for key, text in texts if isinstance(text, str)}
