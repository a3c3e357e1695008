"""The words that a board needs in the browser; a page carries them along."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

WORDS: Final = {
    "boardAsk": _(
        "Give every waiting pod a node, in any order. Place as many as you can, the most "
        "important first; then what they are worth counts. Time does not."
    ),
    "boardBest": _("The best there is, which is proved"),
    "boardBestFound": _("The best that was found; whether there is a better one is not known"),
    "boardBestNotKnown": _("The best there is"),
    "boardBestShort": _("The best"),
    "boardBy": _("Placed by"),
    "boardByScheduler": _("kube-scheduler"),
    "boardChoose": _("Choose a pod, then a node."),
    "boardChosen": _("{pod}: {n} of {all} nodes are feasible."),
    "boardDone": _("I am done"),
    "boardDonePart": _("Pods without a node: {n}. Press again to finish anyway."),
    "boardFits": _("Place {pod} on {node}"),
    "boardHighest": _("Highest total then"),
    "boardIsDone": _(
        "You are done. What the scheduler makes of it comes when the teacher shows it."
    ),
    "boardMeasure": _(
        "Worth: the totals of the score plugins for each pod on its node, in the cluster as it was "
        "before any was placed."
    ),
    "boardMoves": _("Pod by pod"),
    "boardNode": _("Node"),
    "boardNodes": _("Nodes"),
    "boardNoScore": _("unscored"),
    "boardNotComparable": _("Not comparable: {why}"),
    "boardNotFinal": _("Not feasible given all others: {why}"),
    "boardNotKnown": _("not known"),
    "boardNowhere": _("no node"),
    "boardOf": _("{n} of {all}"),
    "boardOver": _("What the scheduler did is shown. You were not done, so nothing is compared."),
    "boardPlaced": _("Pods placed"),
    "boardPlacedOf": _("Placed: {n} of {all}"),
    "boardPlacedOn": _("{pod} is on {node}, total {total}."),
    "boardPod": _("Pod"),
    "boardPods": _("Waiting pods"),
    "boardPriority": _("priority {n}"),
    "boardPutThere": _("on {node}, total {total}"),
    "boardRefused": _("{node} refuses {pod}: {why}"),
    "boardReset": _("Begin again"),
    "boardResult": _("What came of it"),
    "boardSearching": _("The best placement is being searched for."),
    "boardTotal": _("Total at its turn"),
    "boardUndo": _("Undo"),
    "boardUndone": _("{pod} waits again."),
    "boardWaiting": _("The scheduler is at work."),
    "boardWorth": _("Worth"),
    "boardYou": _("You"),
    "chosen": _("chosen"),
    "feasible": _("feasible"),
    "rejected": _("rejected"),
    "unexamined": _("not examined"),
    "colon": pgettext_lazy("punctuation", ": "),
}
