import pytest

from scheduler_core.framework.resource_names import (
    is_counted,
    is_extended_resource_name,
    is_scalar_resource_name,
)


@pytest.mark.parametrize(
    ("name", "extended", "scalar", "counted"),
    [
        ("cpu", False, False, True),
        ("memory", False, False, True),
        ("ephemeral-storage", False, False, True),
        ("pods", False, False, False),
        ("storage", False, False, False),
        ("example.com/gpu", True, True, True),
        ("requests.example.com/gpu", False, False, False),
        ("kubernetes.io/something", False, True, True),
        ("sub.kubernetes.io/something", False, True, True),
        ("hugepages-2Mi", False, True, True),
        ("attachable-volumes-aws-ebs", False, True, True),
        ("example.com/two/slashes", False, False, False),
        ("example.com/", False, False, False),
        ("example.com/" + "a" * 64, False, False, False),
    ],
)
def test_kinds_of_resource_names(name: str, extended: bool, scalar: bool, counted: bool) -> None:
    assert is_extended_resource_name(name) is extended
    assert is_scalar_resource_name(name) is scalar
    assert is_counted(name) is counted
