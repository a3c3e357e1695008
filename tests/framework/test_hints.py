import pytest

from scheduler_core.api import Node, Pod
from scheduler_core.framework.event_objects import expect, expect_or_none, queue_if
from scheduler_core.framework.events import QueueingHint


def test_objects_of_an_event_have_their_type() -> None:
    node = Node()
    assert expect(Node, node) is node
    assert expect_or_none(Node, node) is node
    assert expect_or_none(Node, None) is None


@pytest.mark.parametrize("wrong", [Pod(), None, "node"])
def test_an_object_of_another_type_is_an_error(wrong: Pod | str | None) -> None:
    with pytest.raises(TypeError, match="expected Node, got"):
        expect(Node, wrong)


def test_hints() -> None:
    assert queue_if(True) is QueueingHint.QUEUE
    assert queue_if(False) is QueueingHint.SKIP
