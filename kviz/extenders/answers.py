"""A run's extenders: asked once, then answered from what was kept."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import zstandard
from django.conf import settings
from django.utils import timezone

from kviz.common.hosts import AllowedHosts
from kviz.extenders.models import ExtenderAnswer
from kviz.extenders.outgoing import MAX_REPLY_BYTES, HttpTransport, read_files, refuse_files
from kviz.runs import inputs
from kviz.runs.models import Run
from scheduler_core.extender.transport import (
    BodyFailed,
    Reply,
    RequestFailed,
    TLSSettings,
    Transport,
    TransportError,
)
from scheduler_core.trace.events import AnyEvent

FAILURES: dict[str, type[TransportError]] = {
    ExtenderAnswer.Kind.REQUEST_FAILED: RequestFailed,
    ExtenderAnswer.Kind.BODY_FAILED: BodyFailed,
}


def simulate_run(run: Run) -> Iterator[AnyEvent]:
    """The events of a run whose extenders are asked, or answered from what they said before."""
    allowed = AllowedHosts.parse(settings.EXTENDER_HOSTS)
    read_file = read_files if settings.MODE == "local" else refuse_files
    with HttpTransport(allowed, read_file) as outgoing:
        yield from inputs.simulate_run(run, transport=KeptAnswers(run, outgoing))


class KeptAnswers:
    """A transport that keeps every answer, so that the run goes the same way again."""

    def __init__(self, run: Run, outgoing: Transport) -> None:
        self._run = run
        self._outgoing = outgoing
        self._number = 0

    def post(self, url: str, body: bytes, timeout_ns: int, tls: TLSSettings | None) -> Reply:
        """Return the kept answer to this call, or ask and keep. Raises what the call raised."""
        number, self._number = self._number, self._number + 1
        sha256 = _sha256(url, body)
        kept = _kept(self._run, number, sha256)
        if kept is None:
            ExtenderAnswer.objects.filter(run=self._run, number__gte=number).delete()
            kept = self._ask(number, sha256, url, body, timeout_ns, tls)
        return _answer(kept)

    def _ask(
        self,
        number: int,
        sha256: str,
        url: str,
        body: bytes,
        timeout_ns: int,
        tls: TLSSettings | None,
    ) -> ExtenderAnswer:
        answer = ExtenderAnswer(run=self._run, number=number, request_sha256=sha256)
        try:
            reply = self._outgoing.post(url, body, timeout_ns, tls)
        except TransportError as failed:
            answer.kind = next(kind for kind, cls in FAILURES.items() if isinstance(failed, cls))
            answer.error, answer.duration_ns = failed.text, failed.duration_ns
        else:
            answer.kind, answer.status = ExtenderAnswer.Kind.REPLY, reply.status
            answer.body = zstandard.compress(reply.body)
            answer.duration_ns = reply.duration_ns
        answer.save()
        # Waiting for an extender, the worker stores nothing; it lives all the same.
        Run.objects.filter(pk=self._run.pk, status=Run.Status.RUNNING).update(
            heartbeat_at=timezone.now()
        )
        return answer


class OnlyKeptAnswers:
    """A transport that answers as the run's extenders did, and asks nobody."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._number = 0

    def post(self, url: str, body: bytes, timeout_ns: int, tls: TLSSettings | None) -> Reply:
        """Return the kept answer to this call, or raise what the call raised, or AnswerMissing."""
        kept = _kept(self._run, self._number, _sha256(url, body))
        self._number += 1
        if kept is None:
            raise inputs.AnswerMissing
        return _answer(kept)


def _sha256(url: str, body: bytes) -> str:
    return hashlib.sha256(url.encode() + b"\0" + body).hexdigest()


def _kept(run: Run, number: int, sha256: str) -> ExtenderAnswer | None:
    """The answer to a run's call of that number, if it was the same question."""
    kept = ExtenderAnswer.objects.filter(run=run, number=number, request_sha256=sha256)
    return kept.first()


def _answer(kept: ExtenderAnswer) -> Reply:
    if kept.kind != ExtenderAnswer.Kind.REPLY:
        raise FAILURES[kept.kind](kept.error, kept.duration_ns)
    body = zstandard.decompress(bytes(kept.body), max_output_size=MAX_REPLY_BYTES)
    return Reply(kept.status, body, kept.duration_ns)
