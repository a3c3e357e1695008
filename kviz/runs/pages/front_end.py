"""The front end that Vite built, or serves while it is developed."""

from __future__ import annotations

from typing import Final

from django_vite.core.asset_loader import DjangoViteAssetLoader
from django_vite.core.exceptions import DjangoViteAssetNotFoundError

EXPLORER: Final = "src/main.ts"
"""The source file that the Explorer begins with, as `{% vite_asset %}` names it."""


def explorer_is_built() -> bool:
    """Whether a page can load the Explorer; `make setup` builds it."""
    try:
        DjangoViteAssetLoader.instance().generate_vite_asset_url(EXPLORER)
    except DjangoViteAssetNotFoundError:
        return False
    return True
