"""Gates of Kubernetes v1.37 that kube-scheduler knows but does not read.

They are those of v1.36. What v1.37 has added for other components is refused as unknown, and what
it has dropped is still taken.
"""

from __future__ import annotations

from typing import Final

from scheduler_core.releases.table import OtherGate
from scheduler_core.releases.v1_36_elsewhere import ELSEWHERE as OF_1_36

ELSEWHERE: Final[dict[str, OtherGate]] = {**OF_1_36}
