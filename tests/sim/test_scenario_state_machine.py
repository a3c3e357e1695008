"""Every step a scenario can have, at every point of a cycle: none ends the run.

Steps are played at once or planned for later, so that they meet pods in every queue, pods that
wait on Permit, that have their volumes or devices bound, or are about to be bound or evicted.
"""

from __future__ import annotations

import json
from functools import partial

from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from scheduler_core.sim.scenario import ScenarioError, load_scenario
from scheduler_core.sim.steps import Steps
from tests.effort import examples
from tests.fuzz.steps import PODS, pods, steps, surroundings
from tests.generator.draw import Json
from tests.generator.dumps import read
from tests.sim.watched import TIMING, Watched
from tests.simulated import MILLI_NS

BINDING_MS = (TIMING.pre_bind_ns + TIMING.binding_ns) // MILLI_NS
DELAYS_MS = (0, 1, 2, BINDING_MS - 51, BINDING_MS - 50, BINDING_MS - 1, BINDING_MS, 1000, 3000)
"""Until a planned step: before, at and after the moments at which a binding goes on."""


class Machine(Watched):
    """Random steps in a cluster with volumes, devices, budgets and pods of several priorities."""

    @initialize(recreate=st.booleans())
    def start(self, recreate: bool) -> None:
        self.watch(*read(surroundings()))
        self.steps = Steps(self.cluster.simulation, recreate_evicted=recreate)
        self.n_steps = 0

    @rule(document=steps(), delay_ms=st.sampled_from(DELAYS_MS))
    def play(self, document: Json, delay_ms: int) -> None:
        """Play a step now, or when the clock has come so far."""
        try:
            scenario = load_scenario(json.dumps({"steps": [{"at": "0s", **document}]}))
        except ScenarioError:
            return
        self.n_steps += 1
        play = partial(self.steps.play, self.n_steps, *scenario.steps)
        if delay_ms == 0:
            play()
            self.cluster.simulation.finish_attempt()
        else:
            clock = self.cluster.simulation.clock
            clock.call_at(clock.now_ns() + delay_ms * MILLI_NS, play)

    @rule(item=pods("p"))
    def create_and_attempt(self, item: Json) -> None:
        """Have a pod on its way to a node, if it finds one."""
        free = (name for name in PODS if not self.cluster.exists(name))
        if name := next(free, ""):
            metadata = item["metadata"] | {"name": name}
            self.play({"create": item | {"metadata": metadata}}, 0)
            self.attempt()

    @rule(milliseconds=st.sampled_from((1, 2, 50, 299, 300, 301, 350, 1000, 5000, 310_000)))
    def let_time_pass(self, milliseconds: int) -> None:
        self.cluster.advance_ms(milliseconds)


TestScenario = Machine.TestCase
TestScenario.settings = examples(25, stateful_step_count=40)
