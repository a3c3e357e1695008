"""How to print with kubectl all that the scheduler reads of a cluster, on every page alike.

`kubectl get a,b` prints nothing where the cluster lacks one of the kinds, so each is asked for by
itself; an error about one is on the screen and not in the file.
"""

from __future__ import annotations

from textwrap import wrap
from typing import Final

from scheduler_core.api.plurals import PLURALS

WIDTH: Final = 44
"""Of a line, as the upload page has room for it."""
KINDS: Final = (*PLURALS.values(), "resourceclaimtemplates")
"""What is printed: what scheduling reads, and what claims of pods are made of."""
SHELL: Final = " \\\n  ".join(wrap("for kind in " + " ".join(KINDS), WIDTH)) + (
    "\ndo echo ---; kubectl get $kind -A -o yaml; done > cluster.yaml"
)
POWERSHELL: Final = "\n  ".join(wrap(", ".join(f"'{kind}'" for kind in KINDS), WIDTH)) + (
    " |\n  ForEach-Object { '---'; kubectl get $_ -A -o yaml }"
    " | Out-File -Encoding utf8 cluster.yaml"
)
