"""Errors name the line of the field, in documents and in the items of a list."""

import pytest

from scheduler_core.api.field_lines import MAX_CHARS, field_line
from tests.api.manifests import ingest_one

ITEM = """\
- apiVersion: v1
  kind: Pod
  metadata:
    labels: {app.kubernetes.io/name: web}
    name: web
  spec:
    containers:
    - name: c
      resources:
        requests:
          cpu: 1
          nvidia.com/gpu: lots
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("kind", 2),
        ("metadata.name", 5),
        ("metadata.labels[app.kubernetes.io/name]", 4),
        ("spec.containers[0].resources.requests.cpu", 11),
        ("spec.containers[0].resources.requests[nvidia.com/gpu]", 12),
        ("spec.containers[0].image", 8),
        ("spec.containers[7].image", 7),
        ("status.phase", None),
        ("", None),
    ],
)
def test_the_deepest_part_that_is_there(path: str, line: int | None) -> None:
    assert field_line(ITEM, path) == line


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "{", "x" * (MAX_CHARS + 1), "&a [*a]"])
def test_text_without_lines_to_tell(text: str) -> None:
    assert field_line(text, "spec.nodeName") is None


def error_line(text: str) -> int | None:
    [error] = ingest_one(text.encode()).errors
    assert "lots" in error.message
    return error.place.line


def test_in_a_list_of_many_items() -> None:
    good = ITEM.replace("lots", "2").replace("name: web", "name: api")
    text = f"apiVersion: v1\nkind: List\nitems:\n{good}{ITEM}"
    assert error_line(text) == text.count("\n")


def test_in_a_later_document() -> None:
    document = "\n".join(line[2:] for line in ITEM.splitlines()) + "\n"
    good = document.replace("lots", "2").replace("name: web", "name: api")
    text = f"---\n{good}---\n# the bad one\n{document}"
    assert error_line(text) == text.count("\n")
