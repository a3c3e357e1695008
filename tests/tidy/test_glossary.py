"""The glossary is whole: what is asked for is there, explained and shown; none is left over."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.utils import translation

from kviz.drawing_text import labels
from kviz.reference.glossary import Diagram, Term, diagram, glossary
from kviz.reference.plugin_guide import guide_of
from scheduler_core.releases.switches import SWITCHES

ROOT = Path(__file__).parents[2]
GLOSSARY = glossary()
TERMS = GLOSSARY.terms
DIAGRAMS: tuple[Diagram, ...] = ("queues", "cycles", "cache")

OF_NO_TERM = {"batches_rescore", "mount_options_required"}

SENTENCE_END = re.compile(r"[.!?](?=\s|$)")
IN_TEMPLATE = re.compile(r'\{% term "([^"]+)"')
IN_DIAGRAM = re.compile(r'data-term="([^"]+)"')
IN_EXPLORER = re.compile(r'"([a-z-]+)"')
LABEL = re.compile(r"(?<=>)[^<>\n]+(?=<)")
SPOKEN = re.compile(r'aria-label="([^"]+)"')
CHINESE = re.compile("[\u4e00-\u9fff]")
NAME = re.compile(r"[A-Z]\w+|[a-z]+Q")
PLUGIN_IN_TEMPLATE = "{% plugin_terms "
POINT_IN_TEMPLATE = "{% point_term "


def in_templates() -> set[str]:
    folders = (ROOT / "templates", ROOT / "kviz" / "questions")
    paths = [path for folder in folders for path in folder.rglob("*.html")]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    points = {
        key for key, term in TERMS.items() if term.group == "cycle" and term.name[0].isupper()
    }
    named = {key for text in texts for key in IN_TEMPLATE.findall(text)}
    if any(POINT_IN_TEMPLATE in text for text in texts):
        named |= points
    if any(PLUGIN_IN_TEMPLATE in text for text in texts):
        named |= {key for key, term in TERMS.items() if term.plugin}
    return named


def in_explorer() -> set[str]:
    """Ids in the Explorer's sources; that each is a term is checked by the compiler."""
    sources = [p for p in (ROOT / "frontend" / "src").rglob("*") if p.suffix in (".svelte", ".ts")]
    texts = [path.read_text(encoding="utf-8") for path in sources]
    asking = [text for text in texts if "TermId" in text or "<Term " in text or "term(" in text]
    return {key for text in asking for key in IN_EXPLORER.findall(text)} & TERMS.keys()


def in_diagrams() -> set[str]:
    return {key for name in DIAGRAMS for key in IN_DIAGRAM.findall(diagram(name))}


@pytest.mark.parametrize(("key", "term"), TERMS.items(), ids=TERMS.keys())
def test_a_term_is_explained_in_two_sentences_and_shown(key: str, term: Term) -> None:
    assert len(SENTENCE_END.findall(term.text)) == 2
    assert (term.example != "") != (term.picture is not None)
    assert term.picture is None or key in IN_DIAGRAM.findall(diagram(term.picture))
    assert not term.plugin or guide_of(term.plugin) is not None
    assert set(term.see) <= TERMS.keys() - {key}


def test_what_later_releases_do_otherwise_stands_with_a_term() -> None:
    told = [name for term in TERMS.values() for name in term.switches]
    assert len(told) == len(set(told))
    assert set(told) == SWITCHES.keys() - OF_NO_TERM


def test_terms_stand_in_groups_that_exist_and_none_is_empty() -> None:
    assert {term.group for term in TERMS.values()} == {group.id for group in GLOSSARY.groups}
    assert not {group.id for group in GLOSSARY.groups} & TERMS.keys()


def test_what_pages_and_diagrams_name_is_a_term() -> None:
    assert (in_templates() | in_diagrams()) - TERMS.keys() == set()


def test_every_term_is_explained_somewhere_or_linked_from_one_that_is() -> None:
    reached: set[str] = set()
    at_hand = in_templates() | in_explorer() | in_diagrams()
    while at_hand:
        key = at_hand.pop()
        reached.add(key)
        at_hand |= set(TERMS[key].see) - reached
    assert TERMS.keys() - reached == set()


@pytest.mark.parametrize("language", ["zh-hans", "zh-hant"])
@pytest.mark.parametrize("name", DIAGRAMS)
def test_a_diagram_is_labelled_in_the_readers_language(name: Diagram, language: str) -> None:
    assert len(labels(diagram(name))) > 5
    with translation.override(language):
        drawn = diagram(name)
    shown = LABEL.findall(drawn) + SPOKEN.findall(drawn)
    assert len(shown) >= len(labels(diagram(name)))
    assert [text for text in shown if not (CHINESE.search(text) or NAME.fullmatch(text))] == []
    assert re.sub(LABEL, "", drawn).count("<") == re.sub(LABEL, "", diagram(name)).count("<")
