"""YAML as people have it: cut off, a chart's template, indented with tabs."""

import pytest

from scheduler_core.api.ingest import ingest

NODES = """apiVersion: v1
items:
- apiVersion: v1
  kind: Node
  metadata:
    name: a
- apiVersion: v1
  kind: Node
  metadata:
    name: b
- apiVersion: v1
  kind: Node
  metadata:
    name: c
kind: List
"""
DOCUMENTS = """apiVersion: v1
kind: Node
metadata: {name: a}
---
apiVersion: v1
kind: Node
metadata: {name: b}
"""


def _read(text: str) -> tuple[list[str], list[str]]:
    found = ingest([("f.yaml", text.encode())])
    return [item.name for item in found.objects], [str(error) for error in found.errors]


@pytest.mark.parametrize(
    ("text", "kept", "line", "first"),
    [
        (NODES[: NODES.index("e: c")], ["a", "b"], 14, 11),
        (NODES[: NODES.index("kind: List")], ["a", "b"], 14, 11),
        (NODES[: NODES.index("e: a")], [], 6, 3),
        (DOCUMENTS[:-3], ["a"], 7, 4),
    ],
)
def test_of_a_file_that_is_cut_off_the_whole_objects_are_kept(
    text: str, kept: list[str], line: int, first: int
) -> None:
    names, errors = _read(text)
    assert names == kept
    lost = f"what begins in line {first} is lost, and all after it"
    assert errors == [f"f.yaml: is cut off in line {line}: {lost} (line {line})"]


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (" spec: {}\n", "is not YAML"),
        ("\tname: x\n", "is indented with a tab"),
    ],
)
def test_of_several_documents_those_that_can_be_read_are_kept(broken: str, why: str) -> None:
    bad = f"apiVersion: v1\nkind: Pod\nmetadata:\n  name: bad\n{broken}---\n"
    names, errors = _read(bad + DOCUMENTS)
    assert names == ["a", "b"]
    assert len(errors) == 1
    assert why in errors[0]
    found = ingest([("f.yaml", (bad + DOCUMENTS).encode())])
    assert found.left_out[0].startswith("The document around line 5 left out: ")


@pytest.mark.parametrize(
    "text",
    [
        "kind: Deployment\nmetadata:\n  name: {{ .Release.Name }}\n",
        'kind: Pod\nmetadata:\n  name: {{ include "app.name" . }}\n',
        "{{- if .Values.on }}\nkind: Pod\n{{- end }}\n",
    ],
)
def test_a_template_of_a_chart_is_told_so(text: str) -> None:
    names, (error,) = _read(text)
    assert not names
    assert "is a template of a chart, not a manifest; `helm template` makes one of it" in error


def test_a_template_within_a_text_is_no_template() -> None:
    text = "kind: ConfigMap\ndata:\n  a: '{{ .Values.x }}'\n---\n"
    assert _read(text + DOCUMENTS.partition("---")[0]) == (["a"], [])


def test_a_tab_is_named_with_its_line() -> None:
    _, (error,) = _read("kind: Pod\nspec:\n  nodeSelector:\n\t\ta: b\n")
    assert error.startswith("f.yaml: is indented with a tab, which YAML does not allow")
    assert error.endswith("(line 4)")
