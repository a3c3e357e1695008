"""What the trace says a cycle came to: the model's answers are held against it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """The outcome of a cycle as it was recorded.

    `picked` is the node that was chosen, also where a later step refused the pod there and `node`
    is empty. `feasible` are the nodes that Filter let pass, `top` those with the highest total
    (empty where nothing was scored). `nominated` and `victims` are preemption's choice,
    `ineligible` why the pod might not preempt. `by_nominated` are nodes rejected only because
    nominated pods count, `by_others_anti_affinity` those that pods there keep this one out of.
    """

    cycle: int
    pod: str
    result: str
    node: str
    picked: str
    n_nodes: int
    n_examined: int
    n_feasible: int
    n_tied: int
    feasible: tuple[str, ...]
    top: tuple[str, ...]
    nominated: str = ""
    victims: tuple[str, ...] = ()
    ineligible: str = ""
    by_nominated: tuple[str, ...] = ()
    by_others_anti_affinity: tuple[str, ...] = ()
    waited: bool = False
    """A Permit plugin held the pod on the node that was picked."""
    is_narrowed: bool = False
    """PreFilter left only some nodes, and no others were looked at."""
    release_text: str = ""
    """Whose scheduler it was, as in `1.37.2 (nodes say v1.37.1)`; empty if that is not known."""

    @property
    def stopped_early(self) -> bool:
        """Whether the search ended before it had looked at all nodes it might have."""
        return 0 < self.n_examined < self.n_nodes and not self.is_narrowed
