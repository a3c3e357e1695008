"""What an explanation may be wrong for: kinds that the file lacks, and what is not modelled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from scheduler_core.api.absent_kinds import AbsentKind


def caveats(absent: Iterable[AbsentKind], not_modelled: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each; a kind that is absent may be among what is not modelled, too."""
    sentences = [each.sentence for each in absent]
    yield from sentences
    for text in not_modelled:
        if text not in sentences:
            yield f"Not modelled, so this may be wrong: {text}"


def incomplete_document(absent: Sequence[AbsentKind]) -> list[dict[str, object]]:
    """Return the absent kinds as scripts have them."""
    return [
        {
            "kind": each.kind,
            "needed_by": list(each.needed_by),
            "get": each.get,
            "text": each.sentence,
        }
        for each in absent
    ]
