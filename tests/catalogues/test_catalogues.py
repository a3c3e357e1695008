"""Every text has a translation in every language, and the check notices when not."""

from __future__ import annotations

from pathlib import Path

import pytest
from babel.messages import Catalog

from kviz.catalogues import catalogues
from kviz.catalogues.catalogues import differences, misnamed, problems, updated


@pytest.mark.slow("extracts the texts of every source")
def test_every_text_is_translated() -> None:
    assert list(problems()) == []


def catalogue(*messages: tuple[str, str]) -> Catalog:
    made = Catalog(locale="zh_Hans")
    for text, translation in messages:
        made.add(text, translation)
    return made


def test_texts_stay_where_they_are_and_new_ones_follow_their_neighbour() -> None:
    held = catalogue(("Pod", "Pod"), ("Node", "节点"), ("Gone", "不见了"), ("Run", "运行"))
    made = updated(held, catalogue(("Run", ""), ("Taint", ""), ("Node", ""), ("Pod", "")))
    texts = {each.id: each.string for each in made if each.id}
    assert list(texts.items()) == [("Pod", "Pod"), ("Node", "节点"), ("Run", "运行"), ("Taint", "")]


def test_a_text_that_is_reworded_stays_under_its_id() -> None:
    held, today = Catalog(), Catalog()
    held.add("needs {x}", "需要 {x}", context="fit.short")
    held.add("has {x}", "有 {x}", context="fit.has")
    today.add("has {x}", context="fit.has")
    today.add("asks for {x}", context="fit.short")
    first, second = (each for each in updated(held, today) if each.id)
    assert (first.id, first.string, first.fuzzy) == ("asks for {x}", "需要 {x}", True)
    assert (second.id, second.fuzzy) == ("has {x}", False)


MARKED = "A **node**: see [terms](#node)."
TEXT = "%(n)s of {x} <b>pods</b>"


@pytest.mark.parametrize(
    ("messages", "found"),
    [
        ([(TEXT, "{x} 中 %(n)s 个 <b>Pod</b>")], []),
        ([], [f"missing: {TEXT}"]),
        ([(TEXT, "")], [f"empty: {TEXT}"]),
        (
            [(TEXT, "{x} 中 %(m)s 个 <b>Pod</b>")],
            [f"placeholders ['%(m)s', '%(n)s'] differ: {TEXT}"],
        ),
        ([(TEXT, "{x} 中 %(n)s 个 Pod")], [f"placeholders ['</b>', '<b>'] differ: {TEXT}"]),
        ([(TEXT, "{x} 中 %(n)s 个 <b>Pod</b>"), ("Gone", "不见了")], ["stale: Gone"]),
    ],
)
def test_the_check_names_what_is_wrong(messages: list[tuple[str, str]], found: list[str]) -> None:
    assert list(differences(catalogue((TEXT, "")), catalogue(*messages))) == found


@pytest.mark.parametrize(
    ("translation", "found"),
    [
        ("**节点**见[术语](#node)。", []),
        ("**节点。**见[术语](#node)。", [f"markup differs: document: {MARKED}"]),
        ("**节点**见[术语](#pod)。", [f"markup differs: document: {MARKED}"]),
        ("节点见[术语](#node)。", [f"markup differs: document: {MARKED}"]),
    ],
)
def test_markdown_keeps_its_marks_and_links(translation: str, found: list[str]) -> None:
    english, translated = Catalog(), Catalog(locale="zh_Hans")
    english.add(MARKED, context="document")
    translated.add(MARKED, translation, context="document")
    assert list(differences(english, translated)) == found


@pytest.mark.parametrize(
    ("language", "translation", "found"),
    [
        ("zh_Hant", "用戶端 設定", []),
        ("zh_Hant", "排程器的配置", ["'配置' in place of '設定': Node"]),
        ("zh_Hant", "9 种放置", ["'种' in place of '種': Node"]),
        ("zh_Hant", "T 顯示錶格", ["'錶格' in place of '表格': Node"]),
        ("zh_Hant", "2 個核和 8Gi", ["'個核' in place of '核心': Node"]),
        ("zh_Hant", "2 個核心對照兩次執行", []),
        ("zh_Hans", "驱逐", []),
        ("zh_Hans", "節点", ["'節' is no character of zh_Hans: Node"]),
        ("zh_Hans", "逐出 Pod", ["'逐出' in place of '驱逐': Node"]),
    ],
)
def test_a_thing_is_called_by_its_term(language: str, translation: str, found: list[str]) -> None:
    assert list(misnamed(language, catalogue(("Node", translation)))) == found


def test_a_text_that_is_worded_anew_keeps_its_translation_to_be_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def english(text: str) -> Catalog:
        found = Catalog()
        found.add(text, context="fit.short")
        return found

    monkeypatch.setattr(catalogues, "LOCALES", tmp_path)
    before = Catalog(locale="zh_Hans")
    before.add("{n} short", "缺 {n}", context="fit.short")
    catalogues.write("zh_Hans", "engine", before)
    monkeypatch.setattr(catalogues, "english", lambda name: english("short by {n}"))
    catalogues.update("engine")
    found = catalogues.read("zh_Hans", "engine")
    assert list(differences(english("short by {n}"), found)) == ["fuzzy: fit.short: short by {n}"]
    assert [each.string for each in found if each.id] == ["缺 {n}"]
