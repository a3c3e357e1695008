"""The six letters that open a room: read aloud, typed on a phone, guessed by nobody."""

from __future__ import annotations

import secrets
from typing import Final

LETTERS: Final = "ABCDEFGHJKMNPQRTUWXYZ"
"""Without I, L, O, S and V, which look like 1, 0, 5 and U."""
LENGTH: Final = 6


def draw_code() -> str:
    return "".join(secrets.choice(LETTERS) for _ in range(LENGTH))


def code_typed(text: str) -> str:
    """A code as people type it, `kjx tpm` or `KJX-TPM`; empty if it cannot be one."""
    letters = "".join(text.upper().replace("-", " ").split())
    is_code = len(letters) == LENGTH and set(letters) <= set(LETTERS)
    return letters if is_code else ""
