"""Whatever people upload, the answer is a list of problems: nothing raises, nothing hangs."""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.api import Pod
from scheduler_core.api.errors import ParseError
from scheduler_core.api.ingest import ingest
from scheduler_core.api.limits import Limits
from tests.api.manifests import (
    SHOP,
    as_json,
    error_of,
    gz_of,
    ingest_one,
    listed,
    node,
    pod,
    tar_of,
    zip_of,
)

POD, NODE = as_json(pod()), as_json(node())
DEEP = 100_000
ALIAS_BOMB = ("a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"a{level}: &a{level} [{','.join([f'*a{level - 1}'] * 9)}]\n" for level in range(1, 10)
)).encode()  # fmt: skip


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "upload: is empty"),
        (b" \r\n\t", "upload: is empty"),
        (bytes(range(256)), "upload: is binary; give YAML or JSON, plain or in a zip, tar or gzip"),
        (
            b"<!DOCTYPE html><html><body>Sign in</body></html>",
            "upload: is HTML or XML, not YAML or JSON; was a web page saved by mistake?",
        ),
        (
            b"NAMESPACE   NAME    READY   STATUS\nshop  web-0  1/1  Running\n",
            "upload: is a table as kubectl prints it; add `-o yaml` to the command",
        ),
        (
            b"NAME   STATUS   ROLES\nada    Ready    <none>\n",
            "upload: is a table as kubectl prints it; add `-o yaml` to the command",
        ),
        (
            b'{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[]}',
            "upload#1: is a table made for reading; ask for `-o yaml`",
        ),
        (
            b'{"kind":"Status","apiVersion":"v1","message":"pods is forbidden","code":403}',
            "upload#1: is an error answer of an API server: pods is forbidden",
        ),
        (b'{"a": 1}', "upload#1 kind: is missing; is this a Kubernetes object?"),
        (b"a: 1", "upload#1 kind: is missing; is this a Kubernetes object? (line 1)"),
        (b"hello", 'upload: is not an object but text (line 1)'),
        (b'{"kind": 5}', "upload#1: is not an object with apiVersion and kind as text"),
        (b"[1, 2]", "upload#1: is not an object with apiVersion and kind as text"),
        (b"# only a comment\n---\n", "there is no Kubernetes object to read"),
        (b"\xff\xfe\x00", "upload: is cut off or damaged UTF-16 text"),
        (b"kind: \xff", "upload: is not UTF-8 text (byte 6) (line 1)"),
        (b"\x28\xb5\x2f\xfd....", "upload: zstd is not supported; unpack it or use gzip"),
        (b"\xfd7zXZ\x00", "upload: xz is not supported; unpack it or use gzip"),
        (gz_of(gz_of(POD)), "upload: an archive inside gzip is not supported unless it is tar"),
        (gz_of(POD)[:-20], "upload: the gzip file ends in the middle; it was cut off"),
        (gz_of(b""), "upload: is empty"),
        (
            b"Name:             p\nNamespace:        shop\nPriority:         0\n",
            "upload: is the text of `kubectl describe`; give what `kubectl get pod p -n shop -o "
            "yaml` prints, and the cluster's nodes and pods with it",
        ),
        (
            b"Error from server (Forbidden): nodes is forbidden\n",
            "upload: is what kubectl says in place of objects: Error from server (Forbidden): "
            "nodes is forbidden",
        ),
        (
            b"kind: Kustomization\nresources: [a.yaml]\n",
            "this is a Kustomization, which names other files; `kubectl kustomize DIR` prints "
            "what they make",
        ),
        (
            b"apiVersion: v1\nkind: Config\nclusters: []\n",
            "this is a kubeconfig, which says where a cluster is; `kviz import --kubeconfig FILE` "
            "reads that cluster",
        ),
        (
            b"kind: ConfigMap\nmetadata: {name: dump}\ndata:\n  a.yaml: |\n    apiVersion: v1\n"
            b"    kind: Pod\n",
            "ConfigMap dump holds manifests below a.yaml: give them as a file of their own",
        ),
        (
            "apiVersion: v1\nkind: Pod\nmetadata:\n\u00a0\u00a0name: p\n".encode(),
            "upload: is indented with no-break spaces, which YAML takes for letters; put blanks "
            "in their place (line 4)",
        ),
        (
            b"apiVersion: v1\nitems:\n- kind: Event\n  message: 0/2 nodes\nkind: List\n",
            "there are no pods or nodes here, only 1 Event: give what `kubectl get nodes,pods -A "
            "-o yaml` prints, too",
        ),
    ],
)  # fmt: skip
def test_files_that_are_something_else(data: bytes, expected: str) -> None:
    assert error_of(data) == expected


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b'{\n"kind": "Pod",\n  spec}', 3),
        (b"kind: Pod\nspec:\n\t- a\n", 3),
        (b"kind: Node\n---\nkind: Pod\nspec: [a,\n---\nkind: Node", 5),
        (b"kind: List\nitems:\n- kind: Pod\n  apiVersion: v1\n- kind: Node\n  spec: [}\n", 6),
        (b"kind: Pod\nmetadata: *nobody\n", 2),
        (b"kind: Pod\nkind: Node\n", 1),
        (b"kind: Pod\n? [a, b]\n: c\n", 1),
    ],
)
def test_syntax_errors_name_the_line(data: bytes, line: int) -> None:
    (error,) = ingest_one(data).errors
    assert error.place.line == line
    assert f"(line {line})" in str(error)


