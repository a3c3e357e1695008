"""Two runs held against each other: where they part, why, and what is different in the end.

`compare` takes two traces, as their chunks, and returns a `Comparison`. Everything is compared by
the names of pods, nodes and plugins, so that the clusters may differ. Cycles are aligned by pod and
attempt. Cycle numbers, times and the numbers of a trace are not compared: they differ harmlessly.

`lines.py` reads the header events, `parting.py` finds the first cycle that was decided differently,
`difference.py` says what is different in it, `ends.py` and `inputs.py` what came out and what went
in, `causes.py` which of that has to do with it, `ends.py` also what is free and of no use,
`words.py` says it in sentences. Why it reads chunks, and stores no digests: docs/adr/0029.
"""

from scheduler_core.analysis.compare.causes import argument_settings
from scheduler_core.analysis.compare.comparison import Comparison, compare
from scheduler_core.analysis.compare.lines import RunLines, read_lines
from scheduler_core.analysis.compare.parting import Parting

__all__ = ["Comparison", "Parting", "RunLines", "argument_settings", "compare", "read_lines"]
