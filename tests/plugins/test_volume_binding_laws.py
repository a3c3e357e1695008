"""VolumeBinding against upstream's way of working: one node after the other."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.api import Node, TopologySelectorLabelRequirement, TopologySelectorTerm
from scheduler_core.api.quantity import value
from scheduler_core.api.selectors import label_selector_matches, node_selector_matches
from scheduler_core.config.types import VolumeBindingArgs
from scheduler_core.plugins.volume_binding import VolumeBinding
from tests.builders import make_pod
from tests.plugins.harness import World
from tests.plugins.placement import HOST, ZONE, Cycle, selector
from tests.plugins.storage import (
    SELECTED_NODE,
    claim,
    csi_driver,
    nodes,
    pool,
    storage_class,
    uses,
    volume,
)

SIZES = ["1Gi", "2Gi", "3Gi", "5Gi"]
hosts = st.none() | st.lists(st.sampled_from("abc"), min_size=1, unique=True)


@st.composite
def volumes_and_claims(draw: st.DrawFn) -> Any:
    """Return volumes of distinct sizes, some bound or promised to claims c0 to c2, and those."""
    sizes = draw(st.permutations([f"{n}Gi" for n in range(1, 7)]))
    pvs = [
        volume(
            f"v{i}",
            size=sizes[i],
            hosts=draw(hosts),
            claimed_by=draw(st.sampled_from(["", "", "", "c0", "c1", "other"])),
            phase=draw(st.sampled_from(["Available", "Available", "Bound"])),
            labels=draw(st.sampled_from([{}, {"tier": "x"}])),
        )
        for i in range(draw(st.integers(0, 5)))
    ]
    claims = []
    for i in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["wait", "wait", "bound", "selected"]))
        claims.append(
            claim(
                f"c{i}",
                volume=draw(st.sampled_from(["v0", "v1", "gone"])) if kind == "bound" else "",
                selected=draw(st.sampled_from("ab")) if kind == "selected" else "",
                size=draw(st.sampled_from(SIZES)),
                selector=draw(st.none() | st.just(selector(tier="x"))),
            )
        )
    return pvs, claims


@st.composite
def provisioning(draw: st.DrawFn) -> Any:
    """Return the class, its driver and its pools."""
    provisioner = draw(st.sampled_from(["kubernetes.io/no-provisioner", "csi.example.com"]))
    allowed = draw(st.lists(st.lists(st.sampled_from("abc"), min_size=1, unique=True), max_size=2))
    terms = tuple(
        TopologySelectorTerm(
            match_label_expressions=(
                TopologySelectorLabelRequirement(
                    key=ZONE, values=tuple(f"z-{name}" for name in names)
                ),
            )
        )
        for names in allowed
    )
    made = storage_class(provisioner=provisioner, allowed_topologies=terms)
    driver = csi_driver(storage_capacity=draw(st.booleans()))
    pools = [
        pool(f"pool-{name}", selector((HOST, "In", name)), draw(st.sampled_from(SIZES)))
        for name in draw(st.lists(st.sampled_from("abc"), unique=True))
    ]
    return made, driver, pools


def usable(pv: Any, node: Node) -> Any:
    affinity = pv.spec.node_affinity
    return affinity is None or node_selector_matches(affinity.required, node.metadata.labels, "")


def find_match(wanted: Any, pvs: Any, node: Node, taken: Any) -> Any:
    """Upstream: FindMatchingVolume."""
    smallest = None
    size = value(wanted.spec.resources.requests["storage"])
    for pv in pvs:
        reference = pv.spec.claim_ref
        own = reference is not None and reference.name == wanted.name
        if pv.name in taken or (reference is not None and not own):
            continue
        if value(pv.spec.capacity["storage"]) < size:
            continue
        if own:
            return pv if usable(pv, node) else None
        wants = wanted.spec.selector
        if pv.status.phase != "Available" or not usable(pv, node):
            continue
        if wants is not None and not label_selector_matches(wants, pv.metadata.labels):
            continue
        if smallest is None or value(pv.spec.capacity["storage"]) < value(
            smallest.spec.capacity["storage"]
        ):
            smallest = pv
    return smallest


def may_provision(wanted: Any, node: Node, made: Any, driver: Any, pools: Any) -> Any:
    """Return "" or the reason why no volume can be made for a node."""
    labels = node.metadata.labels
    allowed = [
        labels[ZONE] in each.match_label_expressions[0].values for each in made.allowed_topologies
    ]
    if made.provisioner.startswith("kubernetes.io/") or (allowed and not any(allowed)):
        return "didn't find available"
    size = value(wanted.spec.resources.requests["storage"])
    room = any(
        value(each.capacity) >= size and label_selector_matches(each.node_topology, labels)
        for each in pools
    )
    return "" if room or not driver.spec.storage_capacity else "enough free storage"


def naive_reasons(node: Node, pvs: Any, claims: Any, made: Any, driver: Any, pools: Any) -> Any:
    """Return fragments of the reasons against a node. Upstream: FindPodVolumes."""
    reasons = set()
    by_name = {pv.name: pv for pv in pvs}
    for each in claims:
        if each.spec.volume_name:
            pv = by_name.get(each.spec.volume_name)
            if pv is None:
                reasons.add("non-existent")
                break
            if not usable(pv, node):
                reasons.add("node affinity")
                break
    waiting = [each for each in claims if not each.spec.volume_name]
    selected = [each for each in waiting if SELECTED_NODE in each.metadata.annotations]
    if any(each.metadata.annotations[SELECTED_NODE] != node.name for each in selected):
        return reasons | {"didn't find available"}
    to_make, taken = list(selected), set[str]()
    searching = [each for each in waiting if each not in selected]
    for each in sorted(searching, key=lambda c: value(c.spec.resources.requests["storage"])):
        pv = find_match(each, pvs, node, taken)
        if pv is None:
            to_make.append(each)
        else:
            taken.add(pv.name)
    for each in to_make:
        reason = may_provision(each, node, made, driver, pools)
        if reason:
            return reasons | {reason}
    return reasons


FRAGMENTS = ["didn't find available", "node affinity", "enough free storage", "non-existent"]


def run(pvs: Any, claims: Any, made: Any, driver: Any, pools: Any) -> Any:
    world = World(*nodes(), *pvs, *claims, made, driver, *pools)
    incoming = make_pod("p").volumes(*uses(*(each.name for each in claims))).obj()
    return Cycle(world, VolumeBinding(VolumeBindingArgs(), world), incoming)


@given(volumes_and_claims(), provisioning())
def test_all_nodes_at_once_find_what_one_by_one_finds(storage: Any, making: Any) -> None:
    pvs, claims = storage
    made, driver, pools = making
    refused = run(pvs, claims, made, driver, pools).rejects()
    for node in nodes():
        texts = refused.get(node.name, (None, ()))[1]
        got = {fragment for fragment in FRAGMENTS for text in texts if fragment in text}
        assert got == naive_reasons(node, pvs, claims, made, driver, pools)


@given(volumes_and_claims(), provisioning(), st.data())
def test_the_order_of_volumes_and_pools_changes_nothing(
    storage: Any, making: Any, data: st.DataObject
) -> None:
    pvs, claims = storage
    made, driver, pools = making
    twice = [pv.spec.claim_ref.name for pv in pvs if pv.spec.claim_ref is not None]
    if len(set(twice)) < len(twice):
        return  # of several volumes promised to a claim upstream takes any
    shuffled = (
        data.draw(st.permutations(pvs)),
        claims,
        made,
        driver,
        data.draw(st.permutations(pools)),
    )
    found, other = run(pvs, claims, made, driver, pools), run(*shuffled)
    assert found.rejects() == other.rejects()
    for row in range(3):
        bound = [
            {c.name: v.name for v, c in each.state.static_bindings(row)} for each in (found, other)
        ]
        assert bound[0] == bound[1]


@given(volumes_and_claims(), provisioning())
def test_what_is_reserved_and_given_back_leaves_no_trace(storage: Any, making: Any) -> None:
    found = run(*storage, *making)
    for name in found.fits():
        found.plugin.reserve(found.state, found.info, name)
        found.plugin.unreserve(found.state, found.info, name)
    again = Cycle(found.world, found.plugin, found.incoming)
    assert again.rejects() == found.rejects()


@given(volumes_and_claims(), provisioning())
def test_a_bound_pod_fits_where_it_was_bound(storage: Any, making: Any) -> None:
    found = run(*storage, *making)
    for name in found.fits()[:1]:
        found.plugin.reserve(found.state, found.info, name)
        assert found.plugin.pre_bind(found.state, found.info, name).is_success
        again = Cycle(found.world, found.plugin, found.incoming)
        assert name in again.fits()
        assert not again.state.claims.delayed
