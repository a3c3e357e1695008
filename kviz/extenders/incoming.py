"""Being the extender of a real scheduler: answering in a way that changes nothing.

All nodes pass, every score is zero, victims stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

MAX_NAMES: Final = 10_000
"""Of nodes, of candidates, and of victims of one candidate; further names are dropped."""
MAX_POD_BYTES: Final = 256 * 1024
"""Of a larger pod only the name is recorded."""
MAX_NAME_CHARS: Final = 253
MAX_UID_CHARS: Final = 64
NULL: Final = b"null"


Count: TypeAlias = Annotated[int, Meta(ge=0, le=2**63 - 1)]
"""As Go has it: an int64 that counts."""


class Verb(StrEnum):
    FILTER = "filter"
    PRIORITIZE = "prioritize"
    PREEMPT = "preempt"


class BadRequest(Exception):
    """The body is not what a scheduler sends."""


@dataclass(frozen=True)
class CandidateVictims:
    """The pods to evict from one node: uids, each with `namespace/name` (or the uid again)."""

    pods: list[tuple[str, str]]
    n_pdb_violations: int


@dataclass(frozen=True)
class Exchange:
    """What one request of the scheduler says, and the answer to it as bytes.

    `pod` is `namespace/name`, `pod_key` its uid if it has one, `pod_json` the object as it came
    (empty if it is too large). `nodes` are the first names of `n_nodes`; `victims` are by
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
    victims: dict[str, CandidateVictims] = field(default_factory=dict)


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
    n_pdb_violations: Count = msgspec.field(default=0, name="NumPDBViolations")


class _MetaVictims(msgspec.Struct):
    pods: list[_MetaPod] | None = msgspec.field(default=None, name="Pods")
    n_pdb_violations: Count = msgspec.field(default=0, name="NumPDBViolations")


class _PreemptionArgs(msgspec.Struct, rename="pascal"):
    pod: msgspec.Raw
    node_name_to_victims: dict[str, _Victims] | None = None
    node_name_to_meta_victims: dict[str, _MetaVictims] | None = None


_ARGS: Final = msgspec.json.Decoder(_Args)
_OBJECT: Final = msgspec.json.Decoder(_Object)
_NODES: Final = msgspec.json.Decoder(_Nodes)
_PREEMPTION: Final = msgspec.json.Decoder(_PreemptionArgs)


def answer(verb: Verb, body: bytes) -> Exchange:
    """Read a request and make the neutral answer to it. Raises BadRequest."""
    try:
        if verb is Verb.PREEMPT:
            return _answer_preempt(body)
        args = _ARGS.decode(body)
        whole = bytes(args.nodes) != NULL
        names = args.node_names or []
        if whole:
            names = [node.metadata.name for node in _NODES.decode(args.nodes).items]
        answered = _filter_answer(args) if verb is Verb.FILTER else _scores(names)
        return _exchange(args.pod, names, answered, body, whole)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(str(error)) from None


def _exchange(
    pod: msgspec.Raw,
    names: list[str],
    answered: bytes,
    body: bytes,
    whole: bool,
    victims: dict[str, CandidateVictims] | None = None,
) -> Exchange:
    if "" in names:
        raise BadRequest("a node has no name")
    metadata = _OBJECT.decode(pod).metadata
    if any("\0" in name for name in (*names, metadata.key, metadata.uid)):
        raise BadRequest("a name contains the character NUL")
    return Exchange(
        pod=metadata.key,
        pod_key=metadata.uid[:MAX_UID_CHARS] or metadata.key,
        pod_json=bytes(pod) if len(pod) <= MAX_POD_BYTES else b"",
        n_nodes=len(names),
        nodes=[name[:MAX_NAME_CHARS] for name in names[:MAX_NAMES]],
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


def _answer_preempt(body: bytes) -> Exchange:
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
    victims = {
        name[:MAX_NAME_CHARS]: _bounded(candidates[name]) for name in list(candidates)[:MAX_NAMES]
    }
    return _exchange(args.pod, list(candidates), answer, body, whole, victims)


def _bounded(victims: CandidateVictims) -> CandidateVictims:
    pods = victims.pods[:MAX_NAMES]
    return CandidateVictims(
        [(uid[:MAX_UID_CHARS], key) for uid, key in pods], victims.n_pdb_violations
    )


def _candidates(args: _PreemptionArgs) -> dict[str, CandidateVictims]:
    whole = args.node_name_to_victims or {}
    meta = args.node_name_to_meta_victims or {}
    candidates = {
        node: CandidateVictims(
            [(pod.uid, pod.uid) for pod in each.pods or ()], each.n_pdb_violations
        )
        for node, each in meta.items()
    }
    for node, victims in whole.items():
        pods = [pod.metadata for pod in victims.pods or ()]
        named = [(pod.uid, pod.key) for pod in pods]
        candidates[node] = CandidateVictims(named, victims.n_pdb_violations)
    return candidates
