"""The package that kviz is installed as, and what else it can be installed with.

On the public registry, `kviz` is somebody else's.
"""

from __future__ import annotations

from typing import Final

NAME: Final = "kviz-scheduler"


def version() -> str:
    from importlib import metadata  # takes long to import

    return metadata.version(NAME)


def with_extra(extra: str) -> str:
    """The command that installs an extra beside kviz, from its wheel."""
    wheel = f"{NAME.replace('-', '_')}-{version()}-py3-none-any.whl"
    return f"pip install './{wheel}[{extra}]'"
