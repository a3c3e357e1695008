"""The committed TypeScript wire types are those of today's events."""

from __future__ import annotations

from pathlib import Path

from kviz.reference import term_ids
from scheduler_core.trace.typescript import typescript

COMMITTED = Path(__file__).parents[2] / "frontend/src/wire/events.ts"


def test_committed_wire_types_have_not_drifted() -> None:
    assert COMMITTED.read_text() == typescript(), "write them again: npm run wire (in frontend)"


def test_committed_ids_of_terms_have_not_drifted() -> None:
    committed = Path(__file__).parents[2] / "frontend/src/base/term-ids.ts"
    assert committed.read_text() == term_ids.typescript(), "write them again: npm run wire"


def test_64_bit_times_are_exact_in_the_browser() -> None:
    text = typescript()
    assert "readonly backoff_until_ns: Ns;" in text
    assert "now_ns: big(row[1])" in text
    assert "const big = (v: Wire): Ns => BigInt(" in text


def test_numbers_that_name_things_have_types_of_their_own() -> None:
    text = typescript()
    assert "readonly nominated_node: NodeIndex;" in text
    assert "readonly victims: readonly PodIndex[];" in text
    assert "readonly cycle: Cycle;" in text
    assert "readonly n_nodes: number;" in text


def test_fields_an_older_trace_lacks_read_as_none() -> None:
    assert "nominated_node: num(row[9] ?? -1)," in typescript()
