"""Prints what this kviz makes of the runs in a data folder: `python -m tests.web.read_old_data`."""

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
from kviz.runs.models import Run  # noqa: E402
from kviz.runs.reading import trace  # noqa: E402
from scheduler_core.trace.codec import read_headers  # noqa: E402

found = []
for run in Run.objects.order_by("created_at"):
    page = Client().get(f"/runs/{run.pk}", HTTP_HOST="127.0.0.1").content.decode()
    events = [event for chunk in trace.chunks(run=run) for event in read_headers(chunk.headers)[1]]
    with translation.override("zh-hans"):
        warnings = translated(run.snapshot.warnings if run.snapshot else [])
    found.append(
        {
            "kind": run.kind,
            "status": run.status,
            "cycles": run.cycles,
            "not_modelled": run.not_modelled,
            "refused": [step.text for step in trace.steps_refused(run=run)],
            "evicted": sum(type(event).__name__ == "PodEvicted" for event in events),
            "warnings": warnings,
            "on_page": "broken left out" in page,
        }
    )
json.dump(found, sys.stdout)
