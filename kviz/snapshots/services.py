"""Writes: uploads become snapshots."""

from __future__ import annotations

import hashlib
import io
import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import BinaryIO, Final

import msgspec
from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext

from kviz.accounts.audit import What, note_done
from kviz.accounts.models import Workspace
from kviz.common.problems import ErrorItem
from kviz.reference.plugin_texts import message_in_words
from kviz.run_file import MAGIC, is_run_file
from kviz.samples import Sample
from kviz.snapshots.models import Snapshot, SnapshotObjects
from kviz.snapshots.overview import overview_of
from kviz.snapshots.reading import Read, TooMuchMemory, as_read, read_upload
from kviz.snapshots.samples import SAMPLES
from kviz.snapshots.selectors import snapshots_visible
from scheduler_core.api.cluster_objects import ClusterObjects
from scheduler_core.api.counting import counted
from scheduler_core.api.errors import ParseError
from scheduler_core.api.ingest import Ingested, Progress, ingest
from scheduler_core.api.limits import Limits
from scheduler_core.api.packing import pack, unpack_each
from scheduler_core.releases.choosing import release_told
from scheduler_core.wording import say, series, told

File = tuple[str, BinaryIO]
"""A name and a seekable stream."""
SUFFIXES: Final = {".gz", ".json", ".tar", ".tgz", ".txt", ".yaml", ".yml", ".zip"}

PASTED_NAME: Final = "pasted.yaml"
NAMELESS: Final = ("body", "pasted")
RUN_NOT_CLUSTER: Final = say(
    "snapshot.is_run_file",
    "This is a run saved by kviz, not a cluster. Open it on the page of runs, by itself.",
)


class UploadRejected(Exception):
    """Nothing in the upload can be used; `errors` say why, file by file."""

    def __init__(self, errors: Sequence[ErrorItem]) -> None:
        super().__init__("; ".join(str(error["message"]) for error in errors))
        self.errors = errors


def snapshot_create(
    *,
    workspace: Workspace,
    files: Sequence[File],
    name: str = "",
    progress: Progress | None = None,
) -> Snapshot:
    """Read an upload and store what was read. Objects with errors are left out and reported.

    `progress` is called with the bytes read and in total. Raises UploadRejected if no file holds
    anything the scheduler reads; then nothing is stored.
    """
    for file_name, stream in files:
        if is_run_file(stream.read(len(MAGIC))):
            raise UploadRejected([{"file": file_name, "message": RUN_NOT_CLUSTER}])
    sha256 = _sha256(files)
    try:
        found = read_upload(files, _limits(), settings.READING_BYTES, progress)
    except TooMuchMemory as error:
        raise UploadRejected([{"message": told(error)}]) from error
    if not found.counts:
        raise UploadRejected([*(_problems(found) or [_nothing_there(found)]), *_decoded(found)])
    return _store(
        Snapshot(
            workspace=workspace, name=name.strip()[:200] or _name_of(files, found), sha256=sha256
        ),
        found,
    )


@transaction.atomic
def snapshot_upload(
    *,
    workspace: Workspace,
    files: Sequence[File],
    name: str = "",
    progress: Progress | None = None,
) -> Snapshot:
    """Store what somebody uploads, and note it. Raises UploadRejected."""
    found = snapshot_create(workspace=workspace, files=files, name=name, progress=progress)
    note_done(What.UPLOAD, found.get_absolute_url())
    return found


def snapshot_import(*, workspace: Workspace, ingested: Ingested, name: str) -> Snapshot:
    """Store what was read from a real cluster, and note it.

    Its SHA-256 is that of the packed objects.
    """
    with transaction.atomic():
        found = _store(Snapshot(workspace=workspace, name=name[:200]), as_read(ingested))
        note_done(What.UPLOAD, found.get_absolute_url())
    return found


def text_check(*, text: str) -> tuple[list[ErrorItem], Mapping[str, int], Mapping[str, int]]:
    """Read pasted text as an upload is read and store nothing: what is wrong, what is there.

    Returns problems, and counts by kind: of what scheduling looks at, and of the rest.
    """
    files = [(PASTED_NAME, io.BytesIO(text.encode()))]
    try:
        found = read_upload(files, _limits(), settings.READING_BYTES)
    except TooMuchMemory as error:
        return [{"message": told(error)}], {}, {}
    problems = _problems(found)
    if text.strip() and not problems and not found.counts:
        problems = [_nothing_there(found)]
    if not found.counts:
        problems += _decoded(found)
    return problems if text.strip() else [], found.counts, found.ignored


def snapshot_adopt(*, workspace: Workspace, packed: bytes, like: Snapshot) -> Snapshot:
    """Store a cluster that was packed elsewhere, unless the workspace can see the same one.

    `like` is an unsaved snapshot with the fields to use. The caller must have validated `packed`.
    """
    same = snapshots_visible(workspace=workspace).filter(sha256=like.sha256)
    for known in same.filter(objects_packed__packed=packed):
        return known
    like.workspace = workspace
    like.overview = dict(overview_of(unpack_each(packed)))
    like.release_told = like.release_told or release_told(unpack_each(packed))
    with transaction.atomic():
        like.save()
        SnapshotObjects.objects.create(snapshot=like, packed=packed)
    return like


