"""A pod's priority as API admission resolves it from the priority classes.

Upstream: v1.36 plugin/pkg/admission/priority/admission.go.
"""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from scheduler_core.api.meta import ObjectMeta
from scheduler_core.api.pod import Pod
from scheduler_core.api.workload import PriorityClass
from scheduler_core.wording import say

DEFAULT_PRIORITY = 0
PREEMPT_LOWER_PRIORITY = "PreemptLowerPriority"
SYSTEM_CRITICAL_PRIORITY = 2_000_000_000

SYSTEM_PRIORITY_CLASSES = (
    PriorityClass(
        metadata=ObjectMeta(name="system-node-critical"),
        value=SYSTEM_CRITICAL_PRIORITY + 1000,
        preemption_policy=PREEMPT_LOWER_PRIORITY,
    ),
    PriorityClass(
        metadata=ObjectMeta(name="system-cluster-critical"),
        value=SYSTEM_CRITICAL_PRIORITY,
        preemption_policy=PREEMPT_LOWER_PRIORITY,
    ),
)
"""The classes every cluster has, whether or not a dump lists them."""


class UnknownPriorityClassError(LookupError):
    """The pod names a priority class that does not exist; admission would refuse it."""

    def __init__(self, name: str) -> None:
        super().__init__(
            say("field.no_priority_class", "no PriorityClass with name {name} was found", name=name)
        )
        self.name = name


class PriorityClasses:
    """The priority classes of a cluster, ready to resolve pods against."""

    def __init__(self, classes: Iterable[PriorityClass] = ()) -> None:
        self._by_name: Mapping[str, PriorityClass] = {
            known.name: known for known in (*SYSTEM_PRIORITY_CLASSES, *classes)
        }
        defaults = [known for known in self._by_name.values() if known.global_default]
        self._default = min(defaults, key=lambda known: known.value, default=None)

    def resolve(self, pod: Pod) -> Pod:
        """The pod with priority, class name and preemption policy settled.

        A pod that already has a priority comes back as it is. Raises
        :class:`UnknownPriorityClassError`.
        """
        if pod.spec.priority is not None:
            return pod
        name = pod.spec.priority_class_name
        chosen = self._by_name.get(name) if name else self._default
        if chosen is None:
            if name:
                raise UnknownPriorityClassError(name)
            policy = pod.spec.preemption_policy or PREEMPT_LOWER_PRIORITY
            spec = replace(pod.spec, priority=DEFAULT_PRIORITY, preemption_policy=policy)
            return replace(pod, spec=spec)
        spec = replace(
            pod.spec,
            priority=chosen.value,
            priority_class_name=chosen.name,
            preemption_policy=chosen.preemption_policy or PREEMPT_LOWER_PRIORITY,
        )
        return replace(pod, spec=spec)