def test_objects_in_yaml_name_their_line() -> None:
    text = b"# pods\n---\n" + NODE + b"\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: web}\n"
    (error,) = ingest_one(text).errors
    assert str(error) == (
        "upload#2 spec.containers: a pod needs at least one container (Pod web, line 4)"
    )
    text = b"kind: List\nitems:\n- {kind: Node, apiVersion: v1, metadata: {name: a}}\n"
    text += b"- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: web\n"
    (error,) = ingest_one(text).errors
    assert str(error) == (
        "upload#2 spec.containers: a pod needs at least one container (Pod web, line 4)"
    )


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b"[" * DEEP, "is nested too deep to be read", id="json-arrays"),
        pytest.param(b'{"a":' * DEEP, "is nested too deep to be read", id="json-objects"),
        pytest.param(
            b'{"kind":"Pod","apiVersion":"v1","spec":' + b'{"affinity":' * DEEP,
            "is nested too deep to be read",
            id="json-in-a-pod",
        ),
        pytest.param(
            b'{"kind":"List","items":[{"kind":"Pod","spec":' + b"[" * DEEP + b"]" * DEEP + b"}]}",
            "is nested too deep to be read",
            id="json-in-an-item",
        ),
        pytest.param(b"a: " + b"[" * DEEP, "too many [ and {", id="yaml-flow"),
        pytest.param(b"a: " + b"[ # ]\n" * DEEP, "too many [ and {", id="yaml-flow-camouflaged"),
        pytest.param(b"- " * DEEP, "recursion limit exceeded", id="yaml-block"),
        pytest.param(ALIAS_BOMB, "repetition limit exceeded", id="yaml-aliases"),
    ],
)
def test_bombs_of_nesting(data: bytes, expected: str) -> None:
    assert expected in error_of(data)


def test_a_pod_deeper_than_the_interpreter() -> None:
    deep = '{"a":' * 700 + "1" + "}" * 700
    text = f'{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"a"}},"x":{deep},"spec":5}}'
    assert error_of(text.encode()).startswith("upload#1 ")


@pytest.mark.parametrize("number", [5, 1_769_847_300, 10**19])
@pytest.mark.parametrize("written", [as_json, lambda raw: yaml.safe_dump(raw).encode()])
def test_a_number_is_no_time(number: int, written: Callable[[object], bytes]) -> None:
    raw = pod()
    raw["metadata"]["creationTimestamp"] = number
    assert f"must be a time, not the number {number}" in error_of(written(raw))


def test_a_bomb_of_gzip() -> None:
    bomb = gzip.compress(b" " * (64 << 20))
    expected = "upload: the gzip file unpacks to more than 400 times its size"
    assert error_of(bomb) == expected
    packed = zip_of({"bomb.json.gz": bomb, "node.json": NODE})
    (error,) = ingest_one(packed).errors
    assert str(error).endswith("the gzip file unpacks to more than 400 times its size")


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (Limits(uploaded_bytes=1 << 20), "the upload is larger than 1 MiB"),
        (Limits(decompressed_bytes=2 << 20), "the upload unpacks to more than 2 MiB"),
        (Limits(archive_entries=1), "the archives hold more than 1 entries"),
    ],
)
def test_bounds(limits: Limits, expected: str) -> None:
    text = b" " * (3 << 20) + NODE
    result = ingest([("a.zip", zip_of({"a.json": text})), ("b.json", text)], limits)
    if limits.archive_entries == 1:
        result = ingest([("a.zip", zip_of({"a.json": NODE, "b.json": NODE}))], limits)
    assert [error.message for error in result.errors] == [expected]


def test_a_stream_of_unknown_length_is_bounded() -> None:
    class Endless(io.RawIOBase):
        def read(self, size: int = -1, /) -> bytes:
            assert size >= 0
            return b" " * size

    (error,) = ingest([("endless", Endless())], Limits(uploaded_bytes=1 << 20)).errors  # type: ignore[list-item]
    assert error.message == "the upload is larger than 1 MiB"


