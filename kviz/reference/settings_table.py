"""The table of settings in `docs/operation.md`, which `make settings` renews."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from kviz.environment import Setting, declared

DOCUMENT: Final = Path(__file__).resolve().parents[2] / "docs/operation.md"
HEAD: Final = "| variable | default | says |\n|---|---|---|\n"
_TABLE: Final = re.compile(re.escape(HEAD) + r"(\|.*\n)*")


def renewed(document: str) -> str:
    """Return the document with its table replaced by that of today's settings."""
    rows = (f"| `{name}` | {_default(each)} | {each.says} |\n" for name, each in declared().items())
    table = HEAD + "".join(rows)
    return _TABLE.sub(lambda _: table, document, count=1)


def _default(setting: Setting) -> str:
    if setting.computed or setting.default == "":
        return setting.computed or "none"
    return f"`{setting.default}`" if isinstance(setting.default, str) else str(setting.default)


if __name__ == "__main__":
    DOCUMENT.write_text(renewed(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
