import pytest

from scheduler_core.api import ObjectMeta, Pod, PriorityClass
from scheduler_core.api.errors import FieldError
from scheduler_core.api.priority import PriorityClasses, UnknownPriorityClassError
from scheduler_core.api.validate import validate
from tests.builders import make_pod


def named_class(name: str, value: int, **fields: object) -> PriorityClass:
    return PriorityClass(metadata=ObjectMeta(name=name), value=value, **fields)  # type: ignore[arg-type]


def asking(name: str = "", priority: int | None = None, policy: str = "") -> Pod:
    pod = make_pod("p").priority_class(name).priority(priority)
    return pod.preemption_policy(policy).obj()


def settled(pod: Pod) -> tuple[int | None, str, str]:
    return pod.spec.priority, pod.spec.priority_class_name, pod.spec.preemption_policy


HIGH = named_class("high", 1000)
PATIENT = named_class("patient", 500, preemption_policy="Never")
USUAL = named_class("usual", 10, global_default=True)
LOWER_USUAL = named_class("lower-usual", 5, global_default=True)


def test_a_pod_with_a_priority_is_left_alone() -> None:
    pod = asking("gone", priority=7)
    assert PriorityClasses([HIGH]).resolve(pod) is pod


@pytest.mark.parametrize(
    ("name", "value", "policy"),
    [
        ("high", 1000, "PreemptLowerPriority"),
        ("patient", 500, "Never"),
        ("system-cluster-critical", 2_000_000_000, "PreemptLowerPriority"),
        ("system-node-critical", 2_000_001_000, "PreemptLowerPriority"),
    ],
)
def test_named_classes(name: str, value: int, policy: str) -> None:
    classes = PriorityClasses([HIGH, PATIENT, USUAL])
    assert settled(classes.resolve(asking(name))) == (value, name, policy)


def test_a_pod_that_names_no_class_gets_the_default_one() -> None:
    pod = PriorityClasses([HIGH, USUAL]).resolve(asking())
    assert settled(pod) == (10, "usual", "PreemptLowerPriority")


def test_without_a_default_class_the_priority_is_zero() -> None:
    assert settled(PriorityClasses([HIGH]).resolve(asking())) == (0, "", "PreemptLowerPriority")
    assert settled(PriorityClasses().resolve(asking(policy="Never"))) == (0, "", "Never")


def test_of_two_default_classes_the_lower_one_counts() -> None:
    assert settled(PriorityClasses([USUAL, LOWER_USUAL]).resolve(asking()))[0] == 5


def test_an_unknown_class() -> None:
    with pytest.raises(UnknownPriorityClassError, match="with name gone was found"):
        PriorityClasses([HIGH]).resolve(asking("gone"))


@pytest.mark.parametrize(
    ("name", "value", "refused"),
    [
        ("high", 1_000_000_000, False),
        ("high", 1_000_000_001, True),
        ("system-node-critical", 2_000_001_000, False),
    ],
)
def test_a_class_above_a_billion_is_the_systems_alone(name: str, value: int, refused: bool) -> None:
    found = named_class(name, value)
    if not refused:
        validate(found)
        return
    with pytest.raises(FieldError, match="may be at most 1,000,000,000"):
        validate(found)
