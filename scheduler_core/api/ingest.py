"""Whole uploads: any number of files in any packing, read once into typed objects.

Nothing here raises for bad input: every problem becomes a :class:`ParseError` in the result, and
the objects without problems are kept.
"""

import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from msgspec.structs import replace

from scheduler_core.api.absent_kinds import absent_kinds
from scheduler_core.api.absent_pods import Workload, hooks_told, without_pods
from scheduler_core.api.archives import Unpacked, is_noise, unpack_files
from scheduler_core.api.cluster_objects import ClusterObjects
from scheduler_core.api.counting import OBJECT, POD, counted
from scheduler_core.api.errors import LimitError, ParseError, Place
from scheduler_core.api.file_reading import FileContent, FileReader
from scheduler_core.api.findings import cluster_findings, left_out, only_others
from scheduler_core.api.gc_freeze import gc_paused
from scheduler_core.api.limits import Budget, Limits
from scheduler_core.api.meta import KubeObject
from scheduler_core.api.node import Node
from scheduler_core.api.parse import TypeName
from scheduler_core.api.pod import Pod
from scheduler_core.api.pod_templates import NO_PODS
from scheduler_core.api.priority import PriorityClasses, UnknownPriorityClassError
from scheduler_core.api.said_events import MAX_SAID, SaidOfPod, latest, with_said
from scheduler_core.api.simulator import MAX_RESULTS, SimulatorResult
from scheduler_core.api.types import KINDS
from scheduler_core.api.typos import kind_slips, label_slips, resource_slips, slips_of, slips_told
from scheduler_core.api.workload import PriorityClass
from scheduler_core.wording import say, some_of

Source = bytes | bytearray | memoryview | BinaryIO
Progress = Callable[[int, int], None]
"""Called with the bytes done and the bytes in total, both as uploaded."""

_DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, kw_only=True)
class Ingested:
    """What an upload held.

    ``ignored`` counts objects of kinds that are not modelled, ``ignored_files`` archive entries
    and logs that hold no objects. ``errors`` are of single objects, and of files that cannot be
    read at all; ``left_out`` says in sentences what is missing because of them or of kinds that are
    absent, as every outcome over this cluster may be another with it. ``scheduler_config`` is a
    KubeSchedulerConfiguration that came with the objects, empty if none did; ``results`` are what
    kube-scheduler-simulator wrote on pods; ``server_version`` is the ``gitVersion`` of the API
    server, if it was asked or ``kubectl version`` is among the files. ``without_pods`` are
    sentences on workloads of which there is no pod; they come first among the ``warnings``, too,
    or among the ``errors`` if there is nothing else.
    ``said`` is what the scheduler said of pods that are not among the objects, of the first few.
    """

    objects: ClusterObjects
    ignored: dict[str, int]
    ignored_files: int
    warnings: tuple[str, ...]
    errors: tuple[ParseError, ...]
    left_out: tuple[str, ...]
    scheduler_config: str = ""
    results: tuple[SimulatorResult, ...] = ()
    server_version: str = ""
    without_pods: tuple[str, ...] = ()
    said: tuple[SaidOfPod, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many objects there are of each modelled kind."""
        return self.objects.counts


def ingest(
    files: Iterable[tuple[str, Source]],
    limits: Limits = _DEFAULT_LIMITS,
    progress: Progress | None = None,
    pods_in: Mapping[str, Sequence[str]] = NO_PODS,
) -> Ingested:
    """Reads all files, each a name and its bytes or a binary stream.

    ``pods_in`` says of which kinds the pod is read that they make (``pod_templates``).
    """
    named = [(name, _as_stream(source, limits)) for name, source in files]
    report = _ProgressReport([_size_bytes(s) for _, s in named], progress)
    upload = _Upload(limits, report, pods_in)
    with gc_paused():
        for name, stream in named:
            if not upload.read_file(name, stream):
                break
        return upload.result()


class ListIntake:
    """A cluster out of an API server's lists, read page by page as they come.

    The pages of a list count when it is complete; one that has to begin again is forgotten.
    """

    def __init__(self, limits: Limits = _DEFAULT_LIMITS) -> None:
        self._upload = _Upload(limits, _ProgressReport([], None), NO_PODS)
        self._pages: list[FileContent] = []

    def page(self, name: str, data: bytes) -> None:
        """Reads one page of the present list. Raises :class:`LimitError`."""
        self._upload.budget.decompress(len(data))
        reader = FileReader(name, self._upload.budget, self._upload.progress.parsing)
        self._pages.append(reader.read(data))

    def forget(self) -> None:
        """Drops the pages of the present list."""
        self._pages.clear()

    def complete(self) -> None:
        """Ends the present list, and counts it in."""
        for content in self._pages:
            self._upload.merge(content)
        self._pages.clear()

    def result(self) -> Ingested:
        """What all lists held."""
        return self._upload.result()


def _as_stream(source: Source, limits: Limits) -> BinaryIO:
    if isinstance(source, bytes | bytearray | memoryview):
        return io.BytesIO(source)
    if source.seekable():
        return source
    # One byte beyond the limit is enough to be refused for it later.
    return io.BytesIO(source.read(limits.uploaded_bytes + 1))


def _size_bytes(stream: BinaryIO) -> int:
    size = stream.seek(0, io.SEEK_END)
    stream.seek(0)
    return size


class _ProgressReport:
    """Bytes done: half of a file's weight is reading it, half is parsing what was read."""

    def __init__(self, sizes_bytes: list[int], report: Progress | None) -> None:
        self.sizes_bytes = sizes_bytes
        self._total_bytes = sum(sizes_bytes)
        self._report = report
        self._before_bytes = 0
        self._parsed_bytes = 0
        self._stream: BinaryIO | None = None

    def start(self, stream: BinaryIO) -> int:
        """Begins the next file; its size in bytes."""
        self._stream = stream
        self._parsed_bytes = 0
        return self.sizes_bytes.pop(0)

    def parsing(self, fraction: float) -> None:
        """Tells how much of the text read last has been parsed, from 0 to 1."""
        if self._stream is None or self._report is None:
            return
        read_bytes = self._stream.tell()
        parsed_bytes = self._parsed_bytes + (read_bytes - self._parsed_bytes) * fraction
        if fraction >= 1:
            self._parsed_bytes = read_bytes
        done_bytes = self._before_bytes + int((read_bytes + parsed_bytes) / 2)
        self._report(min(done_bytes, self._total_bytes), self._total_bytes)

    def finish(self, size_bytes: int) -> None:
        """Ends the current file."""
        self._stream = None
        self._before_bytes += size_bytes
        if self._report is not None:
            self._report(self._before_bytes, self._total_bytes)


@dataclass
class _Upload:
    """What has been gathered so far."""

    limits: Limits
    progress: _ProgressReport
    pods_in: Mapping[str, Sequence[str]]
    objects: dict[tuple[str, str, str], KubeObject] = field(default_factory=dict)
    ignored: Counter[str] = field(default_factory=Counter)
    ignored_files: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    older: Counter[TypeName] = field(default_factory=Counter)
    repeated: list[str] = field(default_factory=list)
    errors: list[ParseError] = field(default_factory=list)
    unlisted: int = 0
    """Errors beyond those that are reported of one file."""
    scheduler_config: str = ""
    server_version: str = ""
    results: list[SimulatorResult] = field(default_factory=list)
    said: list[SaidOfPod] = field(default_factory=list)
    workloads: list[Workload] = field(default_factory=list)
    hooks: list[tuple[str, str]] = field(default_factory=list)
    named: list[str] = field(default_factory=list)
    misspelt: list[tuple[str, str, str]] = field(default_factory=list)
    held: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.budget = Budget(limits=self.limits)

    def read_file(self, name: str, stream: BinaryIO) -> bool:
        """Takes in one file; False when a limit ends the reading of the whole upload."""
        size_bytes = self.progress.start(stream)
        if is_noise(name):
            self.ignored_files += 1
        else:
            try:
                self.budget.upload(size_bytes)
                for unpacked in unpack_files(name, stream, self.budget):
                    self._read_text(unpacked)
            except LimitError as error:
                self.errors.append(ParseError(Place(name), "", error.message))
                return False
        self.progress.finish(size_bytes)
        return True

    def _read_text(self, unpacked: Unpacked) -> None:
        if unpacked.error:
            self.errors.append(ParseError(Place(unpacked.name), "", unpacked.error))
        elif unpacked.data is None:
            self.ignored_files += 1
        else:
            reader = FileReader(unpacked.name, self.budget, self.progress.parsing, self.pods_in)
            self.merge(reader.read(unpacked.data))

    def merge(self, content: FileContent) -> None:
        """Adds what one file held."""
        self.errors.extend(content.errors)
        self.unlisted += content.unlisted
        self.ignored.update(content.ignored)
        self.dropped.update(content.dropped)
        self.older.update(content.older)
        self.scheduler_config = content.scheduler_config or self.scheduler_config
        self.server_version = content.server_version or self.server_version
        self.results.extend(content.results)
        self.said.extend(content.said)
        self.workloads.extend(content.workloads)
        self.hooks.extend(content.hooks)
        self.named.extend(content.named)
        self.misspelt.extend(content.misspelt)
        self.held.extend(content.held)
        for item in content.objects:
            key = (item.kind, item.metadata.namespace, item.metadata.name)
            if key in self.objects:
                self.repeated.append(f"{item.kind} {item.key}")
            self.objects[key] = item

    def result(self) -> Ingested:
        """The gathered objects with priorities resolved, and the warnings."""
        if not (self.objects or self.errors or self.ignored or self.scheduler_config):
            self.errors.append(
                ParseError(
                    Place(), "", say("note.no_object", "there is no Kubernetes object to read")
                )
            )
        elsewhere = tuple(self._tell_pods())
        pods = [item for item in self.objects.values() if isinstance(item, Pod)]
        lacking = told = tuple(without_pods(self.workloads, pods))
        if self.ignored and not (self.objects or self.errors):
            told = ()
            for text in (*lacking, only_others(self.ignored, self.held)):
                self.errors.append(ParseError(Place(), "", text))
        warnings = [
            *kind_slips(self.ignored),
            *told,
            *hooks_told(self.hooks),
            *self._redactions(),
            *self._older_versions(),
        ]
        if self.repeated:
            warnings.append(
                say(
                    "note.given_twice",
                    "{objects} given more than once, the last one counts: {names}",
                    objects=counted(len(self.repeated), OBJECT),
                    names=some_of(self.repeated),
                )
            )
        slips = [(pod.key, *each) for pod in pods for each in slips_of(pod)]
        nodes = [item for item in self.objects.values() if isinstance(item, Node)]
        named = (*label_slips(pods, nodes), *resource_slips(pods, nodes))
        warnings.extend(slips_told([*self.misspelt, *slips, *named]))
        warnings.extend(self._brought())
        self._tell_apart(warnings)
        objects = self._with_priorities(warnings)
        warnings.extend(cluster_findings(objects, self.ignored))
        return Ingested(
            objects=objects,
            ignored=dict(sorted(self.ignored.items())),
            ignored_files=self.ignored_files,
            warnings=tuple(warnings),
            errors=tuple(self._reported_errors()),
            left_out=tuple(self._missing(objects)),
            scheduler_config=self.scheduler_config,
            results=tuple(self.results[:MAX_RESULTS]),
            server_version=self.server_version,
            without_pods=lacking,
            said=elsewhere[:MAX_SAID],
        )

    def _tell_pods(self) -> Iterator[SaidOfPod]:
        """Write into pods what events say of them; yield what is said of pods that are absent."""
        for said in latest(self.said).values():
            namespace, _, name = said.pod.partition("/")
            key = (Pod.kind, namespace, name)
            pod = self.objects.get(key)
            if isinstance(pod, Pod):
                self.objects[key] = with_said(pod, said)
            else:
                yield said

    def _missing(self, objects: ClusterObjects) -> Iterator[str]:
        yield from left_out(self.errors, self.unlisted)
        yield from (absent.sentence for absent in absent_kinds(objects, ignored=self.ignored))

    def _reported_errors(self) -> Iterator[ParseError]:
        shown = self.errors[: self.limits.reported_errors]
        yield from shown
        if more := len(self.errors) - len(shown) + self.unlisted:
            yield ParseError(
                Place(),
                "",
                say("note.problem_more", "1 more problem like these")
                if more == 1
                else say("note.problems_more", "{n:,} more problems like these", n=more),
            )

    def _tell_apart(self, warnings: list[str]) -> None:
        """Take away a uid that another pod has: the scheduler knows pods by it."""
        owner_of: dict[str, Pod] = {}
        repeated = []
        for key, item in self.objects.items():
            if not isinstance(item, Pod) or not item.metadata.uid:
                continue
            owner = owner_of.setdefault(item.metadata.uid, item)
            if owner is not item:
                repeated.append(
                    say(
                        "note.pod_of_owner",
                        "{pod} (that of {owner})",
                        pod=item.key,
                        owner=owner.key,
                    )
                )
                self.objects[key] = replace(item, metadata=replace(item.metadata, uid=""))
        if repeated:
            warnings.append(
                say(
                    "note.uid_ignored",
                    "metadata.uid of {pods} ignored, as another pod has the same: {names}",
                    pods=counted(len(repeated), POD),
                    names=some_of(repeated),
                )
            )

    def _redactions(self) -> Iterable[str]:
        if secrets := self.ignored["Secret"]:
            yield say(
                "note.objects_dropped", "{objects} dropped", objects=counted(secrets, "Secret")
            )
        if pods := self.dropped["env"]:
            yield say(
                "note.env_dropped",
                "Environment variables of {pods} dropped",
                pods=counted(pods, POD),
            )
        if managed := self.dropped["managedFields"]:
            yield say(
                "note.managed_fields_dropped",
                "managedFields of {objects} dropped",
                objects=counted(managed, OBJECT),
            )

    def _brought(self) -> Iterable[str]:
        if self.named:
            yield say(
                "note.generated_names",
                "{objects} with only a generateName got a name: {names}",
                objects=counted(len(self.named), OBJECT),
                names=some_of(self.named),
            )
        if self.scheduler_config:
            yield say(
                "note.configuration_came",
                "A KubeSchedulerConfiguration came with the objects. The form of a run begins with "
                "it; commands take it by --config",
            )
        if self.results:
            yield say(
                "note.simulator_results",
                "kube-scheduler-simulator wrote results on {pods}",
                pods=counted(len(self.results), POD),
            )

    def _older_versions(self) -> Iterable[str]:
        for (version, kind), count in sorted(self.older.items()):
            yield say(
                "note.read_as",
                "{objects} of {version} read as {now}",
                objects=counted(count, kind),
                version=version,
                now=KINDS[kind].api_version,
            )

    def _with_priorities(self, warnings: list[str]) -> ClusterObjects:
        """The objects, pods without a priority given theirs as admission would."""
        items = list(self.objects.values())
        classes = PriorityClasses(item for item in items if isinstance(item, PriorityClass))
        unknown: dict[str, list[str]] = {}
        for index, item in enumerate(items):
            if isinstance(item, Pod):
                try:
                    items[index] = classes.resolve(item)
                except UnknownPriorityClassError as error:
                    unknown.setdefault(error.name, []).append(item.key)
        for name, pods in unknown.items():
            warnings.append(
                say(
                    "note.priority_class_absent",
                    "No PriorityClass {name} was read from the upload; its pods count as "
                    "priority 0: {pods}",
                    name=name,
                    pods=some_of(pods),
                )
            )
        return ClusterObjects(items)
