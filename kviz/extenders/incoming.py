"""Being the extender of a real scheduler: answering in a way that changes nothing.

All nodes pass, every score is zero, victims stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import msgspec

NAMES_KEPT: Final = 10_000
"""Of so many nodes, candidates, and victims of one candidate, at most, the names are kept."""
POD_BYTES_KEPT: Final = 256 * 1024
"""A pod with more is known by its name only."""
MAX_NAME_CHARS: Final = 253
MAX_UID_CHARS: Final = 64
NULL: Final = b"null"


class Verb(StrEnum):
    FILTER = "filter"
    PRIORITIZE = "prioritize"
    PREEMPT = "preempt"


class BadRequest(Exception):
    """The body is not what a scheduler sends."""


@dataclass(frozen=True)
class AskedVictims:
    """Whom the scheduler would evict from one node: uids, and `namespace/name` (or uid again)."""

    pods: list[tuple[str, str]]
    n_pdb_violations: int


@dataclass(frozen=True)
class Asked:
    """What the scheduler wanted to know, and the answer as bytes.

    `pod` is `namespace/name`, `pod_key` its uid if it has one, `pod_json` the object as it came
    (nothing if it is too long to keep). `nodes` are the first names of `n_nodes`; `victims` are by
    candidate. `whole_nodes` says that the scheduler sent node objects, and so scores nodes as if
    they were empty. The request had `n_bytes`.
    """

    pod: str
    pod_key: str
    pod_json: bytes
    n_nodes: int
    nodes: list[str]
    answer: bytes
    n_bytes: int
    whole_nodes: bool = False
    victims: dict[str, AskedVictims] = field(default_factory=dict)


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
    pod: msgspec.Raw
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
    pod: msgspec.Raw
    node_name_to_victims: dict[str, _Victims] | None = None
    node_name_to_meta_victims: dict[str, _MetaVictims] | None = None


_ARGS: Final = msgspec.json.Decoder(_Args)
_OBJECT: Final = msgspec.json.Decoder(_Object)
_NODES: Final = msgspec.json.Decoder(_Nodes)
_PREEMPTION: Final = msgspec.json.Decoder(_PreemptionArgs)


def answer(verb: Verb, body: bytes) -> Asked:
    """Read a request and word the neutral answer. Raises BadRequest."""
    try:
        if verb is Verb.PREEMPT:
            return _answer_preempt(body)
        args = _ARGS.decode(body)
        whole = bytes(args.nodes) != NULL
        names = args.node_names or []
        if whole:
            names = [node.metadata.name for node in _NODES.decode(args.nodes).items]
        answered = _filter_answer(args) if verb is Verb.FILTER else _scores(names)
        return _asked(args.pod, names, answered, body, whole)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(str(error)) from None


def _asked(
    pod: msgspec.Raw,
    names: list[str],
    answered: bytes,
    body: bytes,
    whole: bool,
    victims: dict[str, AskedVictims] | None = None,
) -> Asked:
    metadata = _OBJECT.decode(pod).metadata
    kept = bytes(pod) if len(pod) <= POD_BYTES_KEPT else b""
    return Asked(
        pod=metadata.key,
        pod_key=metadata.uid[:MAX_UID_CHARS] or metadata.key,
        pod_json=kept,
        n_nodes=len(names),
        nodes=[name[:MAX_NAME_CHARS] for name in names[:NAMES_KEPT]],
        answer=answered,
        n_bytes=len(body),
        whole_nodes=whole,
        victims=victims or {},
    )


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


def _scores(names: list[str]) -> bytes:
    return msgspec.json.encode([{"Host": name, "Score": 0} for name in names])


def _answer_preempt(body: bytes) -> Asked:
    args = _PREEMPTION.decode(body)
    candidates = _candidates(args)
    answered = {
        node: {
            "Pods": [{"UID": uid} for uid, _ in each.pods],
            "NumPDBViolations": each.n_pdb_violations,
        }
        for node, each in candidates.items()
    }
    answer = msgspec.json.encode({"NodeNameToMetaVictims": answered})
    whole = args.node_name_to_victims is not None
    kept = {
        name[:MAX_NAME_CHARS]: _kept(candidates[name]) for name in list(candidates)[:NAMES_KEPT]
    }
    return _asked(args.pod, list(candidates), answer, body, whole, kept)


def _kept(victims: AskedVictims) -> AskedVictims:
    pods = victims.pods[:NAMES_KEPT]
    return AskedVictims([(uid[:MAX_UID_CHARS], key) for uid, key in pods], victims.n_pdb_violations)


def _candidates(args: _PreemptionArgs) -> dict[str, AskedVictims]:
    whole = args.node_name_to_victims or {}
    meta = args.node_name_to_meta_victims or {}
    candidates = {
        node: AskedVictims([(pod.uid, pod.uid) for pod in each.pods or ()], each.n_pdb_violations)
        for node, each in meta.items()
    }
    for node, victims in whole.items():
        pods = [pod.metadata for pod in victims.pods or ()]
        named = [(pod.uid, pod.key) for pod in pods]
        candidates[node] = AskedVictims(named, victims.n_pdb_violations)
    return candidates
