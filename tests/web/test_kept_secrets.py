"""What people type is kept without its secrets, and comes out nowhere."""

from __future__ import annotations

import io
import json
import logging

import msgspec
import pytest
import yaml
from django.test import Client

from kviz.run_file import Inputs, read_records
from kviz.runs import services
from kviz.runs.models import Run
from kviz.without_secrets import plain_without_secrets, without_secrets
from scheduler_core.config.source import MAX_BYTES
from tests.web.cast import API, Person, problem
from tests.web.test_saved_runs import body, joined, opened, records, saved

SECRET = "hunter2-do-not-tell"
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "late",
        "namespace": "shop",
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": SECRET},
    },
    "spec": {
        "containers": [
            {"name": "c", "args": ["--password", SECRET], "env": [{"name": "P", "value": SECRET}]}
        ]
    },
}
SCENARIO = {"description": "one more", "steps": [{"at": "1s", "create": [POD]}]}
MERGE = {"spec": {"containers": [{"name": "c", "env": [{"name": "P", "value": SECRET}]}]}}
PATCH = {"patch": {"kind": "Pod", "namespace": "shop", "name": "web-0", "merge": MERGE}}
BLOCK = f"""\
steps:
- at: 1s
  create:
  - apiVersion: v1
    kind: Pod
    metadata: {{name: late, namespace: shop}}
    spec:
      containers:
      - name: c
        command: [sh, -c, '{SECRET}']
        env: # what it is told
        - name: A
          value: |
            {SECRET}
            {SECRET}
        - {{name: B, value: "{SECRET}"}}
        - name: C
          value: {SECRET}
        resources: {{requests: {{cpu: 1}}}}
"""


def extender(url: str = "http://127.0.0.1:9", **tls: str) -> str:
    return json.dumps(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "extenders": [
                {"urlPrefix": url, "filterVerb": "f", "ignorable": True, "tlsConfig": tls}
            ],
        },
        indent=1,
    )


@pytest.mark.parametrize(
    "text",
    [
        BLOCK,
        json.dumps(SCENARIO),
        json.dumps(SCENARIO, indent="\t"),
        yaml.safe_dump(SCENARIO),
        f"{yaml.safe_dump(POD)}---\nkind: Secret\nstringData: {{p: {SECRET}}}\n",
        extender(f"https://user:{SECRET}@host/x"),
    ],
    ids=["block", "json", "tabs", "yaml", "documents", "address"],
)
def test_a_text_is_written_over_where_a_secret_stands(text: str) -> None:
    kept = without_secrets(text)
    assert SECRET not in kept
    assert [list(each) for each in yaml.safe_load_all(kept.replace("\t", " "))] == [
        list(each) for each in yaml.safe_load_all(text.replace("\t", " "))
    ]
    assert without_secrets(kept) == kept


def test_all_else_stays_as_it_is() -> None:
    kept = without_secrets(BLOCK)
    assert "env: # what it is told" in kept
    assert "resources: {requests: {cpu: 1}}" in kept
    plain = "steps:\n- at: 1s\n  cordon: {node: north} # args\n"
    assert without_secrets(plain) == plain
    assert without_secrets("{ not: [yaml, env") == "{ not: [yaml, env"
    assert plain_without_secrets({"seed": 5}) == {"seed": 5}


def doubling(levels: int) -> str:
    """A few hundred bytes of YAML whose key is a list of 9 to the power of `levels` texts."""
    lines = [f"a{i + 1}: &a{i + 1} [{', '.join([f'*a{i}'] * 9)}]" for i in range(levels)]
    return "\n".join(["env: x", "a0: &a0 [x]", *lines, f"? *a{levels}", ": 1", ""])


def test_a_small_text_that_means_a_huge_one_is_not_written_out(ada: Person) -> None:
    bomb = doubling(12)  # it took memory and time without end
    assert without_secrets(bomb) == bomb
    template = {"manifest": bomb, "weight": 0}
    asked = {"kind": "capacity", "asked": {"templates": [template]}}
    snapshot = str(ada.snapshot().pk)
    problem(ada.post("/experiments/", {"snapshot": snapshot, **asked}), 400)


