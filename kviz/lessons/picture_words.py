"""The words of the picture of a cluster in the browser; a page carries them along."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

WORDS: Final = {
    "active": _("waiting in activeQ"),
    "after": _("After {s} s"),
    "and": _(" and "),
    "backoff": _("in backoff"),
    "breaksBudget": _("breaks a budget"),
    "chosen": _("chosen"),
    "cordoned": _("cordoned"),
    "cycle": _("Cycle {n}"),
    "events": _("What happens later"),
    "feasible": _("feasible"),
    "freeOf": _("free of {all}"),
    "gated": _("gated"),
    "heldOn": _("nominated for {node}"),
    "history": _("Cycles before"),
    "moreNodes": _("{n} of {all} nodes are drawn."),
    "morePods": _("and {n} more pods"),
    "moreWaiting": _("and {n} more"),
    "nextPod": _("next pod"),
    "nominated": _("nominated"),
    "noPods": _("no pods"),
    "noTaint": _("no taint"),
    "priority": _("priority {n}"),
    "priorityShort": _("p {n}"),
    "rejected": _("rejected"),
    "requests": _("requests {what}"),
    "requestsNothing": _("requests nothing"),
    "result_error": _("failed"),
    "result_scheduled": _("got a node"),
    "result_unschedulable": _("found no node"),
    "result_waiting": _("waits on Permit"),
    "short": _("{what} short"),
    "tolerates": _("tolerates"),
    "toleratesNothing": _("tolerates no taint"),
    "unexamined": _("not examined"),
    "unschedulable": _("unschedulable"),
    "victimsStarted": _("victims started {at}"),
    "waiting_on_permit": _("waits on Permit"),
    "waitingByArrival": _("Waiting pods, in the order in which they came"),
    "waitingInOrder": _("Waiting pods, in the queue's order"),
    "weights": _("Weights of the Score plugins"),
    "wouldBeEvicted": _("would be evicted"),
    "colon": pgettext_lazy("punctuation", ": "),
}
