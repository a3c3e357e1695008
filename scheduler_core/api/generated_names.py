"""A name for what has only a generateName, as an API server would make one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final

import msgspec

from scheduler_core.api.coerce import Plain
from scheduler_core.api.errors import Place
from scheduler_core.api.parse import MALFORMED

_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
_N_LETTERS: Final = 5


def with_generated_name(
    source: msgspec.Raw | Mapping[str, Plain], place: Place
) -> Mapping[str, Plain] | None:
    """Return an object with a name; None for one that asks for none.

    The same place has the same name each time. Upstream: v1.36 apiserver storage/names.
    """
    try:
        plain: Mapping[str, Plain] = (
            msgspec.json.decode(source, type=dict[str, object])
            if isinstance(source, msgspec.Raw)
            else source
        )
    except (*MALFORMED, RecursionError):
        return None
    metadata = plain.get("metadata")
    prefix = metadata.get("generateName") if isinstance(metadata, Mapping) else None
    if not isinstance(metadata, Mapping) or not isinstance(prefix, str) or not prefix:
        return None
    digest = hashlib.sha256(f"{place.source}#{place.document}".encode()).digest()
    letters = "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:_N_LETTERS])
    return {**plain, "metadata": {**metadata, "name": prefix + letters}}
