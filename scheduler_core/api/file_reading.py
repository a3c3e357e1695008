"""One file's bytes into typed objects: what the text is, and what each part of it is."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from scheduler_core.api import json_keys
from scheduler_core.api.absent_kinds import is_admitted
from scheduler_core.api.absent_pods import HOOK, WATCHED, Workload, hook_of, workload_of
from scheduler_core.api.coerce import Plain
from scheduler_core.api.config_maps import CONFIG_MAP, configuration_in, manifests_in
from scheduler_core.api.errors import FieldError, LimitError, ParseError, Place, UnreadableError
from scheduler_core.api.field_lines import field_line
from scheduler_core.api.file_text import (
    as_text,
    as_utf8,
    hard_blanks,
    objects_text,
    refuse_other_text,
)
from scheduler_core.api.generated_names import with_generated_name
from scheduler_core.api.json_documents import CutOffError, JsonDocument, read_json
from scheduler_core.api.json_keys import has_repeated_keys, repeated_keys
from scheduler_core.api.limits import Budget
from scheduler_core.api.meta import KubeObject
from scheduler_core.api.parse import (
    MALFORMED,
    TypeName,
    convert,
    decode,
    modelled_kind,
    subject_of,
)
from scheduler_core.api.pod import Pod
from scheduler_core.api.pod_templates import NO_PODS, POD, pod_of
from scheduler_core.api.said_events import KIND as EVENT
from scheduler_core.api.said_events import SaidOfPod, said_event, said_in_text
from scheduler_core.api.simulator import CONFIGURATION, PREFIX, SimulatorResult, result_of
from scheduler_core.api.types import KINDS
from scheduler_core.api.typos import misspelt_fields
from scheduler_core.api.yaml_documents import YamlDocument, read_yaml_pieces, read_yaml_whole
from scheduler_core.api.yaml_faults import explained, is_template, whole_part
from scheduler_core.wording import say

_SNIFFED_BYTES = 4096
_PROGRESS_EVERY = 500
_ENV_LIST = re.compile(rb'"env"\s*:\s*\[')
_NOT_SPACE = re.compile(rb"\S")


@dataclass
class FileContent:
    """What one file holds.

    ``dropped`` counts objects from which something was redacted, ``older`` those of a version that
    had to be brought into a newer one's shape. ``errors`` are of single objects, which are not
    among the others then; or one of a file that cannot be read at all. ``unlisted`` counts further
    ones, beyond the number that is reported. ``scheduler_config`` is a KubeSchedulerConfiguration
    that stood among the objects, as text; ``server_version`` is the ``gitVersion`` that ``kubectl
    version`` printed of the API server; ``results`` are what kube-scheduler-simulator wrote.
    ``named`` are objects that had only a generateName; ``said`` is what events say of pods.
    ``workloads`` are what makes pods; ``hooks`` the pods of a chart's hooks, each with its hook;
    ``misspelt`` are fields of pods that are nearly known ones: pod, path, and what is wrong.
    ``held`` are ConfigMaps that hold manifests, each with the key.
    """

    objects: list[KubeObject] = field(default_factory=list)
    ignored: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    older: Counter[TypeName] = field(default_factory=Counter)
    errors: list[ParseError] = field(default_factory=list)
    unlisted: int = 0
    scheduler_config: str = ""
    server_version: str = ""
    results: list[SimulatorResult] = field(default_factory=list)
    said: list[SaidOfPod] = field(default_factory=list)
    named: list[str] = field(default_factory=list)
    workloads: list[Workload] = field(default_factory=list)
    hooks: list[tuple[str, str]] = field(default_factory=list)
    misspelt: list[tuple[str, str, str]] = field(default_factory=list)
    held: list[tuple[str, str]] = field(default_factory=list)

    def watch(self, kind: str, source: msgspec.Raw | Mapping[str, Plain] | str) -> None:
        """Note what makes pods, what was said of pods, and a configuration in a ConfigMap."""
        if kind == CONFIG_MAP:
            found_here = configuration_in(source)
            self.scheduler_config = found_here or self.scheduler_config
            self.held.extend(() if found_here else manifests_in(source))
        if kind == EVENT and (said := said_event(source)) is not None:
            self.said.append(said)
        found = workload_of(kind, source) if kind in WATCHED else None
        if found is not None:
            self.workloads.append(found)

    def look_for_slips(self, source: msgspec.Raw | Mapping[str, Plain]) -> None:
        """Note misspelt fields of the pod that was read last, if no API server has seen it."""
        pod = self.objects[-1]
        if isinstance(pod, Pod) and not is_admitted(pod):
            slips = misspelt_fields(_plain_mapping(source))
            self.misspelt.extend((pod.key, *each) for each in slips)

    def leave_out(self, error: ParseError, reported_errors: int) -> None:
        """Report an object that cannot be read, or only count it where many were reported."""
        if len(self.errors) < reported_errors:
            self.errors.append(error)
        else:
            self.unlisted += 1


class FileReader:
    """Reads one file. ``parsing`` is called with the fraction parsed, from 0 to 1, now and then.

    ``pods_in`` says of which kinds the pod is read that they make, and where its template is.
    """

    def __init__(
        self,
        name: str,
        budget: Budget,
        parsing: Callable[[float], None],
        pods_in: Mapping[str, Sequence[str]] = NO_PODS,
    ) -> None:
        self._name = name
        self._budget = budget
        self._parsing = parsing
        self._pods_in = pods_in
        self._has_results = self._has_hooks = False
        self._found_at = self._found_line = 0
        """Where the last object ends in which a key stands twice; how many lines came before."""

    def read(self, data: bytes | bytearray) -> FileContent:
        """The file's objects, and what is wrong with the others. Raises :class:`LimitError`."""
        text: bytes | bytearray = b""
        try:
            text = objects_text(as_utf8(data))
            content_start = _NOT_SPACE.search(text)
            start = content_start.start() if content_start else len(text)
            head = bytes(text[start : start + _SNIFFED_BYTES])
            refuse_other_text(head)
            self._has_results = PREFIX.encode() in text
            self._has_hooks = HOOK.encode() in text
            is_json = head.startswith((b"{", b"[")) and not head.startswith((b"{{-", b"{{ "))
            content = self._read_json(text) if is_json else self._read_yaml(as_text(text))
        except LimitError:
            raise
        except UnreadableError as error:
            place = Place(self._name, error.document, error.line)
            content = FileContent(errors=[ParseError(place, "", error.message)])
            content.said.extend(said_in_text(text.decode(errors="replace")))
        self._parsing(1.0)
        return content

    def _read_json(self, text: bytes | bytearray) -> FileContent:
        content = FileContent()
        number = 0
        for documents in self._whole_json(content, text):
            for index, document in enumerate(documents):
                number += 1
                if number % _PROGRESS_EVERY == 0:
                    self._parsing(index / len(documents))
                place = Place(self._name, number)
                error = self._repeated(content, place, document, text)
                if error is None:
                    error = self._take(content, place, document.type_name, document.raw)
                if error is not None:
                    content.leave_out(error, self._budget.limits.reported_errors)
        return content

    def _whole_json(
        self, content: FileContent, text: bytes | bytearray
    ) -> Iterator[list[JsonDocument]]:
        """The objects of the text; if it is cut off, those before the cut, and an error."""
        found = False
        try:
            for documents in read_json(text):
                found = found or bool(documents)
                yield documents
        except CutOffError as error:
            if not found:
                raise
            place = Place(self._name, None, error.line)
            content.errors.insert(0, ParseError(place, "", error.message))

    def _repeated(
        self,
        content: FileContent,
        place: Place,
        document: JsonDocument,
        text: bytes | bytearray,
    ) -> ParseError | None:
        """Why an object cannot be read in which a key stands twice; None if none does."""
        if not self._is_wanted(document.type_name.kind):
            return None
        raw = bytes(document.raw)
        plain = raw.decode(errors="replace")
        if not has_repeated_keys(plain):
            return None
        if len(content.errors) >= self._budget.limits.reported_errors:
            return ParseError(place, "", json_keys.MESSAGE)
        found = next(repeated_keys(plain))
        line = self._lines_before(raw, text) + found.line
        named = subject_of(document.raw, document.type_name.kind)
        return ParseError(place._replace(line=line, subject=named), found.path, json_keys.MESSAGE)

    def _lines_before(self, raw: bytes, text: bytes | bytearray) -> int:
        """How many lines stand before an object; asked for objects in the order of the text."""
        start = text.find(raw, self._found_at)
        before = self._found_line + text.count(b"\n", self._found_at, start)
        self._found_at, self._found_line = start + len(raw), before + raw.count(b"\n")
        return before

    def _read_yaml(self, text: str) -> FileContent:
        try:
            return self._take_yaml(read_yaml_pieces(text, self._is_wanted), text)
        except LimitError:
            raise
        except UnreadableError:
            # The whole text may still be valid; if not, it says best what is wrong.
            return self._read_whole_yaml(text)

    def _read_whole_yaml(self, text: str) -> FileContent:
        try:
            return self._take_yaml(read_yaml_whole(text), text)
        except LimitError:
            raise
        except UnreadableError as error:
            better = explained(text, error)
            part = whole_part(text, error) if better is error else None
            if part is None:
                return self._read_readable(text, better)
        try:
            content = self._take_yaml(read_yaml_whole(part.text), part.text)
        except LimitError:
            raise
        except UnreadableError:
            raise part.error from None
        place = Place(self._name, None, part.error.line)
        content.errors.insert(0, ParseError(place, "", part.error.message))
        return content

    def _read_readable(self, text: str, error: UnreadableError) -> FileContent:
        """The documents of the text that can be read. Raises the error where none can."""
        unread: list[UnreadableError] = []
        content = self._take_yaml(read_yaml_whole(text, unread), text)
        if is_template(text) or not (content.objects or content.ignored):
            raise error
        for each in reversed(unread):
            problem = explained(text, each)
            place = Place(self._name, None, each.line, _document_told(each.line))
            content.errors.insert(0, ParseError(place, "", problem.message))
        return content

    def _take_yaml(self, documents: Iterator[YamlDocument], text: str) -> FileContent:
        content = FileContent()
        line_count = text.count("\n") + 1
        number = 0
        for number, document in enumerate(documents, 1):
            if number % _PROGRESS_EVERY == 0:
                self._parsing(document.line / line_count)
            place = Place(self._name, number, document.line)
            if document.value is None:
                self._count_ignored(content, document.type_name)
                content.watch(document.type_name.kind, document.text)
                continue
            error = self._take(content, place, document.type_name, document.value)
            if error is not None:
                error = _at_field(error, document.text)
                content.leave_out(error, self._budget.limits.reported_errors)
        if content.errors and (blanks := hard_blanks(text)) is not None:
            place = Place(self._name, None, blanks.line)
            content.errors = [ParseError(place, "", blanks.message)]
        return content

    def _result(self, source: msgspec.Raw | Mapping[str, Plain]) -> SimulatorResult | None:
        """What kube-scheduler-simulator wrote on a pod, where the file has such things at all."""
        return result_of(source) if self._has_results else None

    def _is_wanted(self, kind: str) -> bool:
        return kind in KINDS or kind == CONFIGURATION.kind or kind in self._pods_in

    def _count_ignored(self, content: FileContent, name: TypeName) -> None:
        self._budget.document()
        content.ignored[name.label()] += 1

    def _take(
        self,
        content: FileContent,
        place: Place,
        name: TypeName,
        source: msgspec.Raw | Mapping[str, Plain],
    ) -> ParseError | None:
        """Add an object to the content, or return why it cannot be read."""
        within = self._pods_in.get(name.kind, ())
        try:
            if within:
                name, source = POD, pod_of(_plain_mapping(source), within)
            else:
                content.watch(name.kind, source)
            kind = modelled_kind(name)
            if name.kind == CONFIGURATION.kind:
                content.scheduler_config = _configuration_text(source)
                return None
            if kind is None and not name.kind and (version := _server_version(source)):
                content.server_version = version
                return None
            if kind is None:
                _refuse_answers(name, source, place)
                self._count_ignored(content, name)
                return None
            self._keep(content, place, name, source, kind)
        except FieldError as error:
            named = place._replace(subject=subject_of(source, name.kind))
            return ParseError(named, _below(within, error.field), error.message)
        except ParseError as error:
            given = with_generated_name(source, place) if error.field == "metadata.name" else None
            if given is not None:
                return self._take_named(content, place, name, given)
            return ParseError(error.place, _below(within, error.field), error.message)
        return None

    def _keep(
        self,
        content: FileContent,
        place: Place,
        name: TypeName,
        source: msgspec.Raw | Mapping[str, Plain],
        kind: type[KubeObject],
    ) -> None:
        """Add an object of a kind that is read, and what else it tells. Raises ParseError."""
        self._budget.document()
        if isinstance(source, msgspec.Raw):
            content.objects.append(decode(source, kind, place, name.api_version))
        else:
            content.objects.append(convert(source, kind, place, name.api_version))
        if name.kind == "Pod":
            content.look_for_slips(source)
        if name.api_version != kind.api_version:
            content.older[name] += 1
        content.dropped.update(_dropped(source, name.kind))
        if name.kind == "Pod" and (result := self._result(source)) is not None:
            content.results.append(result)
        if self._has_hooks and name.kind == "Pod" and (hook := hook_of(source)):
            content.hooks.append((content.objects[-1].key, hook))

    def _take_named(
        self, content: FileContent, place: Place, name: TypeName, source: Mapping[str, Plain]
    ) -> ParseError | None:
        """The same of an object that had no name."""
        error = self._take(content, place, name, source)
        if error is None:
            content.named.append(content.objects[-1].key)
        return error