def test_archives_in_archives_end_somewhere() -> None:
    data = zip_of({"node.json": NODE})
    for level in range(3):
        data = zip_of({f"level{level}.zip": data})
    assert error_of(data) == "upload!level2.zip!level1.zip: archives are nested too deep"


def test_the_good_files_are_kept() -> None:
    files = {"good.json": POD, "bad.json": b"{", "worse.yaml": b"a: [", "node.json": NODE}
    result = ingest_one(tar_of(files))
    assert result.counts == {"Node": 1, "Pod": 1}
    assert [error.place.source for error in result.errors] == [
        "upload!bad.json",
        "upload!worse.yaml",
    ]


def test_the_good_objects_of_a_file_are_kept() -> None:
    bad = [pod(f"p{index}", tolerations=5) for index in range(80)]
    result = ingest_one(as_json(listed(node(), *bad, pod("last"))))
    assert result.counts == {"Node": 1, "Pod": 1}
    assert str(result.errors[0]) == (
        "upload#2 spec.tolerations: must be a list, not the number 5 (Pod shop/p0)"
    )
    assert [str(error) for error in result.errors[50:]] == ["30 more problems like these"]
    assert result.left_out[0] == (
        "Pod shop/p0 left out: spec.tolerations: must be a list, not the number 5"
    )
    assert result.left_out[5:] == ("75 more objects left out, as they cannot be read",)


OLD_CLAIM = """\
apiVersion: resource.k8s.io/v1alpha3
kind: ResourceClaim
metadata: {name: gpu, namespace: shop}
"""
FAR_NODE = """\
apiVersion: v1
kind: Node
metadata:
  name: old
  creationTimestamp: "1600-01-01T00:00:00Z"
"""


@pytest.mark.parametrize(
    ("document", "subject", "field", "line"),
    [
        (OLD_CLAIM, "ResourceClaim shop/gpu", "apiVersion", 4),
        (FAR_NODE, "Node old", "metadata.creationTimestamp", 8),
        ("metadata: {name: nobody}\n", "", "kind", 3),
    ],
)
def test_one_object_of_a_file_is_left_out_and_named(
    document: str, subject: str, field: str, line: int
) -> None:
    text = "---\n" + NODE.decode() + "\n---\n" + document + "---\n" + as_json(pod("web")).decode()
    result = ingest_one(text.encode(), "all.yaml")
    assert result.counts == {"Node": 1, "Pod": 1}
    (error,) = result.errors
    assert (error.place.source, error.place.document) == ("all.yaml", 2)
    assert (error.place.subject, error.field, error.place.line) == (subject, field, line)
    assert result.left_out == (f"{subject or 'all.yaml#2'} left out: {field}: {error.message}",)


def test_an_older_version_in_json_names_the_object() -> None:
    old = pod("web") | {"apiVersion": "v1beta3"}
    result = ingest_one(as_json(listed(old, node())))
    assert result.counts == {"Node": 1}
    assert str(result.errors[0]) == (
        'upload#1 apiVersion: "v1beta3" is not supported for Pod; use v1 (Pod shop/web)'
    )


def test_a_file_that_cannot_be_read_is_left_out_whole() -> None:
    result = ingest([("nodes.json", NODE), ("pods.yaml", b"a: [")])
    (sentence,) = result.left_out
    assert sentence.startswith("pods.yaml left out: ")


def test_text_that_is_not_utf8_inside_json() -> None:
    for text in ("ada", "Node"):
        broken = NODE.replace(f'"{text}"'.encode(), b'"\xff"')
        assert error_of(broken) == "upload#1: holds text that is not UTF-8"
    for key in (b"kind", b"items"):
        broken = b'{\n"apiVersion": "v1", "%s\xff": "Node"}' % key
        assert error_of(broken) == "upload: holds text that is not UTF-8 (line 2)"


def test_a_damaged_entry_of_a_zip_that_was_packed_with_lzma() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("pod.json", as_json(pod()) * 20)
    data = bytearray(packed.getvalue())
    data[60:68] = b"\xff" * 8
    result = ingest([("dump.zip", io.BytesIO(bytes(data)))])
    assert "cannot be unpacked" in str(result.errors[0])


def test_an_encrypted_zip_entry() -> None:
    data = bytearray(zip_of({"node.json": NODE}))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        (info,) = archive.infolist()
    central = data.rindex(b"PK\x01\x02")
    data[info.header_offset + 6] |= 1
    data[central + 8] |= 1
    assert "upload!node.json: cannot be unpacked: " in error_of(bytes(data))
    assert "encrypted" in error_of(bytes(data))


