"""The Helm chart, linted and rendered by Helm's own library."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import helm_python as helm
import pytest
import yaml

from kviz.clusters.rbac import READER_ROLE

ROOT = Path(__file__).parents[2]
CHART = ROOT / "deploy/helm/kviz"
GIVEN: dict[str, Any] = {
    "hosts": ["kviz.example.org"],
    "secretKey": "s3cret",
    "databaseUrl": "postgresql://kviz:pass@db:5432/kviz",
    "redisUrl": "redis://redis:6379/0",
}
EVERYTHING = {
    **GIVEN,
    "reader": {"enabled": True},
    "ingress": {"enabled": True, "className": "nginx", "tlsSecret": "kviz-tls"},
    "settings": {"KVIZ_MAX_UPLOAD_MIB": "128", "KVIZ_OIDC_ISSUER": "https://sso.example.org"},
    "oidcClientSecret": "0idc",
    "brokerUrl": "amqp://kviz:br0ker@rabbitmq:5672//",
    "metricsToken": "metr1cs",
    "image": {"pullSecrets": [{"name": "pull"}]},
    "networkPolicy": {"from": [{"namespaceSelector": {}}]},
    "nodeSelector": {"kubernetes.io/os": "linux"},
    "podAnnotations": {"team": "platform"},
}


@pytest.fixture(scope="module")
def chart() -> Iterator[helm.Chart]:
    with helm.Chart.load(str(CHART)) as loaded:
        yield loaded


def rendered(chart: helm.Chart, values: dict[str, Any]) -> list[Any]:
    files = chart.render(values, name="team", namespace="tools")
    return [
        document
        for name, text in files.items()
        if name.endswith(".yaml")
        for document in yaml.safe_load_all(text)
        if document
    ]


def of_kind(documents: list[Any], *kinds: str) -> list[Any]:
    return [document for document in documents if document["kind"] in kinds]


def pods(documents: list[Any]) -> list[Any]:
    return [found["spec"]["template"]["spec"] for found in of_kind(documents, "Deployment", "Job")]


def test_helm_finds_nothing_wrong() -> None:
    found = helm.lint(str(CHART))

    assert found["errors"] == []
    assert [m["error"] for m in found["messages"]] == ["icon is recommended"]


@pytest.mark.parametrize("missing", ["hosts", "secretKey", "databaseUrl", "redisUrl"])
def test_what_is_needed_is_asked_for(chart: helm.Chart, missing: str) -> None:
    with pytest.raises(helm.HelmRenderError, match=missing):
        rendered(chart, {key: value for key, value in GIVEN.items() if key != missing})


@pytest.mark.parametrize(
    "wrong",
    [
        {"databaseUrl": "mysql://db/kviz"},
        {"brokerUrl": "sqs://queue"},
        {"settings": {"PATH": "/"}},
        {"replicas": 3},
        {"web": {"replicas": "two"}},
    ],
    ids=str,
)
def test_values_that_make_no_sense_are_refused(chart: helm.Chart, wrong: dict[str, Any]) -> None:
    with pytest.raises(helm.HelmError):
        rendered(chart, {**GIVEN, **wrong})


def test_there_is_web_worker_and_a_migration_before_both(chart: helm.Chart) -> None:
    documents = rendered(chart, GIVEN)
    [job] = of_kind(documents, "Job")

    assert [pod["containers"][0]["args"][0] for pod in pods(documents)] == [
        "migrate",
        "serve",
        "worker",
    ]
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"


def test_every_pod_is_bound_hand_and_foot(chart: helm.Chart) -> None:
    for pod in pods(rendered(chart, EVERYTHING)):
        [container] = pod["containers"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["resources"]["limits"]["memory"]
        assert {mount["name"] for mount in container["volumeMounts"]} == {
            volume["name"] for volume in pod["volumes"]
        }


def test_probes_ask_what_kviz_answers(chart: helm.Chart) -> None:
    [web] = [pod for pod in pods(rendered(chart, GIVEN)) if "serve" in pod["containers"][0]["args"]]
    [container] = web["containers"]

    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"


def test_a_worker_that_gets_on_no_longer_fails_its_probe(chart: helm.Chart, tmp_path: Path) -> None:
    [container] = template_of(rendered(chart, GIVEN), "worker")["spec"]["containers"]
    env = {each["name"]: each.get("value") for each in container["env"]}
    file, alive = env["KVIZ_WORKER_ALIVE_FILE"], tmp_path / "alive"
    of_compose = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())["services"]["worker"]
    probes = [
        container["livenessProbe"]["exec"]["command"][-1],
        of_compose["healthcheck"]["test"][-1].replace("$$", "$"),
    ]
    assert of_compose["environment"]["KVIZ_WORKER_ALIVE_FILE"] == file

    def fails() -> list[bool]:
        commands = [["sh", "-c", probe.replace(file, str(alive))] for probe in probes]
        return [
            subprocess.run(each, check=False, stderr=subprocess.DEVNULL).returncode != 0
            for each in commands
        ]

    assert fails() == [True, True]
    alive.touch()
    assert fails() == [False, False]
    os.utime(alive, (0, 0))
    assert fails() == [True, True]


def template_of(documents: list[Any], part: str) -> Any:
    [found] = [
        each["spec"]["template"]
        for each in of_kind(documents, "Deployment")
        if each["metadata"]["name"].endswith(f"-{part}")
    ]
    return found


def test_a_pod_that_is_told_to_leave_serves_until_nobody_asks_it(chart: helm.Chart) -> None:
    web = template_of(rendered(chart, GIVEN), "web")["spec"]
    assert web["containers"][0]["lifecycle"]["preStop"]["exec"]["command"] == ["sleep", "5"]
    assert web["terminationGracePeriodSeconds"] > 30


def test_only_who_serves_may_read_the_cluster(chart: helm.Chart) -> None:
    documents = rendered(chart, EVERYTHING)
    web, worker = (template_of(documents, part)["spec"] for part in ("web", "worker"))
    [job] = of_kind(documents, "Job")

    assert web["automountServiceAccountToken"] is True
    assert "clusters" in [each["name"] for each in web["volumes"]]
    for pod in (worker, job["spec"]["template"]["spec"]):
        assert pod["automountServiceAccountToken"] is False
        assert [each["name"] for each in pod["volumes"]] == ["data", "tmp"]
        assert "KVIZ_CLUSTERS_FILE" not in str(pod)


def test_variables_of_a_service_are_no_settings(chart: helm.Chart) -> None:
    for pod in pods(rendered(chart, EVERYTHING)):
        assert pod["enableServiceLinks"] is False


@pytest.mark.parametrize("part", ["web", "worker"])
@pytest.mark.parametrize("secret", ["secretKey", "databaseUrl", "brokerUrl", "oidcClientSecret"])
def test_another_secret_starts_pods_again(chart: helm.Chart, part: str, secret: str) -> None:
    other = EVERYTHING | {secret: EVERYTHING[secret] + "2"}
    before, after = (
        template_of(rendered(chart, values), part)["metadata"]["annotations"]["checksum/settings"]
        for values in (EVERYTHING, other)
    )
    assert before != after


def test_metrics_of_workers_are_reached_where_they_are_asked_for(chart: helm.Chart) -> None:
    prometheus = {"namespaceSelector": {"matchLabels": {"team": "monitoring"}}}
    policy = {"metricsFrom": [prometheus]}
    more = {"worker": {"metricsPort": 9100}, "networkPolicy": policy}
    documents = rendered(chart, {**GIVEN, **more})
    [worker] = [
        found["spec"]["template"]
        for found in of_kind(documents, "Deployment")
        if found["metadata"]["name"].endswith("-worker")
    ]
    [container] = worker["spec"]["containers"]
    [allowed] = [
        found["spec"]
        for found in of_kind(documents, "NetworkPolicy")
        if found["metadata"]["name"].endswith("-worker")
    ]

    assert container["ports"] == [{"name": "metrics", "containerPort": 9100}]
    assert {"name": "KVIZ_WORKER_METRICS_PORT", "value": "9100"} in container["env"]
    assert worker["metadata"]["annotations"]["prometheus.io/port"] == "9100"
    assert worker["metadata"]["labels"].items() >= allowed["podSelector"]["matchLabels"].items()
    assert allowed["ingress"] == [
        {"ports": [{"port": "metrics", "protocol": "TCP"}], "from": [prometheus]}
    ]
    without = rendered(chart, GIVEN)
    assert "prometheus.io" not in str(without)
    assert [
        pod["containers"][0]["name"] for pod in pods(without) if "ports" in pod["containers"][0]
    ] == ["web"]
    assert len(of_kind(without, "NetworkPolicy")) == 2


def test_secrets_come_from_secrets_and_from_nowhere_else(chart: helm.Chart) -> None:
    documents = rendered(chart, EVERYTHING)
    elsewhere = [document for document in documents if document["kind"] != "Secret"]

    assert "s3cret" not in yaml.safe_dump(elsewhere)
    assert "pass@db" not in yaml.safe_dump(elsewhere)
    assert "0idc" not in yaml.safe_dump(elsewhere)
    assert "br0ker" not in yaml.safe_dump(elsewhere)
    assert "metr1cs" not in yaml.safe_dump(elsewhere)
    keys = [
        variable["valueFrom"]["secretKeyRef"]["key"]
        for pod in pods(documents)
        for variable in pod["containers"][0]["env"]
        if variable["name"] == "KVIZ_OIDC_CLIENT_SECRET"
    ]
    assert set(keys) == {"oidc-client-secret"}


def test_keys_that_a_secret_need_not_have_keep_no_pod_from_starting(chart: helm.Chart) -> None:
    documents = rendered(chart, {"hosts": ["kviz.example.org"], "existingSecret": "mine"})

    for pod in pods(documents):
        wanted = {
            variable["name"]: variable["valueFrom"]["secretKeyRef"].get("optional", False)
            for variable in pod["containers"][0]["env"]
            if "valueFrom" in variable
        }
        assert wanted == {
            "KVIZ_SECRET_KEY": False,
            "KVIZ_DATABASE_URL": False,
            "KVIZ_REDIS_URL": False,
            "KVIZ_CELERY_BROKER_URL": True,
            "KVIZ_METRICS_TOKEN": True,
        }


def test_what_the_settings_say_themselves_is_said_once(chart: helm.Chart) -> None:
    settings = {"KVIZ_METRICS_TOKEN": "open", "KVIZ_MAX_VARIANTS": "9"}

    for pod in pods(rendered(chart, {**EVERYTHING, "settings": settings})):
        names = [variable["name"] for variable in pod["containers"][0]["env"]]
        assert sorted(names) == sorted(set(names))


def test_without_postgresql_one_pod_keeps_its_data_in_a_volume(chart: helm.Chart) -> None:
    documents = rendered(chart, {"hosts": ["kviz.example.org"], "sqlite": {"enabled": True}})
    [claim] = of_kind(documents, "PersistentVolumeClaim")
    [web] = [found["spec"] for found in of_kind(documents, "Deployment", "Job")]
    pod = web["template"]["spec"]
    [container] = pod["containers"]

    assert (web["replicas"], web["strategy"]) == (1, {"type": "Recreate"})
    assert container["args"][-2:] == ["--workers", "1"]
    assert not {"KVIZ_DATABASE_URL", "KVIZ_REDIS_URL"} & {each["name"] for each in container["env"]}
    [data] = [volume for volume in pod["volumes"] if volume["name"] == "data"]
    assert data["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
    assert claim["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"
    assert of_kind(documents, "PodDisruptionBudget") == []


def test_a_volume_that_is_there_is_used(chart: helm.Chart) -> None:
    given = {"enabled": True, "existingClaim": "mine"}
    documents = rendered(chart, {"hosts": ["kviz.example.org"], "sqlite": given})
    [pod] = pods(documents)

    assert of_kind(documents, "PersistentVolumeClaim") == []
    assert {"claimName": "mine"} in [each.get("persistentVolumeClaim") for each in pod["volumes"]]


def test_a_secret_of_ones_own_is_used_by_all(chart: helm.Chart) -> None:
    documents = rendered(chart, {"hosts": ["kviz.example.org"], "existingSecret": "mine"})
    names = {
        variable["valueFrom"]["secretKeyRef"]["name"]
        for pod in pods(documents)
        for variable in pod["containers"][0]["env"]
        if "valueFrom" in variable
    }

    assert of_kind(documents, "Secret") == []
    assert names == {"mine"}


def test_the_reader_role_is_the_one_that_kviz_prints(chart: helm.Chart) -> None:
    [role] = of_kind(rendered(chart, EVERYTHING), "ClusterRole")
    printed = yaml.safe_load(READER_ROLE)

    assert role["rules"] == printed["rules"]
    assert (CHART / "files/kviz-reader.yaml").read_text() == READER_ROLE
    assert of_kind(rendered(chart, GIVEN), "ClusterRole", "ClusterRoleBinding") == []


def test_what_is_not_web_lets_nobody_in(chart: helm.Chart) -> None:
    policies = of_kind(rendered(chart, GIVEN), "NetworkPolicy")
    everyone, web = sorted(policies, key=lambda policy: len(policy["metadata"]["name"]))

    assert everyone["spec"]["policyTypes"] == ["Ingress", "Egress"]
    assert "ingress" not in everyone["spec"]
    assert web["spec"]["podSelector"]["matchLabels"]["app.kubernetes.io/component"] == "web"


def test_the_chart_is_of_this_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = yaml.safe_load((CHART / "Chart.yaml").read_text())

    assert named["appVersion"] == project["version"]


@pytest.mark.parametrize("file", ["deploy/compose.yaml", "deploy/Containerfile", "chart"])
def test_every_setting_is_one_that_the_documents_know(chart: helm.Chart, file: str) -> None:
    known = (ROOT / "docs/operation.md").read_text()
    text = (
        yaml.safe_dump(rendered(chart, EVERYTHING))
        if file == "chart"
        else (ROOT / file).read_text()
    )
    named = set(re.findall(r"KVIZ_[A-Z_]+(?=[:=\n])", text))

    assert named
    assert [name for name in sorted(named) if f"`{name}`" not in known] == []


def test_the_image_is_made_of_files_that_are_there() -> None:
    steps = (ROOT / "deploy/Containerfile").read_text().replace("\\\n", " ").splitlines()
    copied = [
        source
        for step in steps
        if step.startswith("COPY ") and "--from" not in step
        for source in step.split()[1:-1]
    ]
    allowed = (ROOT / "deploy/Containerfile.dockerignore").read_text().splitlines()

    assert [source for source in copied if not (ROOT / source).exists()] == []
    assert [
        name
        for name in (line[1:] for line in allowed if line.startswith("!"))
        if not (ROOT / name).exists()
    ] == []
    assert "USER 10001:10001" in steps
    assert any("/healthz" in step for step in steps)


def test_compose_starts_nothing_that_may_write_where_it_likes() -> None:
    services = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())["services"]

    for name in ("migrate", "web", "worker"):
        assert services[name]["read_only"] is True
        assert services[name]["cap_drop"] == ["ALL"]


def test_compose_takes_no_capability_that_an_entry_point_needs() -> None:
    """Those of Redis and PostgreSQL begin as root and become another user, unless told who."""
    services = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())["services"]
    bound = [name for name, service in services.items() if service.get("cap_drop") == ["ALL"]]

    assert set(bound) == {"migrate", "web", "worker", "redis"}
    assert services["redis"]["user"] == "redis"


def test_compose_gives_all_processes_one_broker_beside_the_hints() -> None:
    services = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())["services"]
    [settings] = {yaml.safe_dump(services[name]["environment"]) for name in ("web", "worker")}
    named = yaml.safe_load(settings)

    assert named["KVIZ_CELERY_BROKER_URL"] != named["KVIZ_REDIS_URL"]
    assert named["KVIZ_CELERY_BROKER_URL"].startswith("redis://redis:6379/")
