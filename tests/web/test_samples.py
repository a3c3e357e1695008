"""The sample clusters are what they say they are."""

import re

import pytest
import yaml

from kviz.samples import FOLDER, Sample
from kviz.snapshots.samples import SAMPLES


def items_of(sample: Sample) -> list[dict[str, object]]:
    document = yaml.safe_load(sample.path.read_text(encoding="utf-8"))
    assert document["kind"] == "List"
    return list(document["items"])


def test_every_file_has_its_lesson() -> None:
    assert {path.stem for path in FOLDER.glob("*.yaml")} == {sample.slug for sample in SAMPLES}


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.slug)
def test_the_pod_to_look_at_first_is_in_the_cluster(sample: Sample) -> None:
    pods = [item["metadata"] for item in items_of(sample) if item["kind"] == "Pod"]
    names = {f"{pod['namespace']}/{pod['name']}" for pod in pods}  # type: ignore[index]
    assert sample.start in names


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.slug)
def test_names_in_the_texts_exist_in_the_cluster(sample: Sample) -> None:
    """Texts name pods as `something-0`; a renamed pod must not leave its lesson behind."""
    words = " ".join(map(str, (sample.look, sample.lesson, sample.question, sample.answer)))
    named = {word.strip(".,:;") for word in words.split() if word.strip(".,:;")[-2:-1] == "-"}
    known = {str(item["metadata"]["name"]) for item in items_of(sample)}  # type: ignore[index]
    later = set(re.findall(r"name: ([\w-]+)", sample.scenario))
    assert named <= known | later


def test_the_gpu_cluster_is_the_use_case_it_stands_for() -> None:
    [sample] = [sample for sample in SAMPLES if sample.slug == "gpu-pool"]
    nodes = [item for item in items_of(sample) if item["kind"] == "Node"]
    gpus = [node["status"]["allocatable"].get("nvidia.com/gpu", "0") for node in nodes]  # type: ignore[index]
    assert sorted(gpus) == ["0"] * 9 + ["4"] * 6
