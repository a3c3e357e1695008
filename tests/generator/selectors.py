"""Labels, and what selects by them."""

from __future__ import annotations

from typing import Final

from tests.generator.draw import Draw, Json

ZONE: Final = "topology.kubernetes.io/zone"
REGION: Final = "topology.kubernetes.io/region"
HOSTNAME: Final = "kubernetes.io/hostname"
NAMESPACES: Final = ("default", "team-a", "team-b")
TOPOLOGY_KEYS: Final = (ZONE, HOSTNAME, "rack", REGION)

POD_LABELS: Final = {
    "app": ("web", "db", "cache"),
    "tier": ("fe", "be"),
    "rev": ("1", "2", "3"),
    "empty": ("",),
}
NODE_LABELS: Final = {
    "disk": ("ssd", "hdd", "nvme"),
    "gen": ("1", "2", "5", "8", "x9"),
    "arch": ("amd64", "arm64"),
}


def pod_labels(draw: Draw) -> Json:
    return {
        key: draw.one(values)
        for key, values in POD_LABELS.items()
        if draw.chance({"app": 0.9, "empty": 0.1}.get(key, 0.5))
    }


def label_selector(draw: Draw) -> Json | None:
    """Return a selector of pods: now and then none, or the empty one."""
    if draw.chance(0.04):
        return None
    if draw.chance(0.05):
        return {}
    selector: Json = {}
    if draw.chance(0.7):
        key = draw.one(("app", "app", "tier"))
        selector["matchLabels"] = {key: draw.one(POD_LABELS[key])}
    if not selector or draw.chance(0.3):
        selector["matchExpressions"] = [
            _requirement(draw, draw.one(tuple(POD_LABELS))) for _ in range(draw.number(1, 2))
        ]
    return selector


def _requirement(draw: Draw, key: str) -> Json:
    operator = draw.one(("In", "In", "NotIn", "Exists", "DoesNotExist"))
    found: Json = {"key": key, "operator": operator}
    if operator in ("In", "NotIn"):
        found["values"] = draw.some(POD_LABELS[key], 1)
    return found


def node_selector_term(draw: Draw, node_names: list[str]) -> Json:
    """Return a term over labels, over names, over both, or the empty one that matches nothing."""
    term: Json = {}
    if draw.chance(0.8):
        term["matchExpressions"] = [_node_requirement(draw) for _ in range(draw.number(1, 2))]
    if draw.has("names", 0.6):
        term["matchFields"] = [_name_requirement(draw, node_names)]
    if not term and draw.chance(0.8):
        term["matchExpressions"] = [_node_requirement(draw)]
    return term


def _node_requirement(draw: Draw) -> Json:
    key = draw.one((*NODE_LABELS, ZONE, "rack", "none"))
    values = {**NODE_LABELS, ZONE: ("zone-a", "zone-b"), "rack": ("r0", "r1"), "none": ("x",)}[key]
    if key == "gen" and draw.chance(0.6):
        bound = str(draw.number(0, 8))
        return {"key": key, "operator": draw.one(("Gt", "Lt")), "values": [bound]}
    operator = draw.one(("In", "In", "In", "NotIn", "Exists", "DoesNotExist"))
    if operator in ("In", "NotIn"):
        return {"key": key, "operator": operator, "values": draw.some(values, 1, 2)}
    return {"key": key, "operator": operator}


def _name_requirement(draw: Draw, node_names: list[str]) -> Json:
    names = [*node_names, "nowhere"]
    operator = draw.one(("In", "In", "In", "NotIn"))
    return {"key": "metadata.name", "operator": operator, "values": [draw.one(names)]}


def required_node_affinity(draw: Draw, node_names: list[str]) -> Json:
    if draw.has("narrowing", 0.7):
        wanted = draw.some(draw.shuffled(node_names), 1, 6)
        names = [*wanted, *(["nowhere"] if not wanted or draw.chance(0.2) else [])]
        terms = [_named(draw, name) for name in names]
    else:
        terms = [node_selector_term(draw, node_names) for _ in range(draw.number(1, 3))]
    return {"nodeSelectorTerms": terms}


