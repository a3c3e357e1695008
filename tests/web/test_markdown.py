"""Why a pod is pending as a text for a ticket: the same text as the command line prints."""

from __future__ import annotations

import pytest

from kviz.cli import main
from kviz.runs.models import Run
from kviz.samples import FOLDER
from tests.web.cast import CLUSTER, Person, pod, problem

CLINIC = FOLDER / "why-pending.yaml"


@pytest.fixture
def clinic(ada: Person) -> Run:
    return ada.finished(CLINIC.read_text())


def served(person: Person, run: Run, key: str, query: str = "") -> str:
    answer = person.get(f"/runs/{run.pk}/pods/{key}/why/markdown/{query}")
    assert answer.status_code == 200, answer.content
    assert answer["Content-Type"] == "text/markdown; charset=utf-8"
    return str(answer.content.decode())


def printed(capsys: pytest.CaptureFixture[str], key: str) -> str:
    capsys.readouterr()
    assert main(["explain", str(CLINIC), "--pod", key, "--format", "markdown"]) == 0
    return capsys.readouterr().out


def test_it_is_what_the_command_prints(
    ada: Person, clinic: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    pending = clinic.pod_outcomes.filter(node="", deleted=False)
    keys = sorted(pending.values_list("pod", flat=True))
    assert len(keys) >= 12
    differing = [key for key in keys if served(ada, clinic, key) != printed(capsys, key)]
    assert differing == []


def test_one_cycle_of_a_pod(ada: Person) -> None:
    run = ada.finished(CLUSTER)
    cycles = ada.get(f"/runs/{run.pk}/cycles/").json()["cycles"]
    giant = next(each["cycle"] for each in cycles if each["pod"] == "shop/giant")
    text = served(ada, run, "shop/giant", f"?cycle={giant}")
    assert text.startswith("**shop/giant** needs 64 cpu, the whole node has")
    assert text.endswith(f"\nKubernetes v{run.release_text}\n")
    problem(ada.get(f"/runs/{run.pk}/pods/shop/web-0/why/markdown/?cycle={giant}"), 404)
    problem(ada.get(f"/runs/{run.pk}/pods/shop/giant/why/markdown/?cycle=x"), 400)


def test_pods_that_are_not_pending_and_that_were_never_tried(ada: Person, ben: Person) -> None:
    other = pod("other", "1", schedulerName="elsewhere")
    run = ada.finished(CLUSTER + other)
    assert served(ada, run, "shop/old").startswith(
        "**shop/old** It is not pending: it is on node north."
    )
    gated = "**shop/gated** is held back by the scheduling gate later"
    assert served(ada, run, "shop/gated").startswith(gated)
    assert "asks for scheduler elsewhere" in served(ada, run, "shop/other")
    problem(ada.get(f"/runs/{run.pk}/pods/shop/nobody/why/markdown/"), 404)
    problem(ben.get(f"/runs/{run.pk}/pods/shop/giant/why/markdown/"), 404)


def test_a_run_of_a_release_that_is_not_known_is_refused_with_the_reason(
    ada: Person, clinic: Run
) -> None:
    Run.objects.filter(pk=clinic.pk).update(release="9.99")
    pending = clinic.pod_outcomes.filter(node="", last_cycle__gt=0).order_by("pod")[0]
    why = problem(ada.get(f"/runs/{clinic.pk}/pods/{pending.pod}/why/markdown/"), 409)
    assert "This run follows Kubernetes v9.99" in why["detail"]
    bound = clinic.pod_outcomes.exclude(node="").order_by("pod")[0]
    problem(ada.get(f"/runs/{clinic.pk}/pods/{bound.pod}/why/markdown/"), 409)
