"""Prints what this kviz makes of the runs in a data folder: `python -m tests.web.read_old_data`.

A worker has had the time to compute them again.
"""

from __future__ import annotations

import json
import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kviz.project.settings")
django.setup()

from django.test import Client  # noqa: E402
from django.utils import translation  # noqa: E402

from kviz.common.wording import translated  # noqa: E402
from kviz.live.tasks import Worker, work_once  # noqa: E402
from kviz.runs.models import Run  # noqa: E402
from kviz.runs.reading import trace  # noqa: E402
from scheduler_core.trace.codec import read_headers  # noqa: E402

worker = Worker("idle")
while work_once(worker) or Run.objects.filter(status=Run.Status.QUEUED).exists():
    pass

found = []
for run in Run.objects.order_by("created_at"):
    page = Client().get(f"/runs/{run.pk}", HTTP_HOST="127.0.0.1").content.decode()
    events = [event for chunk in trace.chunks(run=run) for event in read_headers(chunk.headers)[1]]
    with translation.override("zh-hans"):
        not_modelled = translated(run.not_modelled)
        refused = [str(translated(step.text)) for step in trace.steps_refused(run=run)]
        warnings = translated(run.snapshot.warnings if run.snapshot else [])
    found.append(
        {
            "kind": run.kind,
            "status": run.status,
            "cycles": run.cycles,
            "older": run.older,
            "not_modelled": not_modelled,
            "refused": refused,
            "evicted": sum(type(event).__name__ == "PodEvicted" for event in events),
            "warnings": warnings,
            "on_page": "broken left out" in page,
        }
    )
json.dump(found, sys.stdout)
