"""A run's extenders: called once, then answered from what was recorded."""

from __future__ import annotations

import hashlib
from typing import Final

import zstandard
from django.utils import timezone

from kviz.common import work_counts
from kviz.common.extender_http import MAX_REPLY_BYTES
from kviz.runs.models import ExtenderAnswer, Run
from kviz.without_secrets import without_user
from scheduler_core.extender.transport import (
    BodyFailed,
    Reply,
    RequestFailed,
    TLSSettings,
    Transport,
    TransportError,
)

FAILURES: Final[dict[str, type[TransportError]]] = {
    ExtenderAnswer.Kind.REQUEST_FAILED: RequestFailed,
    ExtenderAnswer.Kind.BODY_FAILED: BodyFailed,
}


class AnswerMissing(Exception):
    """The run has no recorded answer to a call of its extenders."""

    def __init__(self) -> None:
        super().__init__("What its extenders answered was not recorded.")


class RecordingTransport:
    """A transport that records every answer, so that the run goes the same way again."""

    def __init__(self, run: Run, outgoing: Transport) -> None:
        self._run = run
        self._outgoing = outgoing
        self._number = 0

    def post(self, url: str, body: bytes, timeout_ns: int, tls: TLSSettings | None) -> Reply:
        """Return the recorded answer, or call and record. Raises what the call raised."""
        number, self._number = self._number, self._number + 1
        sha256 = _sha256(url, body)
        answer = _recorded(self._run, number, sha256)
        if answer is None:
            ExtenderAnswer.objects.filter(run=self._run, number__gte=number).delete()
            answer = self._call(number, sha256, url, body, timeout_ns, tls)
        return _reply(answer)

    def _call(
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
        # While it waits for an extender the worker stores nothing; it is alive all the same.
        Run.objects.filter(pk=self._run.pk, status=Run.Status.RUNNING).update(
            heartbeat_at=timezone.now()
        )
        work_counts.progress()
        return answer


class ReplayTransport:
    """A transport that answers as the run's extenders did, and calls nobody."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._number = 0

    def post(self, url: str, body: bytes, timeout_ns: int, tls: TLSSettings | None) -> Reply:
        """Return the recorded answer, or raise what the call raised, or AnswerMissing."""
        answer = _recorded(self._run, self._number, _sha256(url, body))
        self._number += 1
        if answer is None:
            raise AnswerMissing
        return _reply(answer)


def _sha256(url: str, body: bytes) -> str:
    return hashlib.sha256(without_user(url).encode() + b"\0" + body).hexdigest()


def _recorded(run: Run, number: int, sha256: str) -> ExtenderAnswer | None:
    """The answer to a run's call of that number, if the request was the same."""
    answers = ExtenderAnswer.objects.filter(run=run, number=number, request_sha256=sha256)
    return answers.first()


def _reply(answer: ExtenderAnswer) -> Reply:
    if answer.kind != ExtenderAnswer.Kind.REPLY:
        raise FAILURES[answer.kind](answer.error, answer.duration_ns)
    body = zstandard.decompress(bytes(answer.body), max_output_size=MAX_REPLY_BYTES)
    return Reply(answer.status, body, answer.duration_ns)
