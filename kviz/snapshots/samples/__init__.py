"""The sample clusters: small, our own, each teaching one thing.

Every `<slug>.yaml` beside this module is what `kubectl get ... -A -o yaml` prints, so a sample
takes the same road as an upload. A folder `<slug>` holds what its run is given beside the cluster.
The texts are what the landing and snapshot pages show.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Outcome:
    """How the run of a sample ends: pods that got a node, that did not, that were evicted."""

    scheduled: int
    pending: int
    evicted: int = 0


@dataclass(frozen=True)
class Sample:
    """One sample cluster and the lesson it carries.

    `question` asks for a prediction before the run, `answer` stands behind it, and `start` is
    the pod (`namespace/name`) to look at first. Its run gets `scheduler_config` and `scenario`,
    the default profile and nothing where they are empty.
    """

    slug: str
    title: _StrPromise
    teaches: _StrPromise
    lesson: _StrPromise
    question: _StrPromise
    answer: _StrPromise
    start: str
    outcome: Outcome
    scheduler_config: str = ""
    scenario: str = ""

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.slug}.yaml"


def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


GANGS = Sample(
    slug="gangs",
    title=_("Gangs wait on Permit"),
    teaches=_("Pods that start together or not at all hold their places while they wait."),
    lesson=_(
        "No plugin of kube-scheduler's default profile holds pods on Permit, so this run enables "
        "one of kviz's own, TeachingGang. Pods of one gang wait, each with its place reserved, "
        "until enough of them have a node. pair-0 is released after four seconds, when its "
        "partner comes. late-0 waits ten seconds in vain: the timeout rejects it, and its place "
        "is free again. Of train, two pods wait until train-2 finds no node, which rejects the "
        "whole gang. Watch the lane of pods that wait on Permit: they are in no queue, and their "
        "places are only assumed."
    ),
    question=_(
        "train-0 and train-1 are rejected and free 12 cores. Is anything left of the gang that "
        "still tries?"
    ),
    answer=_(
        "Yes, train-2: the freed room is an event for NodeResourcesFit, which rejected it. It "
        "takes a place, waits alone until its time is up, and then all three sleep until the "
        "archive job ends and leaves room for the third."
    ),
    start="lab/train-2",
    outcome=Outcome(8, 0),
    scheduler_config=_text("gangs/config.yaml"),
    scenario=_text("gangs/scenario.yaml"),
)

SAMPLES = (
    Sample(
        slug="gpu-pool",
        title=_("Six GPU nodes, nine without"),
        teaches=_("A resource request selects nodes, a taint keeps other pods off them."),
        lesson=_(
            "GPU pods must run on GPU nodes, and no other pod may. Two plugins share the work: "
            "NodeResourcesFit rejects every node that has no nvidia.com/gpu to give, and "
            "TaintToleration rejects the tainted GPU nodes for pods that do not tolerate the "
            "taint. Neither is enough on its own. Watch the Filter point: the two halves of the "
            "cluster are rejected by different plugins. Node affinity then chooses between the "
            "A100 and the L4 nodes."
        ),
        question=_(
            "report-nightly-0 tolerates every taint and requests no GPU. Does anything keep it "
            "off the GPU nodes?"
        ),
        answer=_(
            "Yes, but not the taint: tolerating everything allows all 15 nodes. Its own node "
            "affinity requires nodes without the label nvidia.com/gpu.present, so NodeAffinity "
            "rejects the six. Remove that rule and only scores would decide."
        ),
        start="shop/report-nightly-0",
        outcome=Outcome(12, 0),
    ),
    Sample(
        slug="taints-and-tolerations",
        title=_("Taints and tolerations"),
        teaches=_("A toleration permits a node. It does not attract the pod to it."),
        lesson=_(
            "Eight nodes carry every kind of taint: a control plane, a cordoned worker, two "
            "spot nodes with a soft taint, a dedicated database node and a node that has "
            "stopped responding. NoSchedule and NoExecute reject at Filter; PreferNoSchedule "
            "only costs points at Score, where TaintToleration weighs 3. Compare frontend-2, "
            "which avoids the spot nodes, with thumbnails-0, which tolerates them."
        ),
        question=_(
            "cache-0 and orders-db-0 tolerate the same taint. Will both run on the database node?"
        ),
        answer=_(
            "orders-db-0 must, because its node selector names the pool. cache-0 may: the "
            "database node and two workers score the same, and the rule for ties picks it. The "
            "toleration adds nothing to its score. reports-db-0 stays pending: its toleration "
            "says 'databases', the taint says 'database'."
        ),
        start="data/cache-0",
        outcome=Outcome(6, 1),
    ),
    Sample(
        slug="fit-and-balance",
        title=_("Room, balance and a tie"),
        teaches=_("Two score plugins rate the same free room differently."),
        lesson=_(
            "NodeResourcesFit (LeastAllocated) prefers the node with the most room left; "
            "NodeResourcesBalancedAllocation prefers the node whose cpu and memory end up "
            "equally used. For join-0 they prefer different nodes, and four points decide. The "
            "web pods find five identical nodes: watch how sidecar-free-0, which requests "
            "nothing, still costs its node two points for those who come after, and how ties "
            "shrink from five nodes to two. reindex-0 fits no node at all."
        ),
        question=_(
            "In the cycle of web-1, three empty nodes share the top score: twin-3, twin-4 and "
            "twin-5. Does the scheduler take the first?"
        ),
        answer=_(
            "No, it picks twin-4, every time: the feasible nodes are arranged as a heap, and "
            "its root is picked. Often that is the first of those tied, not here. Nothing is "
            "random."
        ),
        start="web/web-1",
        outcome=Outcome(7, 1),
    ),
    Sample(
        slug="zone-spread",
        title=_("Spread over zones"),
        teaches=_("A zone that can take no pod still counts, unless the pod says otherwise."),
        lesson=_(
            "Three zones, at most one pod of difference between the fullest and the emptiest. "
            "Zone c is tainted for maintenance. By default PodTopologySpread ignores taints when "
            "it counts, so zone c stays the emptiest zone with no pods at all and every other "
            "zone is too full. With nodeTaintsPolicy: Honor the zone drops out of the count. The "
            "search pods only prefer to spread: nothing is forbidden, some nodes score lower."
        ),
        question=_("cart-2 and checkout-2 differ in one field. Which of them stays pending?"),
        answer=_(
            "checkout-2. Placing it in zone a or b would make a skew of 2 against zone c, and "
            "zone c itself rejects it for the taint. cart-2 honours taints, so zone c is no "
            "longer a domain."
        ),
        start="shop/checkout-2",
        outcome=Outcome(4, 2),
    ),
    Sample(
        slug="preemption-budget",
        title=_("Preemption and a budget"),
        teaches=_("The node to preempt on is picked criterion by criterion."),
        lesson=_(
            "Six full nodes and an urgent pod. On five of them evicting pods of lower priority "
            "would make room. Follow the dry run on each node, then the funnel: first the "
            "fewest disruption budgets broken, then the lowest of the highest victims, the "
            "smallest sum of priorities, the fewest victims, and last the victim that started "
            "latest. Each step eliminates a node. On two nodes a small pod is removed and then "
            "reprieved."
        ),
        question=_("Which node is nominated for authorize-0, and which criterion decides?"),
        answer=_(
            "node-5. node-4 would do as well up to the very last criterion: both lose one batch "
            "pod, but the one on node-5 started later, so less work is lost. refunds-0 has the "
            "same priority and still waits, because its class never preempts."
        ),
        start="payments/authorize-0",
        outcome=Outcome(2, 1, 2),
    ),
    Sample(
        slug="why-pending",
        title=_("The pending clinic"),
        teaches=_("A dozen pods are pending, each for a different reason."),
        lesson=_(
            "Too large, no such label, taint not tolerated, GPU taken, host port taken, claim "
            "missing, claim not bound, anti-affinity, affinity to nothing, a spread over a "
            "label no node has, a scheduling gate, another scheduler's pod. One pod is "
            "scheduled. Open the why page of each: it names the first plugin that rejected each "
            "node and what would have to change."
        ),
        question=_("Which of them would a larger node help?"),
        answer=_(
            "Only analytics-0, which requests more than any node it may use can ever offer. "
            "train-1 needs a free GPU; for all the others size does not matter."
        ),
        start="clinic/analytics-0",
        outcome=Outcome(1, 12),
    ),
    Sample(
        slug="devices",
        title=_("Devices and claims"),
        teaches=_("A claim decides which device a pod gets, and with it which node."),
        lesson=_(
            "Four nodes, five GPUs, two cameras on the network of one zone. Pods claim devices in "
            "every way there is: two GPUs on one NUMA node, the best of two alternatives, a "
            "camera shared by two pods, a claim made from a template, and an extended resource "
            "that a device class backs. Selectors in CEL choose the devices, a taint keeps a "
            "broken one out. Follow each pod to the Filter point: DynamicResources tries the "
            "nodes one by one and takes the first devices that satisfy all claims."
        ),
        question=_(
            "serve-0 prefers a GPU with 40 Gi or more. Three such GPUs exist. Does it get one?"
        ),
        answer=_(
            "No. train-0 came first and needed two GPUs of one NUMA node, which only room-2 has; "
            "the third is tainted on room-3. So serve-0 gets its second choice on room-1. legacy-0 "
            "asks for example.com/big-gpu and stays pending for the same reason, and preemption "
            "cannot help: evicting a pod does not free its claim's devices at once."
        ),
        start="lab/serve-0",
        outcome=Outcome(6, 2),
    ),
    Sample(
        slug="size-trap",
        title=_("Size trap"),
        teaches=_("The best node for one pod can be the only node for the next."),
        lesson=_(
            "Two nodes, of 4 and of 2 cores, and two pods: small asks for 2 cores and comes first, "
            "large asks for 4. Either node would do for small. Of n1 more is left afterwards, so "
            "NodeResourcesFit (LeastAllocated) rates it higher: 436 against 399 in total. That is "
            "the best choice for small, and no rule of the scheduler is broken. But large fits "
            "n1 only, and n1 is no longer empty. The scheduler decides for one pod at a time and "
            "does not look at who waits behind it: each choice is the best by itself, and together "
            "they place one pod of two."
        ),
        question=_("Would small have gone elsewhere, had large come first?"),
        answer=_(
            "Yes: with n1 full, only n2 is left for it, and both run. Of the nine possible "
            "placements five are feasible and exactly one places both. It is out of reach after "
            "cycle 1. Give large a higher priority, and the queue tries it first."
        ),
        start="default/large",
        outcome=Outcome(1, 1),
    ),
    Sample(
        slug="regret",
        title=_("Regret"),
        teaches=_("A small advantage for one pod can cost the next one a large one."),
        lesson=_(
            "Two nodes with room for one pod each. p1 hardly cares: it prefers n1 with weight 10 "
            "and n2 with 9. p2 cares very much: n1 with 100, n2 with 1. p1 comes first and takes "
            "n1, one point better for it; p2 gets what is left. Each had the best node there was "
            "at its turn. The preferences that are met add up to 10 + 1 = 11; the other way round "
            "it would be 9 + 100 = 109. What p2 loses nobody asked when p1 was placed, because "
            "scores are compared between nodes of one pod, never between pods."
        ),
        question=_("How many points does p1 gain by its choice, and how many does p2 lose?"),
        answer=_(
            "It gains 1 and costs 99. In totals of v1.36's score plugins, in the cluster as it is "
            "at the start, the two placements are worth 1112 and 1290. The better one is out of "
            "reach after cycle 1."
        ),
        start="default/p2",
        outcome=Outcome(2, 0),
    ),
    Sample(
        slug="casualty",
        title=_("Casualty"),
        teaches=_("The fewest victims and the least important victims are not the same."),
        lesson=_(
            "One node of 4 cores, full: a has 2 of them and priority 10, b and c have 1 each and "
            "priorities 9 and 8. The urgent pod p needs 2. Eight sets of victims can be formed of "
            "three pods, and five of them make enough room. The scheduler takes all three off and "
            "puts back what it can, the most important first: a fits again, b and c do not. So b "
            "and c are evicted, two pods, and the more important one stays. Evicting a alone would "
            "do as well and harm only one pod."
        ),
        question=_("By which measure is the scheduler right?"),
        answer=_(
            "By the highest priority among the victims, which comes before their number: 9 "
            "against 10. Whoever counts pods would evict a. Neither is wrong; v1.36 has decided "
            "which harm weighs more."
        ),
        start="default/p",
        outcome=Outcome(1, 0, 2),
    ),
    GANGS,
)

_BY_SLUG = {sample.slug: sample for sample in SAMPLES}


def sample_named(name: str) -> Sample | None:
    """The sample a sample snapshot was made from: such a snapshot is named by the slug."""
    return _BY_SLUG.get(name)
