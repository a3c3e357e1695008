"""A data folder that is ready to serve: made once for all tests of a session, and copied.

It is migrated, has the sample clusters, a token, and a finished run of two samples. The database
of before, migrated and empty, lies beside it, for tests that work on a database of their own.
Called as a program, this module makes one where `KVIZ_DATA_DIR` says.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.real_servers import new_database

SAMPLES: Final = ("why-pending", "preemption-budget")
"""Those with a finished run: one in which a dozen pods wait, one in which pods are evicted."""
MIGRATED: Final = "migrated.sqlite3"
DATABASE: Final = "database-url"
"""Names the database where tests run on PostgreSQL."""


def template(shared: Path) -> Path:
    """The folder to copy, made by the first process that asks; `shared` is seen by all of them."""
    made = shared / "data-folder"
    with (shared / "data-folder.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            making = shared / "data-folder.making"
            making.mkdir()
            _make(making)
            making.rename(made)
    return made


def _make(folder: Path) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith("KVIZ_")}
    env |= {"KVIZ_DATA_DIR": str(folder), "KVIZ_LUCK_OF_RUNS": "no"}
    if server := os.environ.get("KVIZ_DATABASE_URL", ""):
        env["KVIZ_DATABASE_URL"] = new_database(server)
        (folder / DATABASE).write_text(env["KVIZ_DATABASE_URL"])
    subprocess.run([sys.executable, "-m", "tests.data_folder"], env=env, check=True)


def copy(made: Path, folder: Path) -> Path:
    """Bring everything into an existing folder of a test, which it returns."""
    shutil.copytree(made, folder, ignore=shutil.ignore_patterns(MIGRATED), dirs_exist_ok=True)
    if (url := folder / DATABASE).exists():
        url.write_text(new_database(os.environ["KVIZ_DATABASE_URL"], like=url.read_text()))
    return folder


def finished_run(folder: Path, sample: str) -> str:
    """The id of the run of one of `SAMPLES`."""
    return str(json.loads((folder / "runs.json").read_text())[sample])


def main() -> None:
    from kviz.cli.django_setup import start_django

    folder = start_django(migrate=True)

    from django.conf import settings
    from django.db import connections

    database = settings.DATABASES["default"]
    if str(database["ENGINE"]).endswith("sqlite3"):
        connections.close_all()  # which empties the write-ahead log
        shutil.copy(str(database["NAME"]), folder / MIGRATED)

    from kviz.accounts.services import local_token_ensure, local_workspace_ensure
    from kviz.classroom.services import classes_begin
    from kviz.runs.services import run_create
    from kviz.snapshots.models import Snapshot
    from kviz.snapshots.services import samples_load
    from tests.web.cast import execute

    local_token_ensure(folder=folder)
    samples_load()
    classes_begin()
    runs = {}
    for sample in SAMPLES:
        snapshot = Snapshot.objects.get(is_sample=True, name=sample)
        run_create(workspace=local_workspace_ensure(), snapshot=snapshot)
        run = execute(worker="template")
        run.refresh_from_db()
        assert run.status == "finished", run.error
        runs[sample] = str(run.pk)
    (folder / "runs.json").write_text(json.dumps(runs))
    connections.close_all()


if __name__ == "__main__":
    main()
