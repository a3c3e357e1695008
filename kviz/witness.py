"""The program that runs the real kube-scheduler: where it is, and what it says of a cluster.

`tests/oracle` is its source, `make oracle` builds it. It reads one JSON document and writes one a
line: what it was built from, every attempt, and where the pods are at the end.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kviz import environment
from scheduler_core.releases.table import Release

Json = Mapping[str, object]

CHECKOUT: Final = Path(__file__).parents[1]
TEST_FLAGS: Final = ("-test.timeout=0", "-test.run")
WITNESS: Final = "^TestWitness$"
RACE: Final = "^TestRace$"
SHOWN_LINES: Final = 12


class WitnessProblem(Exception):
    """There is no program to ask, or it failed; the message says what to do, or what it said."""


@dataclass(frozen=True, slots=True)
class Witness:
    """A built program."""

    path: Path

    def says(self, document: Json, *, test: str = WITNESS) -> Iterator[Json]:
        """Yield the documents that the program writes about a cluster. Raises WitnessProblem."""
        with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile("w+") as complaints:
            json.dump(document, given)
            given.seek(0)
            try:
                process = subprocess.Popen(
                    [self.path, *TEST_FLAGS, test],
                    stdin=given,
                    stdout=subprocess.PIPE,
                    stderr=complaints,
                    text=True,
                )
            except OSError as error:
                raise WitnessProblem(f"{self.path} cannot be run: {error.strerror}") from error
            other = []
            with process:
                assert process.stdout is not None
                try:
                    for line in process.stdout:
                        if line.startswith("{"):
                            yield json.loads(line)
                        else:
                            other.append(line)
                except GeneratorExit:
                    process.kill()
                    raise
            if process.returncode:
                complaints.seek(0)
                said = "".join([*other, *complaints][:SHOWN_LINES])
                raise WitnessProblem(f"{self.path} failed:\n{said}")


def find_witness(release: Release) -> Witness:
    """Return the built program of a release. Raises WitnessProblem."""
    path = Path(environment.text("KVIZ_ORACLE_DIR", str(CHECKOUT / ".oracle"))) / release.minor
    if not path.is_file():
        raise WitnessProblem(
            f"the real kube-scheduler of Kubernetes v{release.name} is not built: there is no "
            f"{path}. It takes Go 1.26 and, the first time, about 4 minutes: run\n"
            f"    make oracle RELEASE={release.minor}\n"
            "in a checkout of kviz (KVIZ_ORACLE_DIR names another folder of built programs)"
        )
    return Witness(path)
