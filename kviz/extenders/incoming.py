"""Being the extender of a real scheduler: answering in a way that changes nothing.

All nodes pass, every score is zero, victims stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import msgspec

from kviz.extenders.models import ExtenderRequest

NAMES_KEPT: Final = 1_000
"""Of so many nodes and candidates, at most, a session keeps the names."""
MAX_NAME_CHARS: Final = 253
NULL: Final = b"null"


class BadRequest(Exception):
    """The body is not what a scheduler sends."""


@dataclass(frozen=True)
class Asked:
    """What the scheduler wanted to know, and the answer as bytes.

    `nodes` are the first names of `n_nodes`; `victims` maps a candidate's name to its victims'
    names (or uids) and the number of broken budgets. `whole_nodes` says that the scheduler sent
    node objects, and so scores nodes as if they were empty.
    """

    pod: str
    pod_uid: str
    n_nodes: int
    nodes: list[str]
    answer: bytes
    whole_nodes: bool = False
    victims: dict[str, tuple[list[str], int]] = field(default_factory=dict)


class _Metadata(msgspec.Struct):
    name: str = ""
    namespace: str = ""
    uid: str = ""

    @property
    def key(self) -> str:
        return f"{self.namespace[:MAX_NAME_CHARS]}/{self.name[:MAX_NAME_CHARS]}"


class _Object(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


class _Nodes(msgspec.Struct):
    items: list[_Object] = []


class _Args(msgspec.Struct, rename="pascal"):
    pod: _Object
    nodes: msgspec.Raw = msgspec.Raw(NULL)
    node_names: list[str] | None = None


class _MetaPod(msgspec.Struct):
    uid: str = msgspec.field(default="", name="UID")


class _Victims(msgspec.Struct):
    pods: list[_Object] | None = msgspec.field(default=None, name="Pods")
    n_pdb_violations: int = msgspec.field(default=0, name="NumPDBViolations")


class _MetaVictims(msgspec.Struct):
    pods: list[_MetaPod] | None = msgspec.field(default=None, name="Pods")
    n_pdb_violations: int = msgspec.field(default=0, name="NumPDBViolations")


class _PreemptionArgs(msgspec.Struct, rename="pascal"):
    pod: _Object
    node_name_to_victims: dict[str, _Victims] | None = None
    node_name_to_meta_victims: dict[str, _MetaVictims] | None = None


_ARGS: Final = msgspec.json.Decoder(_Args)
_NODES: Final = msgspec.json.Decoder(_Nodes)
_PREEMPTION: Final = msgspec.json.Decoder(_PreemptionArgs)


def answer(verb: str, body: bytes) -> Asked:
    """Read a request and word the neutral answer. Raises BadRequest."""
    try:
        if verb == ExtenderRequest.Verb.PREEMPT:
            return _answer_preempt(_PREEMPTION.decode(body))
        args = _ARGS.decode(body)
        whole = bytes(args.nodes) != NULL
        names = args.node_names or []
        if whole:
            names = [node.metadata.name for node in _NODES.decode(args.nodes).items]
        if verb == ExtenderRequest.Verb.FILTER:
            return _asked(args, names, whole, _filter_answer(args))
        scores = [{"Host": name, "Score": 0} for name in names]
        return _asked(args, names, whole, msgspec.json.encode(scores))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(str(error)) from None


def _asked(args: _Args, names: list[str], whole: bool, answered: bytes) -> Asked:
    pod = args.pod.metadata
    kept = [name[:MAX_NAME_CHARS] for name in names[:NAMES_KEPT]]
    return Asked(pod.key, pod.uid[:64], len(names), kept, answered, whole)


def _filter_answer(args: _Args) -> bytes:
    return msgspec.json.encode(
        {
            "Nodes": args.nodes,
            "NodeNames": args.node_names,
            "FailedNodes": {},
            "FailedAndUnresolvableNodes": {},
            "Error": "",
        }
    )


def _answer_preempt(args: _PreemptionArgs) -> Asked:
    whole = args.node_name_to_victims is not None
    candidates = _candidates(args)
    answered = {
        node: {
            "Pods": [{"UID": uid} for uid, _ in each.victims],
            "NumPDBViolations": each.n_pdb_violations,
        }
        for node, each in candidates.items()
    }
    kept = list(candidates)[:NAMES_KEPT]
    pod = args.pod.metadata
    return Asked(
        pod=pod.key,
        pod_uid=pod.uid[:64],
        n_nodes=len(candidates),
        nodes=kept,
        answer=msgspec.json.encode({"NodeNameToMetaVictims": answered}),
        whole_nodes=whole,
        victims={node: candidates[node].shown() for node in kept},
    )


@dataclass(frozen=True)
class _Candidate:
    """A node and its victims, each with uid and the name to show (the uid, if it has none)."""

    victims: list[tuple[str, str]]
    n_pdb_violations: int

    def shown(self) -> tuple[list[str], int]:
        names = [name[: 2 * MAX_NAME_CHARS] for _, name in self.victims[:NAMES_KEPT]]
        return names, self.n_pdb_violations


def _candidates(args: _PreemptionArgs) -> dict[str, _Candidate]:
    whole = args.node_name_to_victims or {}
    meta = args.node_name_to_meta_victims or {}
    candidates = {
        node: _Candidate([(pod.uid, pod.uid) for pod in each.pods or ()], each.n_pdb_violations)
        for node, each in meta.items()
    }
    for node, victims in whole.items():
        pods = [pod.metadata for pod in victims.pods or ()]
        named = [(pod.uid, pod.key) for pod in pods]
        candidates[node] = _Candidate(named, victims.n_pdb_violations)
    return candidates
