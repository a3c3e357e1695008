"""The scheduler's configuration out of ConfigMaps: asked for by name, and told to be a guess."""

from __future__ import annotations

import json

import pytest

from kviz.clusters.reading.problems import Forbidden, NotFound
from kviz.clusters.scheduler_config import NAMES, GuessedConfig, NoConfiguration, guess_config
from scheduler_core.config import FeatureGates
from scheduler_core.releases import LATEST

CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: packer
"""
KUBEADM = "kube-system/kubeadm-config"

GATES = FeatureGates()


class ConfigMaps:
    """An API server's ConfigMaps; those of `secret` may not be read."""

    def __init__(self, maps: dict[str, dict[str, str]], secret: tuple[str, ...] = ()) -> None:
        self.maps, self.secret = maps, secret
        self.asked: list[str] = []

    def get(self, path: str) -> bytes:
        _, _, _, namespace, kind, name = path.strip("/").split("/")
        assert kind == "configmaps"
        self.asked.append(f"{namespace}/{name}")
        if self.asked[-1] in self.secret:
            raise Forbidden(403, f"configmaps {name!r} is forbidden")
        if self.asked[-1] not in self.maps:
            raise NotFound(404, f"configmaps {name!r} not found")
        return json.dumps({"kind": "ConfigMap", "data": self.maps[self.asked[-1]]}).encode()


def test_a_configuration_is_found_whatever_its_key_and_said_to_be_a_guess() -> None:
    maps = {"kube-system/scheduler-config": {"README": "see below", "packer.yaml": CONFIG}}
    found = guess_config(ConfigMaps(maps, secret=NAMES[:1]), GATES)
    assert found.text == CONFIG
    assert found.origin == "Guessed from ConfigMap kube-system/scheduler-config, packer.yaml."


def test_one_that_is_wrong_is_passed_over() -> None:
    wrong = CONFIG.replace("schedulerName", "schedulerNam")
    maps = {
        "kube-system/kube-scheduler": {"config.yaml": wrong},
        "openshift-kube-scheduler/config": {"config.yaml": CONFIG},
    }
    assert guess_config(ConfigMaps(maps), GATES).text == CONFIG


@pytest.mark.parametrize(
    ("scheduler", "said"),
    [
        ("{}", "gives the scheduler no --config"),
        ("{extraArgs: {config: /etc/x.yaml}}", "--config=/etc/x.yaml: kviz cannot read"),
        ("{extraArgs: [{name: v, value: '2'}, {name: config, value: /y}]}", "--config=/y: kviz"),
    ],
)
def test_kubeadm_says_with_which_arguments_it_starts_the_scheduler(
    scheduler: str, said: str
) -> None:
    text = f"apiVersion: kubeadm.k8s.io/v1beta4\nscheduler: {scheduler}\n"
    found = guess_config(ConfigMaps({KUBEADM: {"ClusterConfiguration": text}}), GATES)
    assert found.text == ""
    assert said in found.origin


def test_without_rights_nothing_is_said_and_only_names_are_asked_for() -> None:
    maps = ConfigMaps({}, secret=NAMES)
    assert guess_config(maps, GATES) == GuessedConfig()
    assert maps.asked == list(NAMES)


def test_the_one_that_is_named_has_to_have_it() -> None:
    maps = ConfigMaps({"team/sched": {"a": CONFIG}, "team/else": {"a": "b"}}, secret=("team/no",))
    assert guess_config(maps, GATES, "team/sched").origin == "From ConfigMap team/sched, a."
    with pytest.raises(NoConfiguration, match="has no KubeSchedulerConfiguration"):
        guess_config(maps, GATES, "team/else")
    with pytest.raises(NoConfiguration, match="write NAMESPACE/NAME"):
        guess_config(maps, GATES, "sched")
    with pytest.raises(Forbidden):
        guess_config(maps, GATES, "team/no")
    assert KUBEADM not in maps.asked


def test_a_configuration_is_one_of_the_clusters_release() -> None:
    shape = "{shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]}"
    args = f"- pluginConfig: [{{name: VolumeBinding, args: {shape}}}]"
    text = f"{CONFIG.partition('profiles:')[0]}profiles:\n{args}\n"
    maps = ConfigMaps({NAMES[0]: {"a": text}})
    assert guess_config(maps, GATES) == GuessedConfig()
    assert guess_config(maps, FeatureGates((), LATEST)).text == text
