"""The sample clusters: small, our own, each teaching one thing.

`clusters/<slug>.yaml` is what `kubectl get ... -A -o yaml` prints, so a sample takes the same road
as an upload. A folder `clusters/<slug>` has the other inputs of its run. What the
pages say about them is in `samples.yaml`. No Django: commands read samples without a server.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from kviz.reference.form import Part, Prose, read_file

FOLDER: Final = Path(__file__).parent / "clusters"
FILE: Final = FOLDER.with_name("samples.yaml")


class Outcome(Part, frozen=True):
    """How the run of a sample ends: pods that got a node, that did not, that were evicted."""

    scheduled: int
    pending: int
    evicted: int = 0


class Sample(Part, frozen=True):
    """One sample cluster and the lesson it carries, in the order of the pages.

    `question` asks for a prediction before the run, `answer` stands behind it, and `start` is
    the pod (`namespace/name`) to look at first. A sample of a rare state says in `look` where it
    is seen, in `cycle`.
    """

    slug: str
    title: Prose
    teaches: Prose
    lesson: Prose
    question: Prose
    answer: Prose
    start: str
    outcome: Outcome
    look: Prose = Prose()
    cycle: int = 1

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.slug}.yaml"

    @property
    def config_path(self) -> Path | None:
        """What its run is configured with; None for the default profile."""
        return self._beside("config.yaml")

    @property
    def scenario_path(self) -> Path | None:
        """What happens during its run; None for nothing."""
        return self._beside("scenario.yaml")

    @property
    def scheduler_config(self) -> str:
        """The text of its configuration; empty for the default profile."""
        return _text(self.config_path)

    @property
    def scenario(self) -> str:
        """The text of its scenario; empty for nothing."""
        return _text(self.scenario_path)

    def _beside(self, name: str) -> Path | None:
        path = FOLDER / self.slug / name
        return path if path.is_file() else None


def _text(path: Path | None) -> str:
    return path.read_text(encoding="utf-8") if path else ""


@cache
def sample_texts() -> tuple[Sample, ...]:
    """Return the samples in English."""
    return read_file(FILE, tuple[Sample, ...])


def sample_named(slug: str) -> Sample | None:
    """The sample of that name, in English."""
    return next((each for each in sample_texts() if each.slug == slug), None)


def sample_at(path: Path) -> Sample | None:
    """The sample whose cluster a file is; None for any other file."""
    return sample_named(path.stem) if path.parent == FOLDER else None