def test_links_and_devices_in_a_tar_are_passed_over() -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        link = tarfile.TarInfo("link.json")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
        device = tarfile.TarInfo("device.json")
        device.type = tarfile.CHRTYPE
        archive.addfile(device)
        info = tarfile.TarInfo("../../node.json")
        info.size = len(NODE)
        archive.addfile(info, io.BytesIO(NODE))
    result = ingest_one(packed.getvalue())
    assert (result.counts, result.errors) == ({"Node": 1}, ())


WHOLE = {
    "yaml": SHOP,
    "json": as_json(listed(pod(tolerations=[{"key": "a"}]), node(allocatable={"cpu": "1"}))),
    "gz": gz_of(SHOP),
    "tar": tar_of({"a.json": POD, "b.yaml": SHOP}),
    "tgz": tar_of({"a.json": POD, "b.yaml": SHOP}, "w:gz"),
    "zip": zip_of({"a.json": POD, "b.yaml": SHOP}),
}


@given(st.sampled_from(sorted(WHOLE)), st.floats(0, 1))
def test_files_cut_off_anywhere(name: str, where: float) -> None:
    whole = WHOLE[name]
    result = ingest_one(whole[: int(len(whole) * where)])
    assert all(isinstance(error, ParseError) for error in result.errors)


@given(
    st.sampled_from(sorted(WHOLE)),
    st.lists(
        st.tuples(st.floats(0, 1, exclude_max=True), st.binary(max_size=4), st.integers(0, 6)),
        min_size=1,
        max_size=4,
    ),
)
def test_files_changed_anywhere(name: str, changes: list[tuple[float, bytes, int]]) -> None:
    data = bytearray(WHOLE[name])
    for where, inserted, removed in changes:
        position = int(len(data) * where)
        data[position : position + removed] = inserted
    result = ingest_one(bytes(data))
    assert result.objects is not None
    assert all(isinstance(error, ParseError) for error in result.errors)


LINES = SHOP.decode().splitlines()


@given(st.data())
def test_lines_of_yaml_swapped_or_lost(data: st.DataObject) -> None:
    lines = list(LINES)
    for _ in range(data.draw(st.integers(1, 3))):
        index = data.draw(st.integers(0, len(lines) - 1))
        line = lines.pop(index)
        if data.draw(st.booleans()):
            lines.insert(data.draw(st.integers(0, len(lines))), line)
    result = ingest_one("\n".join(lines).encode())
    assert all(isinstance(error, ParseError) for error in result.errors)


@given(st.binary(max_size=60))
def test_any_bytes(data: bytes) -> None:
    result = ingest_one(data)
    assert all(isinstance(error, ParseError) for error in result.errors)
    assert result.errors or result.ignored or len(result.objects)


def with_metadata(**metadata: str) -> dict[str, object]:
    there = pod()
    return there | {"metadata": there["metadata"] | metadata}


@pytest.mark.parametrize("year", ["1600", "2300", "9999"])
def test_times_that_do_not_fit_into_64_bits(year: str) -> None:
    created = f"{year}-01-01T00:00:00Z"
    problem = error_of(as_json(with_metadata(creationTimestamp=created)))
    assert f'creationTimestamp: "{created}" is not between the years 1700 and 2200' in problem


@pytest.mark.parametrize("name", ["a/b", "a%2Fb", ".", ".."])
def test_names_that_no_address_can_hold(name: str) -> None:
    assert "metadata.name: may not" in error_of(as_json(with_metadata(name=name)))


def test_two_pods_with_one_uid_are_two_pods() -> None:
    first, second = (with_metadata(name=name, uid="same") for name in ("a", "b"))
    found = ingest([("pods.json", as_json(listed(first, second)))])
    assert [each.metadata.uid for each in found.objects.of(Pod)] == ["same", ""]
    assert (
        "metadata.uid of 1 pod ignored, as another pod has the same: shop/b (that of shop/a)"
        in (found.warnings)
    )


SECRET = "hunter2-secret"


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        '- "hunter2-secret"',
        "{apiVersion: v1, kind: Node, metadata: {name: n, annotations: hunter2-secret}}",
        "{apiVersion: v1, kind: Node, metadata: {name: n, annotations: {pin: [hunter2-secret]}}}",
        "{apiVersion: v1, kind: Node, metadata: {name: n, annotations: {pin: 20261125}}}",
        '{"apiVersion": "v1", "kind": "Node", "metadata": {"annotations": "hunter2-secret"}}',
        '{"apiVersion": "v1", "kind": "Secret", "data": {"p": "hunter2-secret"}, oops}',
        'apiVersion: v1\nkind: Secret\nstringData:\n  p: "hunter2-secret\n  q: [}\n',
    ],
)
def test_messages_do_not_quote_what_may_be_secret(text: str) -> None:
    found = ingest([("upload", io.BytesIO(text.encode()))])
    said = " ".join(map(str, (*found.errors, *found.warnings, *found.left_out)))
    assert SECRET not in said
    assert "20261125" not in said