def snapshot_keep(
    *, workspace: Workspace, objects: ClusterObjects, name: str, of: Snapshot
) -> Snapshot:
    """Store objects that a run over another snapshot came to as a cluster of their own.

    What was left out of that upload or is not modelled of it is missing here, too.
    """
    packed = pack(objects)
    like = Snapshot(
        name=name[:200],
        sha256=hashlib.sha256(packed).hexdigest(),
        counts=objects.counts,
        ignored=of.ignored,
        problems=of.problems,
        left_out=of.left_out,
        release_told=of.release_told,
    )
    return snapshot_adopt(workspace=workspace, packed=packed, like=like)


def snapshot_share(*, snapshot: Snapshot) -> str:
    """Return the token that opens this snapshot, and its owner's runs over it (`?share=`)."""
    token = secrets.token_urlsafe(24)
    Snapshot.objects.filter(pk=snapshot.pk, share_token="").update(share_token=token)
    snapshot.refresh_from_db(fields=["share_token"])
    return snapshot.share_token


def snapshots_delete(*, snapshots: Sequence[Snapshot]) -> None:
    """Delete several clusters and their runs, all or none."""
    with transaction.atomic():
        for snapshot in snapshots:
            snapshot_delete(snapshot=snapshot)


def snapshot_delete(*, snapshot: Snapshot) -> None:
    """Delete a snapshot and every run over it."""
    with transaction.atomic():
        note_done(What.DELETE, snapshot.get_absolute_url())
        snapshot.delete()


def samples_load() -> None:
    """Bring the stored samples up to date with the files that come with kviz."""
    known = {
        sample.name: sample.sha256 if sample.overview and sample.release_told else ""
        for sample in Snapshot.objects.filter(is_sample=True)
    }
    for sample in SAMPLES:
        files = [(sample.path.name, io.BytesIO(sample.path.read_bytes()))]
        sha256 = _sha256(files)
        if known.pop(sample.slug, "") != sha256:
            _sample_store(sample, files, sha256)
    Snapshot.objects.filter(is_sample=True, name__in=known).delete()


def _sample_store(sample: Sample, files: Sequence[File], sha256: str) -> None:
    found = as_read(ingest(files))
    if found.errors:
        raise UploadRejected(_problems(found))
    snapshot = Snapshot.objects.filter(is_sample=True, name=sample.slug).first()
    snapshot = snapshot or Snapshot(is_sample=True, name=sample.slug)
    snapshot.sha256 = sha256
    _store(snapshot, found)


def _store(snapshot: Snapshot, read: Read) -> Snapshot:
    snapshot.counts = read.counts
    snapshot.ignored = read.ignored
    snapshot.warnings = list(read.warnings)
    snapshot.problems = _problems(read)
    snapshot.left_out = list(read.left_out)
    snapshot.overview = dict(read.overview)
    snapshot.sha256 = snapshot.sha256 or hashlib.sha256(read.packed).hexdigest()
    snapshot.release_told = read.release_told
    with transaction.atomic():
        snapshot.save()
        SnapshotObjects.objects.update_or_create(
            snapshot=snapshot,
            defaults={
                "packed": read.packed,
                "scheduler_config": read.scheduler_config,
                "results": msgspec.to_builtins(read.results),
            },
        )
    return snapshot


def _limits() -> Limits:
    return Limits(
        uploaded_bytes=settings.MAX_UPLOAD_BYTES, decompressed_bytes=settings.MAX_UNPACKED_BYTES
    )


def _sha256(files: Sequence[File]) -> str:
    """Of all files' contents, in the order of their names."""
    digest = hashlib.sha256()
    for _, stream in sorted(files, key=lambda file: file[0]):
        stream.seek(0)
        while block := stream.read(1 << 20):
            digest.update(block)
        stream.seek(0)
    return digest.hexdigest()


def _name_of(files: Sequence[File], read: Read) -> str:
    """The name, without its endings, of the first file nothing was wrong with.

    What came without a name, as the body of a request or pasted, is called by what it holds.
    """
    wrong = {error.place.source for error in read.errors}
    names = [name for name, _ in files]
    first = next((name for name in names if name not in wrong), names[0])
    path = PurePosixPath(first.replace("\\", "/"))
    while path.suffix.lower() in SUFFIXES:
        path = path.with_suffix("")
    if path.name in NAMELESS:
        return ", ".join(
            counted(read.counts.get(each, 0), each.lower()) for each in ("Node", "Pod")
        )
    return path.name[:200] or "upload"


def _problems(read: Read) -> list[ErrorItem]:
    return [_problem(error) for error in read.errors]


def _problem(error: ParseError) -> ErrorItem:
    place = error.place
    known: dict[str, str | int | None] = {
        "file": place.source,
        "document": place.document,
        "line": place.line,
        "subject": place.subject,
        "path": error.field,
        "message": error.message,
    }
    return {key: value for key, value in known.items() if value is not None and value != ""}


def _decoded(read: Read) -> Iterator[ErrorItem]:
    """What the scheduler's messages in an upload mean, a problem each."""
    for said in read.said:
        about = {"subject": f"Pod {said.pod}"} if said.pod else {}
        yield {**about, "message": message_in_words(said.message, gettext)}


def _nothing_there(read: Read) -> ErrorItem:
    if not read.ignored:
        return {
            "message": say("snapshot.no_object", "There is no Kubernetes object in this upload.")
        }
    kinds = series(read.ignored)
    return {
        "message": say(
            "snapshot.nothing_read",
            "There is nothing here that the scheduler reads, only: {kinds}.",
            kinds=kinds,
        )
    }
