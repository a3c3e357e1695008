"""The run that a place opens: that of a sample, of a lesson, or of a cluster of the file."""

from __future__ import annotations

import msgspec

from kviz.companion.reading import Place, Reading, Setting
from kviz.lessons.lesson import Cluster, Lesson
from kviz.lessons.library import Library
from kviz.reference.form import Prose


class NoSuchLesson(LookupError):
    """A place is in the run of a lesson that there is not."""


def staged(place: Place, reading: Reading, lessons: Library) -> Lesson:
    """Return what a place's run is made of, as a lesson without steps that hides nothing.

    Raises NoSuchLesson.
    """
    if place.lesson:
        found = lessons.get(place.lesson)
        if found is None:
            raise NoSuchLesson(place.lesson)
        return msgspec.structs.replace(found.lesson, hidden_after=None, veil=None)
    setting = Setting(title=Prose(), sample=place.sample)
    if place.cluster:
        setting = reading.clusters[place.cluster]
    return Lesson(
        title=str(setting.title),
        about="",
        minutes=1,
        cluster=Cluster(sample=setting.sample, objects=setting.objects),
        steps=(),
        scheduler_config=setting.scheduler_config,
        scenario=setting.scenario,
        release=setting.release,
    )
