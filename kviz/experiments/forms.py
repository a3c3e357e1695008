"""What the form of a new experiment accepts, as REST would be given it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.http import QueryDict
from django.utils.translation import gettext as _

from kviz.experiments.kinds import refused
from kviz.runs.presets import PRESETS

TEXTS: Final = ("snapshot", "run", "question", "own", "variants", "runs", "sets", "name")


def start_values(given: QueryDict) -> dict[str, Any]:
    """What the form holds, after what an address or a sent form says."""
    values: dict[str, Any] = {name: given.get(name, "") for name in TEXTS}
    return values | {"presets": given.getlist("preset")}


def asked_of(given: QueryDict) -> tuple[str, Mapping[str, object]]:
    """The kind of the experiment and what is asked. Raises InvalidInput."""
    match given.get("question"):
        case "zones" | "nodes" as of:
            return "survive", {"of": of}
        case "sets":
            return "survive", {"of": "sets", "sets": _sets(given.get("sets", ""))}
        case "luck":
            return "luck", _luck(given.get("runs", ""))
        case "configurations":
            return "configurations", {"configurations": _configurations(given)}
        case "changes":
            return "changes", {"variants": _variants(given.get("variants", ""))}
        case _:
            raise refused("question", _("Choose what you would like to know."))


def _sets(text: str) -> list[list[str]]:
    """Lines, each the names of nodes that are lost together."""
    return [names for line in text.splitlines() if (names := line.replace(",", " ").split())]


def _luck(runs: str) -> dict[str, object]:
    if not runs.strip():
        return {}
    if not runs.strip().isdecimal():
        raise refused("runs", _('"%s" is no number of runs.') % runs)
    return {"runs": int(runs)}


def _configurations(given: QueryDict) -> list[dict[str, str]]:
    chosen = set(given.getlist("preset"))
    found = [
        {"name": str(each.title), "scheduler_config": each.text}
        for each in PRESETS
        if each.slug in chosen
    ]
    if (own := given.get("own", "")).strip():
        found.append({"name": _("Your own"), "scheduler_config": own})
    if not found:
        raise refused("preset", _("Choose at least one configuration to compare with."))
    return found


def _variants(text: str) -> list[dict[str, object]]:
    """Paragraphs, each a variant: changes one per line, and perhaps a name after a #."""
    variants: list[dict[str, object]] = []
    for paragraph in text.replace("\r\n", "\n").split("\n\n"):
        lines = [line.strip() for line in paragraph.splitlines() if line.strip()]
        names = [line.lstrip("# ") for line in lines if line.startswith("#")]
        changes = [line for line in lines if not line.startswith("#")]
        if changes:
            variants.append({"name": " ".join(names), "changes": changes})
    if not variants:
        raise refused("variants", _("Write at least one change."))
    return variants
