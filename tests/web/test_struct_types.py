"""Threads that read a type for the first time at the same moment: msgspec crashes the process."""

from __future__ import annotations

import subprocess
import sys

THREADS = """
import sys, threading
import msgspec
from kviz.project.struct_types import complete_struct_types

sys.setswitchinterval(1e-6)

def new_kind():
    inner = [msgspec.defstruct("Inner", [("a", int), ("b", "list[int]")]) for _ in range(5)]
    return msgspec.defstruct("Kind", [(f"f{j}", inner[j % 5]) for j in range(10)])

kinds = [new_kind() for _ in range(100)]
complete_struct_types()
value = {f"f{j}": {"a": 1, "b": [1]} for j in range(10)}
for kind in kinds:
    together = threading.Barrier(4)
    def read():
        together.wait()
        msgspec.convert(value, kind)
    threads = [threading.Thread(target=read) for _ in range(4)]
    for each in threads: each.start()
    for each in threads: each.join()
"""


def test_threads_may_read_types_at_the_same_time() -> None:
    assert subprocess.run([sys.executable, "-c", THREADS], check=False).returncode == 0
