"""`kviz worker`: does what waits, from the tables or as a broker says. `kviz serve` starts one."""

from __future__ import annotations

import argparse

from kviz.cli.django_setup import refuse_newer_data, start_django
from kviz.command_line.arguments import Subparsers


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser("worker")
    command.add_argument("--supervised", action="store_true", help=argparse.SUPPRESS)
    command.add_argument("--leave-with-stdin", action="store_true", help=argparse.SUPPRESS)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    start_django(migrate=False)
    if not options.supervised:  # or the supervisor has looked
        refuse_newer_data()
    from django.conf import settings

    from kviz.common import tracing
    from kviz.live import worker
    from kviz.project import worker_metrics

    if settings.OTEL_ENDPOINT:
        tracing.start(settings.OTEL_ENDPOINT, service="kviz-worker")
    worker_metrics.serve()
    if options.supervised or options.leave_with_stdin:
        worker.leave_with_supervisor()
    if settings.CELERY_BROKER_URL:
        from kviz.live import celery_worker

        return celery_worker.work(supervised=options.supervised)
    worker.work(name=worker.worker_name(supervised=options.supervised))
