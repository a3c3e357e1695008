"""Brings Django up for the commands that need it."""

from __future__ import annotations

import os
from pathlib import Path

from kviz.project.environment import prepare_data_dir


def start_django(*, migrate: bool) -> Path:
    """Prepare the data folder, set Django up, bring the database up to date if asked to.

    Returns the data folder.
    """
    folder = prepare_data_dir()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kviz.project.settings")

    import django
    from django.core.management import call_command

    django.setup()
    if migrate:
        call_command("migrate", interactive=False, verbosity=0)
    return folder
