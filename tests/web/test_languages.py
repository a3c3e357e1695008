"""The reader's language: by the browser, by choice, on pages with forms and with errors."""

from __future__ import annotations

import pytest
from django.template.defaultfilters import floatformat
from django.test import Client
from django.utils.translation import override

from tests.web.cast import Person

LANGUAGES = ("en", "zh-hans", "zh-hant")


@pytest.mark.parametrize("language", LANGUAGES)
def test_thousands_are_apart_in_every_language(language: str) -> None:
    with override(language):
        assert floatformat(5806, "0g") == "5,806"


@pytest.mark.parametrize(
    ("accepted", "language", "title"),
    [
        ("de", "en", "kviz: see the Kubernetes scheduler think"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh-hans", "kviz：看 Kubernetes 调度器如何思考"),
        ("zh-TW,zh;q=0.9", "zh-hant", "kviz：看 Kubernetes 排程器如何思考"),
        ("zh-HK", "zh-hant", "kviz：看 Kubernetes 排程器如何思考"),
    ],
)
def test_the_browsers_languages_decide(
    eve: Client, accepted: str, language: str, title: str
) -> None:
    page = eve.get("/", headers={"accept-language": accepted}).content.decode()
    assert f'<html lang="{language}">' in page
    assert f"<title>{title}</title>" in page


def test_a_choice_goes_first_and_stays(ada: Person) -> None:
    where = "http://testserver/teach?x=1"
    answer = ada.client.post("/language", {"language": "zh-hant"}, headers={"referer": where})
    assert (answer.status_code, answer["location"]) == (302, where)
    page = ada.client.get("/teach", headers={"accept-language": "zh-CN"}).content.decode()
    assert '<html lang="zh-hant">' in page
    assert "用 kviz 教學" in page


def test_every_page_offers_all_languages(ada: Person) -> None:
    for path in ("/", "/runs/", "/snapshots/new", "/learn/", "/glossary/", "/nowhere"):
        page = ada.client.get(path).content.decode()
        for language in LANGUAGES:
            assert f'value="{language}"' in page, path


def test_errors_of_forms_and_pages_are_translated(ada: Person) -> None:
    ada.client.post("/language", {"language": "zh-hans"})
    refused = ada.client.post("/snapshots/new", {"text": ""}).content.decode()
    assert "请选择文件，或粘贴文本。" in refused
    missing = ada.client.get("/nowhere").content.decode()
    assert "未找到" in missing
    assert "Not found" not in missing


def test_lessons_and_terms_are_in_the_readers_language(ada: Person) -> None:
    ada.client.post("/language", {"language": "zh-hans"})
    lessons = ada.client.get("/learn/").content.decode()
    assert "污点把 Pod 推开；容忍度让 Pod 进来，但不会拉它过来。" in lessons
    assert "A taint pushes pods away" not in lessons
    glossary = ada.client.get("/glossary/").content.decode()
    assert "节点一选中，Pod 就算在该节点上" in glossary
    old_words = ada.client.get("/then-and-now/?q=HostName").content.decode()
    assert "现在由 NodeName 负责。" in old_words
    ada.client.post("/language", {"language": "en"})
    assert "A taint pushes pods away" in ada.client.get("/learn/").content.decode()


def test_sentences_of_parts_have_the_languages_punctuation(ada: Person) -> None:
    where = "/experiments/new"
    assert "</a>, <a" in ada.client.get(where).content.decode()
    ada.client.post("/language", {"language": "zh-hant"})
    page = ada.client.get(where).content.decode()
    assert "</a>，<a" in page
    assert "</a>。</p>" in page
