"""What an upgrade changes, as JSON and as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from kviz.command_line.tables import table
from kviz.questions.rehearse.answer import Answer
from kviz.questions.rehearse.words import about, evicted, how_to_keep, sentences
from scheduler_core.analysis.rehearsal import Kind, Rehearsal
from scheduler_core.analysis.rehearsal.causes import KINDS

# ---------------------------------------------------------------- JSON


def as_json(answer: Answer) -> dict[str, Any]:
    """Return what `kviz rehearse --json` prints, and an experiment has as its answer."""
    old, new = answer.upgrade.old.features, answer.upgrade.gates
    carried, found = answer.upgrade.carried, answer.found
    told = {
        "from": old.release.name,
        "fromText": old.release_text,
        "to": new.release.name,
        "identical": found is not None and not found.apart,
        "sentences": list(sentences(answer)),
        "panics": answer.panics,
        "configuration": {
            "starts": carried.starts,
            "refused": _pairs(carried.refused),
            "ignored": _pairs(carried.ignored),
            "changed": [{"name": each.name, "a": each.a, "b": each.b} for each in carried.changed],
        },
        "notModelled": answer.not_modelled,
        "incomplete": answer.incomplete,
    }
    return told | (_pods(found, old.release.name, new.release.name) if found else {})


def _pairs(why: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"field": name, "message": message} for name, message in why.items()]


def _pods(found: Rehearsal, old: str, new: str) -> dict[str, Any]:
    ends, evicted_before = found.comparison.ends, set(found.comparison.evicted_a)
    return {
        "moved": [
            {"pod": each.pod, "a": each.a, "b": each.b, "luck": each.luck}
            | _because(found, each.pod)
            for each in ends.moved
        ],
        "newly_pending": [
            {"pod": each.pod, "a": each.node, "message": each.message} | _because(found, each.pod)
            for each in ends.newly_pending
        ],
        "newly_bound": [
            {"pod": each.pod, "b": each.node, "message": each.message} | _because(found, each.pod)
            for each in ends.newly_bound
        ],
        "evicted": [
            {"pod": pod, "under": old if pod in evicted_before else new} | _because(found, pod)
            for pod in evicted(found)
        ],
        "messages": _count(found, "message"),
        "tries": _count(found, "tries"),
        "switches": list(_switches(found)),
        "first_divergence": found.comparison.as_json()["first_divergence"],
    }


def _because(found: Rehearsal, pod: str) -> dict[str, Any]:
    names = list(found.because(pod))
    together = ("end", pod) in found.together
    changes = [found.changes[name] for name in names]
    return {
        "because": names,
        "together": together,
        "keep": how_to_keep(changes, together=together),
    }


def _count(found: Rehearsal, kind: Kind) -> dict[str, Any]:
    return {"pods": len(found.pods(kind)), "because": list(found.causes(kind))}


def _switches(found: Rehearsal) -> Iterator[dict[str, Any]]:
    n_pods = [found.causes(kind) for kind in KINDS]
    for name, change in found.changes.items():
        if any(name in each for each in n_pods):
            yield {
                "name": name,
                "upstream": change.upstream or None,
                "sentence": about(change),
                "undo": change.undo or None,
                "keep": how_to_keep([change], together=False),
                "pods": n_pods[0].get(name, 0),
            }


# ---------------------------------------------------------------- rows

PENDING: Final = "pending"
GONE: Final = "evicted"
MESSAGES_SHOWN: Final = 5


class Row(NamedTuple):
    """A pod that ends otherwise: its node, `PENDING` or `GONE` before and after."""

    pod: str
    before: str
    after: str
    because: Sequence[str]
    together: bool
    keep: str
    luck: bool
    message: str


def rows(told: Mapping[str, Any]) -> Iterator[Row]:
    """Yield all pods that end otherwise, of what `as_json` says."""
    for each in told.get("newly_pending", ()):
        yield _row(each, each["a"], PENDING)
    for each in told.get("newly_bound", ()):
        yield _row(each, PENDING, each["b"])
    for each in told.get("moved", ()):
        yield _row(each, each["a"], each["b"])
    for each in told.get("evicted", ()):
        yield _row(each, *((GONE, "") if each["under"] == told["from"] else ("", GONE)))


def _row(each: Mapping[str, Any], before: str, after: str) -> Row:
    why = each["because"], each["together"], each["keep"]
    return Row(each["pod"], before, after, *why, bool(each.get("luck")), each.get("message", ""))


# ---------------------------------------------------------------- text


def as_text(told: Mapping[str, Any]) -> str:
    """Return for people what `as_json` says."""
    return "\n".join(_lines(told)) + "\n"


def _lines(told: Mapping[str, Any]) -> Iterator[str]:
    yield f"From Kubernetes v{told['fromText']} to v{told['to']}:"
    yield from told["sentences"]
    yield from (f"Not modelled: {text}" for text in told["notModelled"])
    head = ("POD", f"v{told['from']}", f"v{told['to']}", "BECAUSE OF", "TO KEEP IT AS BEFORE")
    upstream = {each["name"]: each["upstream"] for each in told.get("switches", ())}
    if pods := [_cells(each, upstream) for each in rows(told)]:
        yield ""
        yield from table(head, pods)
        yield from _messages(told)
    for each in told.get("switches", ()):
        yield "\n" + " ".join(filter(None, (each["upstream"], each["name"])))
        yield f"  {each['sentence']}"
        yield f"  To keep it as before: {each['keep']}"
    yield from _configuration(told)


def _messages(told: Mapping[str, Any]) -> Iterator[str]:
    """Say of the first pods that are pending under one release what the scheduler says of them."""
    said = [each for each in rows(told) if each.message]
    for each in said[:MESSAGES_SHOWN]:
        release = told["from" if each.before == PENDING else "to"]
        yield f"{each.pod} under v{release}: {each.message}"
    if (n := len(said) - MESSAGES_SHOWN) > 0:
        yield f"{n:,} more messages: --json"


def _cells(row: Row, upstream: Mapping[str, str]) -> Sequence[str]:
    names = [_named(name, upstream) for name in row.because]
    because = (" + " if row.together else ", ").join(names) or "not known"
    luck = "; luck: a tie" if row.luck else ""
    return row.pod, row.before or "-", row.after or "-", because + luck, row.keep


def _named(name: str, upstream: Mapping[str, str]) -> str:
    return upstream[name] or name


def _configuration(told: Mapping[str, Any]) -> Iterator[str]:
    found = told["configuration"]
    if found["refused"] or found["ignored"] or found["changed"]:
        yield "\nGates and configuration"
    for each in found["refused"]:
        yield f"v{told['to']} refuses {each['field']}: {each['message']}"
    for each in found["ignored"]:
        yield f"{each['field']}: {each['message']}"
    for each in found["changed"]:
        yield f"{each['name']} changes from {each['a']} to {each['b']}"
