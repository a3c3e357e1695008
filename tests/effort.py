"""How hard property tests try: briefly in every run of the tests, long in `make fuzz`.

`KVIZ_EFFORT=long` tries fifty times as many examples, others in every run, and `more` three times
as many, which CI has the time for; that and the short run try the same ones each time, so that a
change is judged by what it changed. `more` does not shrink what fails, which may take five minutes
for each test: `make fuzz FUZZ_ARGS=THE_TEST` does, as does the short run. No profile has a
deadline: how long an example takes says something of the machine, nothing of the code.
"""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, Phase, settings

LENGTH = {"short": 100, "more": 300, "long": 5_000}
"""The number of examples where a test names none, by profile."""

SHRINKING = (Phase.shrink, Phase.explain)


def choose_effort() -> None:
    """Load the profile that the environment names."""
    for name, n_examples in LENGTH.items():
        settings.register_profile(
            name,
            max_examples=n_examples,
            deadline=None,
            derandomize=name != "long",
            phases=[each for each in Phase if name != "more" or each not in SHRINKING],
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
            print_blob=True,
        )
    settings.load_profile(os.environ.get("KVIZ_EFFORT", "short"))


def examples(n: int, **more: Any) -> settings:
    """Settings with `n` examples in a short run, and as many times more in a long one."""
    chosen = settings.default
    assert chosen is not None
    return settings(max_examples=n * chosen.max_examples // LENGTH["short"], **more)
