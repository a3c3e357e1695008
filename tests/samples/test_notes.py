"""What the scenarios of samples and lessons note is said in every language."""

from __future__ import annotations

from kviz.lessons import enacting
from kviz.lessons.library import bundled_files
from kviz.lessons.reading import read_lesson
from kviz.runs.inputs import scenario_of
from kviz.samples.notes import KNOWN
from kviz.snapshots.samples import SAMPLES
from scheduler_core.wording import Text


def test_the_notes_of_samples_and_lessons_are_sentences_and_no_others() -> None:
    lessons = [enacting.scenario_of(read_lesson(path.read_text())) for path in bundled_files()]
    texts = [*(sample.scenario for sample in SAMPLES), *lessons]
    notes = [step.note for text in texts for step in scenario_of(text).steps if step.note]
    assert all(isinstance(note, Text) for note in notes), notes
    assert {str(note) for note in notes} == set(KNOWN)


def test_a_note_of_somebody_else_stays_as_it_is() -> None:
    (step,) = scenario_of("steps: [{at: 1s, note: My own, cordon: n1}]").steps
    assert step.note == "My own"
    assert not isinstance(step.note, Text)
