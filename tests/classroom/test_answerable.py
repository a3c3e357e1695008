"""Every question of every lesson can be answered from what the class's picture shows.

For each kind of fact this says which values its answer is computed from, and finds them in the
document that the class is sent before the answer is revealed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from django.test import Client

from kviz.lessons.enacting import Enacted, enact
from kviz.lessons.lesson import Fact, Question
from kviz.lessons.library import StoredLesson
from kviz.lessons.selectors import lessons
from kviz.snapshots.services import samples_load
from tests.classroom.people import ASKS, RIGHT, SLUG, open_lesson, work

KNOWLEDGE = {
    ("one-pods-way", "In which order does a pod pass these stations?"),
    ("scores", "In which order does a pod come to these points?"),
    ("ties", "In how many of 100 runs does web/sidecar-free-0 come to twin-1?"),
}
"""Questions of pure knowledge: the picture of a cluster has no answer to them."""

Drawn = Mapping[str, Any]


@pytest.mark.parametrize("slug", [each.slug for each in lessons().lessons])
def test_the_picture_shows_what_the_answer_is_computed_from(db: None, slug: str) -> None:
    samples_load()
    stored = lessons().get(slug)
    assert stored is not None
    lesson, run = open_lesson(slug), enact(stored.lesson)
    for number, step in enumerate(stored.lesson.steps, start=1):
        lesson.lead("go", step=number)
        if step.question and (slug, step.question.ask) not in KNOWLEDGE:
            lacking = missing(
                step.question, lesson.seen["picture"], changed(stored, step.question, run)
            )
            assert not lacking, (number, step.question.ask, lacking)
            if (cycle := step.question.fact.cycle) and lesson.seen["picture"]["pod"]:
                asked = run.document(cycle)["pod"]
                assert lesson.seen["picture"]["pod"]["name"] == asked, (number, step.question.ask)
        lesson.lead("reveal")


def test_who_learns_alone_sees_the_picture_of_the_class(db: None) -> None:
    samples_load()
    lesson, alone = open_lesson(), Client()
    alone.post(f"/learn/{SLUG}/begin")
    work()
    alone.post(f"/learn/{SLUG}/1/next")
    lesson.lead("go", step=ASKS)
    hidden, in_class = drawn_alone(alone), lesson.seen["picture"]
    alone.post(f"/learn/{SLUG}/{ASKS}/answer", {"answer": RIGHT})
    lesson.lead("reveal")
    assert hidden == in_class
    assert drawn_alone(alone) == lesson.seen["picture"] != hidden


def drawn_alone(who: Client) -> Drawn:
    page = who.get(f"/learn/{SLUG}/{ASKS}").content.decode()
    found: Drawn = json.loads(
        page.split('<script id="picture" type="application/json">')[1].split("</script>")[0]
    )
    return found


def changed(stored: StoredLesson, question: Question, run: Enacted) -> Enacted:
    after = question.fact.after
    return enact(stored.lesson, after) if after else run


def missing(question: Question, picture: Drawn, run: Enacted) -> list[str]:
    """What the answer is computed from and the picture does not have."""
    fact = question.fact
    way = (fact.value,) if isinstance(fact.value, str) else fact.value
    match way[0]:
        case "order_tried" | "pod":
            waits = {each["name"]: each["priority"] for each in picture["waiting"]}
            return [each.value for each in question.options if waits.get(each.value) is None]
        case "attempts":
            seen = {each["pod"] for each in (*picture["history"], *named(picture["waiting"]))}
            return [] if fact.pod in seen else [f"{fact.pod} in the history or the queue"]
        case "asked":
            return [] if picture["events"] else ["what happens later"]
        case "bound" | "pending" | "cycles":
            lacks = [] if picture["waiting"] else ["the waiting pods"]
            return lacks + [each["name"] for each in picture["waiting"] if not each["requests"]]
        case "scores" if not fact.after:
            found = {each["plugin"] for node in picture["nodes"] for each in node["scores"]}
            return [] if way[1] in found else [str(way[1])]
        case "totals" | "n_tied" | "scores":
            return missing_scores(fact, picture, run)
        case "victims" | "nominated_node":
            lacks = [each["name"] for each in pods(picture) if each["priority"] is None]
            return lacks + missing_pod(picture) + missing_pods(fact, picture, run)
    if fact.pod:
        lacks = missing_pod(picture)
        return lacks if picture["waiting"] or not fact.after else [*lacks, "the waiting pods"]
    return missing_pod(picture) + missing_verdicts(fact, picture, run)


def named(waiting: list[Drawn]) -> list[Drawn]:
    return [{"pod": each["name"]} for each in waiting]


def pods(picture: Drawn) -> list[Drawn]:
    return [pod for node in picture["nodes"] for pod in node["pods"]]


def missing_pod(picture: Drawn) -> list[str]:
    return [] if picture["pod"] else ["the pod in question"]


def missing_scores(fact: Fact, picture: Drawn, run: Enacted) -> list[str]:
    """Points and weights that add up to the totals, once a cycle has them; else the weights."""
    totals = run.document(fact.cycle)["totals"]
    nodes = {each["name"]: each for each in picture["nodes"]}
    if not any(node["scores"] for node in nodes.values()):
        return [] if "resources" in picture["kinds"] else ["scores"]
    sums = {
        name: sum(each["points"] * each["weight"] for each in nodes[name]["scores"])
        for name in totals
    }
    return [f"{name}: {sums[name]}" for name in totals if sums[name] != totals[name]]


def missing_pods(fact: Fact, picture: Drawn, run: Enacted) -> list[str]:
    victims = run.document(fact.cycle)["preemption"]
    shown = {each["name"] for each in pods(picture) if each["requests"]}
    wanted = victims["victims"] if victims else []
    return [name for name in wanted if name.split("/")[1] not in shown]


def missing_verdicts(fact: Fact, picture: Drawn, run: Enacted) -> list[str]:
    """Nodes that the engine rejects, and the picture does not show why."""
    nodes = {each["name"]: each for each in picture["nodes"]}
    found = run.document(fact.cycle)["filter"]
    way = fact.value if isinstance(fact.value, tuple) else ()
    only = str(way[1]) if way[:1] == ("rejected_by",) else ""
    return [
        f"{name}: {status['plugin']}"
        for name, status in found.items()
        if (not only or status["plugin"] == only)
        and not explains(status["plugin"], nodes[name], picture)
    ]


def explains(plugin: str, node: Drawn, picture: Drawn) -> bool:
    """Whether the values behind a plugin's verdict are there."""
    pod, nodes = picture["pod"], picture["nodes"]
    held = [each for each in picture["waiting"] if each["held_on"] == node["name"]]
    match plugin:
        case "NodeResourcesFit":
            short = [n for n, (free, _) in node["room"].items() if free < pod["requests"].get(n, 0)]
            return bool(short or "pods" in node["room"] or held)
        case "TaintToleration" | "NodeUnschedulable":
            return node["is_cordoned"] or any(not each["is_soft"] for each in node["taints"])
        case "NodeAffinity":
            return bool(pod["asks"]) and any(each["labels"] for each in nodes)
        case "InterPodAffinity" | "PodTopologySpread":
            near = [each for each in pods(picture) if each["labels"] or each["asks"]]
            return bool(near) and bool(pod["asks"] or any(each["asks"] for each in near))
        case "VolumeBinding" | "DynamicResources":
            return bool(pod["asks"]) and any(each["holds"] for each in nodes)
    return False
