from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.queue.heap import PodHeap
from scheduler_core.queue.queued_pod import QueuedPodInfo
from tests.builders import make_pod
from tests.queue.queue_world import START_NS, pod_info, sort_key


def queued(name: str, priority: int = 0, at: int = 0) -> QueuedPodInfo:
    return QueuedPodInfo(pod_info(make_pod(name).priority(priority)), START_NS + at)


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