def _below(within: Sequence[str], field: str) -> str:
    return ".".join(filter(None, (*within, field)))


def _configuration_text(source: msgspec.Raw | Mapping[str, Plain]) -> str:
    """A KubeSchedulerConfiguration as JSON, which is YAML, too; it says what it is."""
    version, kind = CONFIGURATION
    said = {"apiVersion": version, "kind": kind} | dict(_plain_mapping(source))
    return msgspec.json.format(msgspec.json.encode(said), indent=2).decode() + "\n"


def _at_field(error: ParseError, text: str) -> ParseError:
    """The error with the line of its field; that of its object where it is not to be found."""
    line = field_line(text, error.field)
    if line is None or error.place.line is None:
        return error
    place = error.place._replace(line=error.place.line + line - 1)
    return ParseError(place, error.field, error.message)


def _document_told(line: int | None) -> str:
    return say("file.document_around", "The document around line {line}", line=line or 1)


def _server_version(source: msgspec.Raw | Mapping[str, Plain]) -> str:
    """What `kubectl version -o yaml` (or json) says of the API server; empty for other things."""
    server = _plain_mapping(source).get("serverVersion")
    said = server.get("gitVersion") if isinstance(server, dict) else None
    return said if isinstance(said, str) else ""


def _without_kind(source: Mapping[str, Plain]) -> str:
    if "replicaCount" in source or {"image", "service"} <= source.keys():
        return say(
            "file.values",
            "is missing; if these are the values of a chart, `helm template` makes manifests of "
            "them",
        )
    if not {"apiVersion", "metadata", "spec", "containers", "template"}.isdisjoint(source):
        return say("file.part", "is missing; a whole object has apiVersion, kind and metadata, too")
    return say("file.not_kubernetes", "is missing; is this a Kubernetes object?")