def test_a_text_longer_than_any_that_is_read_is_not_looked_through() -> None:
    text = "env: x\n" + "# " * MAX_BYTES
    assert without_secrets(text) == "(removed)"
    assert without_secrets(text[7:]) == text[7:]


def test_a_secret_within_a_secret_is_written_over_once() -> None:
    kept = without_secrets(f"args: [{{env: [{{name: A, value: {SECRET}}}]}}, --x]\nname: c\n")
    assert kept == 'args: ["(removed)", "(removed)"]\nname: c\n'


def test_both_of_two_equal_keys_are_written_over() -> None:
    env = f"env: [{{name: A, value: {SECRET}}}]"
    assert SECRET not in without_secrets(f"{env}\n{env}\n")


def outputs_of(person: Person, run: Run) -> dict[str, bytes]:
    """All that can be read of a run, by address."""
    browser = Client()
    run_api = f"{API}/runs/{run.pk}/"
    pages = [f"/runs/{run.pk}", f"/runs/{run.pk}/differently", f"/runs/{run.pk}/cycles"]
    pages += [f"/runs/new?run={run.pk}", f"/runs/{run.pk}/explore"]
    api = [run_api, f"{run_api}page/", f"{run_api}metrics/", f"{run_api}cycles/1/"]
    found = {path: browser.get(path) for path in [*pages, *api]}
    assert {answer.status_code for answer in found.values()} <= {200, 503}  # not built: no page
    read = {
        path: body(answer) if getattr(answer, "streaming", False) else answer.content
        for path, answer in found.items()
    }
    read["file"] = b"".join(msg for msg in _unpacked(saved(run)))
    return read


def _unpacked(file: bytes) -> list[bytes]:
    """What a run file says of what it was made of."""
    inputs = next(read_records(io.BytesIO(file)))
    assert isinstance(inputs, Inputs)
    texts = [inputs.scenario, inputs.scheduler_config, *(each.change for each in inputs.changes)]
    return [file, *(text.encode() for text in texts)]


@pytest.mark.parametrize("scenario", [BLOCK, json.dumps(SCENARIO)], ids=["yaml", "json"])
def test_no_output_of_a_run_has_what_was_typed_into_it(
    owner: Person, scenario: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    parent = owner.finished(scenario=scenario)
    asked = {"parent": str(parent.pk), "changes": [PATCH], "cycle": 0}
    variant = Run.objects.get(pk=owner.post("/runs/", asked).json()["id"])

    for run in (parent, variant):
        if run == variant:
            services.run_cancel(run=run)
            run.refresh_from_db()
        row = Run.objects.filter(pk=run.pk).values().get()
        assert SECRET not in str(row)
    for path, said in outputs_of(owner, parent).items():
        assert SECRET.encode() not in said, path
    assert SECRET not in caplog.text


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (extender(f"http://user:{SECRET}@127.0.0.1:9"), "a name and a password"),
        (extender("https://127.0.0.1:9", certData="Y2VydA==", keyData="aHVudGVyMg=="), "private"),
    ],
    ids=["address", "key"],
)
def test_a_configuration_with_a_secret_is_refused_at_its_line(
    ada: Person, config: str, said: str
) -> None:
    asked = {"snapshot": str(ada.snapshot().pk), "scheduler_config": config}
    refused = problem(ada.post("/runs/", asked), 400)
    [error] = refused["errors"]
    assert said in error["message"]
    assert error["line"] > 1
    assert SECRET not in json.dumps(refused)
    assert not Run.objects.exists()


def test_a_file_that_brings_secrets_is_kept_without_them(ada: Person) -> None:
    inputs, *rest = records(saved(ada.finished()))
    assert isinstance(inputs, Inputs)
    config = extender(f"http://u:{SECRET}@127.0.0.1:9", certData="Y2VydA==", keyData="aHVudGVyMg==")
    told = msgspec.structs.replace(inputs, scheduler_config=config, scenario=BLOCK)

    run = Run.objects.get(pk=opened(ada, joined(told, *rest)).json()["id"])

    row = Run.objects.filter(pk=run.pk).values().get()
    assert SECRET not in str(row)
    assert "aHVudGVyMg==" not in str(row)