def _named(draw: Draw, name: str) -> Json:
    """Return a term that admits one node only; PreFilter narrows the nodes if all are so."""
    field = {"key": "metadata.name", "operator": "In", "values": [name]}
    term: Json = {"matchFields": [field]}
    if draw.chance(0.2):
        term["matchExpressions"] = [_node_requirement(draw)]
    return term


def node_affinity(draw: Draw, node_names: list[str]) -> Json:
    found: Json = {}
    if draw.chance(0.6):
        found["requiredDuringSchedulingIgnoredDuringExecution"] = required_node_affinity(
            draw, node_names
        )
    if draw.chance(0.5):
        found["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": draw.number(1, 100), "preference": node_selector_term(draw, node_names)}
            for _ in range(draw.number(1, 3))
        ]
    return found


def pod_affinity_term(draw: Draw) -> Json:
    term: Json = {"topologyKey": draw.one(TOPOLOGY_KEYS)}
    if (selector := label_selector(draw)) is not None:
        term["labelSelector"] = selector
    if draw.has("namespaces", 0.4):
        term["namespaces"] = draw.some(NAMESPACES, 1, 2)
    if draw.has("namespaces", 0.4):
        term["namespaceSelector"] = draw.one(
            (
                {},
                {"matchLabels": {"env": "prod"}},
                {"matchExpressions": [{"key": "env", "operator": "NotIn", "values": ["prod"]}]},
                {"matchExpressions": [{"key": "team", "operator": "Exists"}]},
            )
        )
    if "labelSelector" in term and draw.has("labelkeys"):
        keys = draw.some(("app", "tier", "rev", "absent"), 1, 2)
        matching = keys[: draw.number(0, len(keys))]
        term |= {"matchLabelKeys": matching} if matching else {}
        others = keys[len(matching) :]
        term |= {"mismatchLabelKeys": others} if others else {}
    return term


def pod_affinity(draw: Draw) -> Json:
    """Return pod affinity and anti-affinity, required and preferred, each now and then."""
    found: Json = {}
    for kind, likelihood in (("podAffinity", 0.5), ("podAntiAffinity", 0.6)):
        rules: Json = {}
        if draw.chance(likelihood * 0.6):
            rules["requiredDuringSchedulingIgnoredDuringExecution"] = [
                pod_affinity_term(draw) for _ in range(draw.number(1, 2))
            ]
        if draw.chance(likelihood):
            rules["preferredDuringSchedulingIgnoredDuringExecution"] = [
                {"weight": draw.number(1, 100), "podAffinityTerm": pod_affinity_term(draw)}
                for _ in range(draw.number(1, 2))
            ]
        if rules:
            found[kind] = rules
    return found


def spread_constraints(draw: Draw) -> list[Json]:
    """Return constraints with different pairs of key and action, as the API server wants them."""
    pairs = [(key, action) for key in TOPOLOGY_KEYS for action in ("DoNotSchedule", "Schedule")]
    return [_spread(draw, key, action) for key, action in draw.some(draw.shuffled(pairs), 1, 3)]


def _spread(draw: Draw, key: str, action: str) -> Json:
    hard = action == "DoNotSchedule"
    constraint: Json = {
        "maxSkew": draw.one((1, 1, 2, 5)),
        "topologyKey": key,
        "whenUnsatisfiable": action if hard else "ScheduleAnyway",
    }
    if (selector := label_selector(draw)) is not None:
        constraint["labelSelector"] = selector
        if draw.has("labelkeys"):
            constraint["matchLabelKeys"] = draw.some(("app", "tier", "rev"), 1, 2)
    if hard and draw.chance(0.3):
        constraint["minDomains"] = draw.number(1, 5)
    for policy in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if draw.has("policies"):
            constraint[policy] = draw.one(("Honor", "Ignore"))
    return constraint