def _refuse_answers(
    name: TypeName, source: msgspec.Raw | Mapping[str, Plain], place: Place
) -> None:
    """Raises :class:`ParseError` for what an API server sends in place of objects."""
    if not name.kind:
        raise ParseError(place, "kind", _without_kind(_plain_mapping(source)))
    if name.kind == "Table" and name.group == "meta.k8s.io":
        raise ParseError(
            place, "", say("file.table_to_read", "is a table made for reading; ask for `-o yaml`")
        )
    if name.kind == "Status" and name.api_version == "v1":
        message = _plain_mapping(source).get("message")
        raise ParseError(
            place,
            "",
            say(
                "file.api_error", "is an error answer of an API server: {message}", message=message
            ),
        )


def _plain_mapping(source: msgspec.Raw | Mapping[str, Plain]) -> Mapping[str, Plain]:
    if not isinstance(source, msgspec.Raw):
        return source
    try:
        return msgspec.json.decode(source, type=dict[str, object])
    except (*MALFORMED, RecursionError):
        return {}


def _dropped(source: msgspec.Raw | Mapping[str, Plain], kind: str) -> Iterator[str]:
    """What an object held that no struct keeps and a user should know about."""
    if isinstance(source, msgspec.Raw):
        text = bytes(source)
        if b'"managedFields"' in text:
            yield "managedFields"
        # A label may be called env as well; only containers have a list of that name.
        if kind == "Pod" and b'"env"' in text and _ENV_LIST.search(text):
            yield "env"
        return
    metadata, spec = source.get("metadata"), source.get("spec")
    if isinstance(metadata, Mapping) and metadata.get("managedFields"):
        yield "managedFields"
    if kind == "Pod" and isinstance(spec, Mapping) and _has_env(spec):
        yield "env"


def _has_env(spec: Mapping[str, Plain]) -> bool:
    for field_name in ("containers", "initContainers"):
        containers = spec.get(field_name)
        if isinstance(containers, list) and any(
            isinstance(container, Mapping) and container.get("env") for container in containers
        ):
            return True
    return False
