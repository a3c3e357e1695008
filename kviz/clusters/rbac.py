"""The ClusterRole that allows to read a cluster, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Final

READER_ROLE: Final = (Path(__file__).parent / "kviz-reader.yaml").read_text()
"""List and watch of every kind that is read; no `get`, no secrets, no configmaps."""
