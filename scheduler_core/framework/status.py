"""Outcomes of plugins: one status for a pod, or one verdict for many nodes at once.

Upstream: v1.36 kube-scheduler/framework/interface.go (Code, Status).
"""

from __future__ import annotations

import typing
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from scheduler_core.cluster.arrays import IntArray
from scheduler_core.trace.records import StatusCode

Codes = npt.NDArray[np.int8]
Reasons = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]

CODE_BITS = 3
MAX_REASONS = 64 - CODE_BITS
"""Reasons one verdict can tell apart: a uint64 less the bits of its code."""


class Code(IntEnum):
    """Upstream's status codes, in upstream's numbering."""

    SUCCESS = 0
    ERROR = 1
    UNSCHEDULABLE = 2
    UNSCHEDULABLE_AND_UNRESOLVABLE = 3
    WAIT = 4
    SKIP = 5
    PENDING = 6

    @property
    def label(self) -> StatusCode:
        """Upstream's spelling, e.g. `UnschedulableAndUnresolvable`."""
        return _LABELS[self]


_LABELS: tuple[StatusCode, ...] = typing.get_args(StatusCode)


@dataclass(frozen=True, slots=True)
class Status:
    """The outcome of one plugin (or of an extension point) for a pod.

    `error` marks a status made from an error; its text then stands in `reasons`.
    """

    code: Code = Code.SUCCESS
    reasons: tuple[str, ...] = ()
    plugin: str = ""

    @property
    def is_success(self) -> bool:
        return self.code is Code.SUCCESS

    @property
    def is_skip(self) -> bool:
        return self.code is Code.SKIP

    @property
    def is_rejected(self) -> bool:
        """The pod was rejected, as opposed to something having gone wrong."""
        return self.code in REJECTED

    @property
    def message(self) -> str:
        return ", ".join(self.reasons)

    def by(self, plugin: str) -> Status:
        """Return the same status attributed to `plugin`."""
        return Status(self.code, self.reasons, plugin)


REJECTED = frozenset({Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.PENDING})
SUCCESS = Status()
SKIP = Status(Code.SKIP)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One Filter plugin's answer for `n` nodes.

    `code` is int8 (n,) of `Code`; `reasons` is uint64 (n,), where bit i says that `texts[i]`
    applies. A node that passed has code SUCCESS and no bits.
    """

    code: Codes
    reasons: Reasons
    texts: tuple[str, ...]

    @staticmethod
    def passed(n: int) -> Verdict:
        return Verdict(np.zeros(n, np.int8), np.zeros(n, np.uint64), ())

    @staticmethod
    def error(n: int, text: str) -> Verdict:
        """Fail on every node, with an error that is not the nodes' fault."""
        return Verdict.reject(np.ones(n, np.bool_), Code.ERROR, text)

    @staticmethod
    def reject(where: Mask, code: Code, text: str) -> Verdict:
        """Reject the nodes `where` (n,) is true, all with the same code and reason."""
        return Verdict(np.where(where, np.int8(code), np.int8(0)), where.astype(np.uint64), (text,))

    @staticmethod
    def of(n: int, rejections: list[tuple[Mask, Code, str]]) -> Verdict:
        """Collect several kinds of rejection of `n` nodes.

        A node that meets more than one gets every reason and the gravest code
        (unresolvable over unschedulable).
        """
        if len(rejections) > MAX_REASONS:
            raise ValueError(f"a verdict holds at most {MAX_REASONS} reasons")
        code = np.zeros(n, np.int8)
        reasons = np.zeros(n, np.uint64)
        for i, (where, grave, _) in enumerate(rejections):
            np.maximum(code, np.where(where, np.int8(grave), np.int8(0)), out=code)
            reasons |= where.astype(np.uint64) << np.uint64(i)
        return Verdict(code, reasons, tuple(text for _, _, text in rejections))

    @property
    def fits(self) -> Mask:
        """Return which nodes passed, bool (n,)."""
        passed: Mask = self.code == np.int8(Code.SUCCESS)
        return passed

    def texts_at(self, i: int) -> tuple[str, ...]:
        """Return the reasons of node `i`, in the order of `texts`."""
        bits = int(self.reasons[i])
        return tuple(text for bit, text in enumerate(self.texts) if bits >> bit & 1)

    def status(self, i: int) -> Status:
        return Status(Code(int(self.code[i])), self.texts_at(i))

    def kinds(self, which: IntArray) -> Reasons:
        """Return numbers that are equal where code and reasons are, uint64 (n_which,).

        `which` are positions of nodes, int64 (n_which,).
        """
        return (self.reasons[which] << np.uint64(CODE_BITS)) | self.code[which].astype(np.uint64)


@dataclass(frozen=True, slots=True)
class ListedVerdict(Verdict):
    """A verdict with any number of different reasons: `reasons` holds indexes into `lists`.

    For plugins that phrase a reason for each node; `texts` is empty.
    """

    lists: tuple[tuple[str, ...], ...] = ((),)

    def texts_at(self, i: int) -> tuple[str, ...]:
        """Return the reasons of node `i`."""
        return self.lists[int(self.reasons[i])]
