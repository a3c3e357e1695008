"""A process that is told to leave while it forks."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

LEFT = 7
TOLD_WHILE_IT_FORKS = """
    import os, signal, sys
    from kviz.forking import fork

    def told():
        signal.raise_signal(signal.SIGTERM)

    os.register_at_fork({moment}=told)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit({left}))
    if fork() == 0:
        os._exit(0)
    print("stayed")
"""


@pytest.mark.parametrize("moment", ["before", "after_in_parent"])
def test_a_process_that_is_told_to_leave_while_it_forks_leaves(moment: str) -> None:
    script = textwrap.dedent(TOLD_WHILE_IT_FORKS.format(moment=moment, left=LEFT))
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (LEFT, "", "")


def test_a_copy_does_not_leave_with_it() -> None:
    script = textwrap.dedent(TOLD_WHILE_IT_FORKS.format(moment="after_in_child", left=LEFT))
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "stayed\n", "")
