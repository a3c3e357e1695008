"""What Django REST framework answers with is Chinese for who asks in Chinese."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from django.utils.translation import gettext, override
from rest_framework import exceptions, serializers
from rest_framework.validators import ProhibitSurrogateCharactersValidator

import kviz
from kviz.common import rest_texts
from tests.web.test_no_english_left import CHINESE

READ_ONLY = {"DateTimeField", "SerializerMethodField"}
FIELD = re.compile(r"\bserializers\.(\w+(?:Field|Serializer))\b")


@override("en")
def said() -> dict[str, str]:
    """All messages of exceptions, and of the fields that kviz has, with who says them."""
    code = "".join(path.read_text() for path in Path(kviz.__file__).parent.rglob("*.py"))
    names = ({*FIELD.findall(code)} | {"ListSerializer"}) - READ_ONLY
    fields = [getattr(serializers, name) for name in sorted(names)]
    found = {
        str(message): field.__name__
        for field in fields
        for each in field.__mro__
        for message in getattr(each, "default_error_messages", {}).values()
    }
    for name, each in inspect.getmembers(exceptions, inspect.isclass):
        for attribute in ("default_detail", "extra_detail_singular", "extra_detail_plural"):
            if message := getattr(each, attribute, ""):
                found[str(message)] = name
    return found | {str(ProhibitSurrogateCharactersValidator.message): "validator"}


@pytest.mark.parametrize("language", ["zh-hans", "zh-hant"])
def test_rest_framework_speaks_the_readers_language(language: str) -> None:
    found = said()
    assert len(found) > 40
    with override(language):
        left = {each: who for each, who in found.items() if not CHINESE.search(gettext(each))}
    assert left == {}


def test_nothing_is_translated_that_it_does_not_say() -> None:
    assert {*rest_texts.OF_EXCEPTIONS, *rest_texts.OF_FIELDS} <= said().keys()
