"""The sample clusters: small, our own, each teaching one thing.

Every `<slug>.yaml` beside this module is what `kubectl get ... -A -o yaml` prints, so a sample
takes the same road as an upload. A folder `<slug>` holds what its run is given beside the cluster.
What the pages say about them is in `samples.yaml`, one folder up.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from django.utils.translation import gettext_lazy

from kviz.reference.form import Part, Prose, read_file, with_prose

FOLDER: Final = Path(__file__).parent
FILE: Final = FOLDER.with_suffix(".yaml")


class Outcome(Part, frozen=True):
    """How the run of a sample ends: pods that got a node, that did not, that were evicted."""

    scheduled: int
    pending: int
    evicted: int = 0


class Sample(Part, frozen=True):
    """One sample cluster and the lesson it carries, in the order of the pages.

    `question` asks for a prediction before the run, `answer` stands behind it, and `start` is
    the pod (`namespace/name`) to look at first.
    """

    slug: str
    title: Prose
    teaches: Prose
    lesson: Prose
    question: Prose
    answer: Prose
    start: str
    outcome: Outcome

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.slug}.yaml"

    @property
    def scheduler_config(self) -> str:
        """What its run is configured with; empty for the default profile."""
        return self._text("config.yaml")

    @property
    def scenario(self) -> str:
        """What happens during its run; empty for nothing."""
        return self._text("scenario.yaml")

    def _text(self, name: str) -> str:
        path = FOLDER / self.slug / name
        return path.read_text(encoding="utf-8") if path.is_file() else ""


def sample_texts() -> tuple[Sample, ...]:
    """Return the samples in English."""
    return read_file(FILE, tuple[Sample, ...])


SAMPLES: Final = with_prose(sample_texts(), gettext_lazy)
_BY_SLUG = {sample.slug: sample for sample in SAMPLES}


def sample_named(name: str) -> Sample | None:
    """The sample a sample snapshot was made from: such a snapshot is named by the slug."""
    return _BY_SLUG.get(name)


GANGS: Final = _BY_SLUG["gangs"]
