"""Tables of a run as files that spreadsheets and scripts read alike."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kviz.common.csv_file import FORMULA, csv_pieces
from kviz.runs.models import Run
from kviz.runs.reading import tables
from kviz.runs.sharing import run_share
from tests.web.cast import Person, crowd
from tests.web.test_saved_runs import body


def read(file: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(file.decode(), newline="")))


def of(who: Person, run: Run, path: str) -> list[dict[str, str]]:
    token = run_share(run=run).token
    join = "&" if "?" in path else "?"
    response = who.client.get(f"/runs/{run.pk}/{path}{join}share={token}")
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    return read(body(response))


@given(st.lists(st.lists(st.text(), min_size=2, max_size=2)))
def test_every_text_comes_back_and_none_is_a_formula(rows: list[list[str]]) -> None:
    file = b"".join(csv_pieces(["a", "b"], [rows])).decode()
    found = list(csv.reader(io.StringIO(file, newline="")))[1:]
    plain = [[c[1:] if c[:1] == "'" and FORMULA.match(c[1:]) else c for c in row] for row in found]
    assert plain == rows
    assert not any(FORMULA.match(cell) for row in found for cell in row)


@pytest.mark.parametrize("text", ["=1+1", "  =1+1", "\n=1+1", "\t@x", "\u00a0-2"])
def test_a_formula_is_guarded_whatever_stands_before_it(text: str) -> None:
    assert b"".join(csv_pieces(["a"], [[[text]]])).decode().count("'") == 1


def test_numbers_are_not_guarded() -> None:
    file = b"".join(csv_pieces(["n", "text"], [[[-1, "-1"], [None, ""]]]))
    assert file == b"n,text\r\n-1,'-1\r\n,\r\n"


def test_all_cycles_however_many(ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BATCH", 50)
    run = ada.finished(crowd(130))
    rows = of(ada, run, "cycles.csv")
    assert [row["cycle"] for row in rows] == [str(n) for n in range(1, 131)]
    assert [row["pod"] for row in of(ada, run, "pods.csv")] == sorted(row["pod"] for row in rows)


def test_the_filter_of_the_page_is_the_filter_of_the_file(ada: Person) -> None:
    run = ada.finished()
    (giant,) = of(ada, run, "cycles.csv?kind=unschedulable")
    assert (giant["pod"], giant["first_cause"]) == ("shop/giant", "NodeResourcesFit")
    assert giant["message"].startswith("0/2 nodes are available: 2 Insufficient cpu.")
    assert [row["node"] for row in of(ada, run, "cycles.csv?pod=shop/web-1")] != [""]
    share = run_share(run=run).token
    page = ada.client.get(f"/runs/{run.pk}/cycles?kind=unschedulable&share={share}")
    assert f"cycles.csv?kind=unschedulable&amp;share={share}" in page.content.decode()


def test_where_every_pod_stands(ada: Person) -> None:
    rows = {row["pod"]: row for row in of(ada, ada.finished(), "pods.csv")}
    assert rows["shop/gated"]["gated_by"] == "SchedulingGates"
    assert rows["shop/giant"]["queue"] == "unschedulable"
    assert rows["shop/giant"]["first_cause"] == "NodeResourcesFit"
    assert rows["shop/web-0"]["node"] in {"north", "south"}
    assert rows["shop/web-0"]["queue"] == ""
