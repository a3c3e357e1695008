"""Pods pasted as templates of copies."""

from __future__ import annotations

import io
from typing import Final

from kviz.common.problems import ErrorItem
from kviz.runs.inputs import InvalidInput
from scheduler_core.api import Pod
from scheduler_core.api.errors import ParseError
from scheduler_core.api.ingest import ingest
from scheduler_core.api.pod_templates import WORKLOADS
from scheduler_core.wording import say, series

FIELD: Final = "manifest"


def pods_in(manifest: str) -> list[Pod]:
    """Return the pods of a manifest and those that its workloads make, at least one.

    Raises InvalidInput, with lines.
    """
    read = ingest([("templates", io.BytesIO(manifest.encode()))], pods_in=WORKLOADS)
    if read.errors:
        raise InvalidInput([_error(each) for each in read.errors])
    pods = list(read.objects.of(Pod))
    if not pods:
        others = series([*read.counts, *read.ignored])
        text = say("question.no_template", "There is no pod in it, nor a workload that makes pods.")
        if others:
            text = say(
                "question.no_template_only",
                "There is no pod in it, nor a workload that makes pods, only: {kinds}.",
                kinds=others,
            )
        raise InvalidInput([{"field": FIELD, "message": text}])
    return pods


def _error(error: ParseError) -> ErrorItem:
    message = error.message
    if error.field:
        message = say("list.what_why", "{what}: {why}", what=error.field, why=message)
    found: dict[str, str | int] = {"field": FIELD, "message": message}
    return found if error.place.line is None else found | {"line": error.place.line}
