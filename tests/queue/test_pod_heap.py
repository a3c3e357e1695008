from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.queue.heap import PodHeap
from scheduler_core.queue.queued_pod import QueuedPodInfo
from tests.builders import make_pod
from tests.queue.queue_world import START_NS, pod_info, sort_key


def queued(name: str, priority: int = 0, at: int = 0) -> QueuedPodInfo:
    return QueuedPodInfo(pod_info(make_pod(name).priority(priority)), START_NS + at)


def drain(heap: PodHeap) -> list[str]:
    keys = []
    while (first := heap.pop()) is not None:
        keys.append(first.pod.pod.name)
    return keys


def heap_of(*pods: QueuedPodInfo) -> PodHeap:
    heap = PodHeap(sort_key)
    for each in pods:
        heap.add_or_update(each)
    return heap


def test_pops_in_sort_order_and_equals_in_order_of_arrival() -> None:
    heap = heap_of(queued("b"), queued("a"), queued("hi", 5), queued("old", 0, -1))
    assert [q.pod.pod.name for q in heap.in_order()] == ["hi", "old", "b", "a"]
    assert drain(heap) == ["hi", "old", "b", "a"]
    assert heap.pop() is None


def test_update_moves_a_pod_to_where_it_belongs() -> None:
    heap = heap_of(queued("a", 1), queued("b", 2), queued("c", 3))
    heap.add_or_update(queued("a", 9))
    heap.add_or_update(queued("c", 0))
    assert len(heap) == 3
    assert drain(heap) == ["a", "b", "c"]


def test_update_keeps_the_place_of_an_equal_key() -> None:
    heap = heap_of(queued("a"), queued("b"))
    changed = queued("a")
    heap.add_or_update(changed)
    assert heap.get("default/a") is changed
    assert drain(heap) == ["a", "b"]


def test_an_update_back_and_forth_leaves_one_pod() -> None:
    heap = heap_of(queued("a", 1), queued("b", 2))
    heap.add_or_update(queued("a", 3))
    heap.add_or_update(queued("a", 1))
    assert drain(heap) == ["b", "a"]


def test_delete_takes_out_any_pod() -> None:
    a, b, c = queued("a", 3), queued("b", 2), queued("c", 1)
    heap = heap_of(a, b, c)
    assert heap.delete("default/b") is b
    assert heap.delete("default/b") is None
    assert "default/b" not in heap
    assert heap.peek() is a
    assert drain(heap) == ["a", "c"]


@given(
    st.lists(
        st.tuples(st.sampled_from("apd"), st.integers(0, 12), st.integers(-3, 3)), max_size=200
    )
)
def test_behaves_like_a_sorted_list(steps: list[tuple[str, int, int]]) -> None:
    heap = PodHeap(sort_key)
    model: dict[str, tuple[int, int]] = {}
    for number, (what, name, priority) in enumerate(steps):
        key = f"default/{name}"
        if what == "a":
            heap.add_or_update(queued(str(name), priority))
            if model.get(key, (None, 0))[0] != -priority:
                model[key] = (-priority, number)
        elif what == "d":
            assert (heap.delete(key) is None) == (model.pop(key, None) is None)
        else:
            first = min(model, key=model.__getitem__, default=None)
            popped = heap.pop()
            assert (popped.key if popped else None) == first
            if first is not None:
                del model[first]
    assert [q.key for q in heap.in_order()] == sorted(model, key=model.__getitem__)
    assert len(heap) == len(model)
