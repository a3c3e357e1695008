"""Rules that no recorded case shows by itself: order, interest, rebuilt nodes, Go's JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from scheduler_core.api import Container, Node, Pod, ResourceRequirements
from scheduler_core.config import load_configuration
from scheduler_core.extender.go_json import GoJSONError, decode_first
from scheduler_core.extender.transport import Reply, TLSSettings
from scheduler_core.extender.wire import filter_result, host_priorities, preemption_result
from scheduler_core.scheduler.assembly import SchedulerOptions
from scheduler_core.sim import RunOptions, simulate
from scheduler_core.trace.events import (
    CycleFinished,
    ExtenderCalled,
    ExtenderColumns,
    NodeAdded,
    NodeSelected,
    PreemptionDecided,
    RunStarted,
)
from tests.builders import container, make_node, make_pod
from tests.extender.recordings import CASES, DATA, cluster_of, configuration_text
from tests.simulated import Cluster

Json = Any
Answer = Callable[[Json], Json]


@dataclass
class Answers:
    """A transport with a function per path; keeps the paths called, in order."""

    by_path: Mapping[str, Answer]
    paths: list[str] = field(default_factory=list)

    def post(self, url: str, body: bytes, timeout_ns: int, tls: TLSSettings | None) -> Reply:
        path = url.split("//", 1)[1]
        self.paths.append(path)
        return Reply(200, json.dumps(self.by_path[path](json.loads(body))).encode(), 7)


def keep(*names: str) -> Answer:
    return lambda asked: {"NodeNames": [n for n in asked["NodeNames"] if n in names]}


def scheduled(objects: list[Node | Pod], extenders: str, answers: Answers) -> list[Any]:
    """The trace of a run until nothing more happens, or two cycles."""
    configuration = load_configuration(configuration_text(extenders))
    options = RunOptions(configuration=configuration, transport=answers, max_cycles=2)
    return list(simulate(objects, options))


def of(kind: type, trace: list[Any]) -> list[Any]:
    return [event for event in trace if isinstance(event, kind)]


def three_nodes() -> list[Node | Pod]:
    return [make_node(name).cpu("4").memory("8Gi").obj() for name in ("a", "b", "c")]


def test_the_trace_tells_what_each_call_did_to_single_nodes() -> None:
    def drop(asked: Json) -> Json:
        return {"NodeNames": asked["NodeNames"][1:], "FailedNodes": {asked["NodeNames"][0]: "full"}}

    def rate(asked: Json) -> Json:
        return [{"Host": name, "Score": i - 3} for i, name in enumerate(asked["NodeNames"])]

    trace = scheduled(
        [*three_nodes(), make_pod("incoming").cpu("1").obj()],
        "- {urlPrefix: 'http://one', filterVerb: f, nodeCacheCapable: true}\n"
        "- {urlPrefix: 'http://two', prioritizeVerb: p, weight: 2, nodeCacheCapable: true}",
        Answers({"one/f": drop, "two/p": rate}),
    )
    calls, columns = of(ExtenderCalled, trace), of(ExtenderColumns, trace)
    assert [(each.verb, each.weight, each.duration_ns) for each in calls] == [
        ("filter", 0, 7),
        ("prioritize", 20, 7),
    ]
    assert all(each.n_request_bytes > 50 and each.n_response_bytes > 20 for each in calls)
    assert not any(each.whole_nodes for each in calls)
    names = {event.node: event.name for event in trace if isinstance(event, NodeAdded)}
    dropped, rated = columns
    assert (dropped.call, rated.call) == (0, 1)
    assert [names[n] for n in dropped.removed.array().tolist()] == ["a"]
    assert [dropped.reasons[i] for i in dropped.reason.array().tolist()] == ["full"]
    assert [names[n] for n in rated.nodes.array().tolist()] == ["b", "c"]
    assert rated.scores.array().tolist() == [-3, -2]


def test_ignorable_extenders_are_asked_last_and_each_sees_what_is_left() -> None:
    seen: list[list[str]] = []

    def second(asked: Json) -> Json:
        seen.append(asked["NodeNames"])
        return {"NodeNames": asked["NodeNames"], "FailedNodes": {"a": "late"}}

    answers = Answers({"one/f": second, "two/f": keep("b", "c")})
    scheduled(
        [*three_nodes(), make_pod("incoming").cpu("1").obj()],
        "- {urlPrefix: 'http://one', filterVerb: f, nodeCacheCapable: true, ignorable: true}\n"
        "- {urlPrefix: 'http://two/', filterVerb: f, nodeCacheCapable: true}",
        answers,
    )
    assert answers.paths[:2] == ["two/f", "one/f"]
    assert sorted(seen[0]) == ["b", "c"]


@pytest.mark.parametrize("where", ["requests", "limits"])
def test_interest_is_shown_by_requests_and_limits_of_init_containers_too(where: str) -> None:
    wanted: dict[str, Any] = {where: {"example.com/gpu": "0"}}
    resources = ResourceRequirements(**wanted)
    extender = (
        "- {urlPrefix: 'http://x', filterVerb: f, nodeCacheCapable: true,"
        " managedResources: [{name: example.com/gpu}]}"
    )
    asking = make_pod("incoming").init_containers(Container(name="i", resources=resources)).obj()
    answers = Answers({"x/f": keep("a")})
    scheduled([*three_nodes(), asking], extender, answers)
    assert answers.paths == ["x/f"]
    answers = Answers({})
    scheduled([*three_nodes(), make_pod("incoming").obj()], extender, answers)
    assert answers.paths == []


def test_a_node_dropped_without_a_reason_wakes_the_pod_as_the_extenders_doing() -> None:
    answers = Answers({"x/f": keep()})
    trace = scheduled(
        [*three_nodes(), make_pod("incoming").obj()],
        "- {urlPrefix: 'http://x', filterVerb: f, nodeCacheCapable: true}",
        answers,
    )
    (started,) = of(RunStarted, trace)
    finished = of(CycleFinished, trace)[0]
    assert [started.plugins[i] for i in finished.unschedulable_plugins] == ["Extender"]
    call, *_ = of(ExtenderCalled, trace)
    assert (call.n_nodes_in, call.n_nodes_out, call.duration_ns) == (3, 0, 7)
    assert call.summary == "drops 3 of 3 nodes: 3 without a reason"


def test_reasons_for_nodes_that_nobody_knows_count_in_the_message() -> None:
    answers = Answers({"x/f": lambda asked: {"NodeNames": [], "FailedNodes": {"ghost": "boo"}}})
    trace = scheduled(
        [*three_nodes(), make_pod("incoming").obj()],
        "- {urlPrefix: 'http://x', filterVerb: f, nodeCacheCapable: true}",
        answers,
    )
    assert of(CycleFinished, trace)[0].message.startswith("0/3 nodes are available: 1 boo. ")


def test_scores_of_several_extenders_add_up_with_their_weights() -> None:
    answers = Answers(
        {
            "x/p": lambda asked: [{"Host": "a", "Score": 3}, {"Host": "a", "Score": 1}],
            "y/p": lambda asked: [{"host": "b", "score": 5}, {"Host": "ghost", "Score": 9}],
        }
    )
    trace = scheduled(
        [*three_nodes(), make_pod("incoming").obj()],
        "- {urlPrefix: 'http://x', prioritizeVerb: p, weight: 2, nodeCacheCapable: true}\n"
        "- {urlPrefix: 'http://y', prioritizeVerb: p, weight: 1, nodeCacheCapable: true}",
        answers,
    )
    (selected,) = of(NodeSelected, trace)
    assert selected.total - selected.runner_up_total == (3 + 1) * 2 * 10 - 5 * 10


def test_the_funnel_of_preemption_begins_with_what_extenders_left() -> None:
    (case,) = [case for case in CASES if case["case"] == "case-72"]
    cluster, _ = cluster_of(case)
    cluster.attempt()
    kinds = [type(event) for event in cluster.trace]
    assert kinds.index(ExtenderCalled) < kinds.index(PreemptionDecided)
    (call,) = of(ExtenderCalled, cluster.trace)
    assert (call.verb, call.n_nodes_in, call.n_nodes_out) == ("preempt", 4, 1)
    assert call.summary == "keeps 1 of 4 candidates, 1 victims where there were 4"
    (decided,) = of(PreemptionDecided, cluster.trace)
    assert decided.nodes == (decided.winner,)


@pytest.mark.parametrize("run", [0, 1])
def test_rebuilt_nodes_score_as_if_they_were_empty(run: int) -> None:
    recorded = json.loads((DATA / "nodecachecapable-score-effect.json").read_text())["runs"][run]
    capable = str(recorded["nodeCacheCapable"]).lower()
    objects = [
        make_node("ext-1").cpu("3890m").memory("7542Mi").obj(),
        make_node("ext-4").cpu("3890m").memory("7542Mi").obj(),
        make_pod("busy").on("ext-1").cpu("3").memory("6Gi").obj(),
        make_pod("probe").cpu("500m").memory("512Mi").obj(),
    ]
    answers = Answers({"x/f": lambda asked: asked, "x/p": lambda asked: None})
    extender = (
        "- {urlPrefix: 'http://x', filterVerb: f, prioritizeVerb: p, weight: 1, "
        f"nodeCacheCapable: {capable}}}"
    )
    configuration = load_configuration(configuration_text(extender))
    cluster = Cluster(
        *objects, options=SchedulerOptions(configuration=configuration, transport=answers)
    )
    cycle = cluster.attempt()
    assert cycle.filtering is not None
    assert cycle.scoring is not None
    names = cycle.filtering.feasible.names
    final = dict(zip(names, cycle.scoring.totals.tolist(), strict=True))
    assert final == recorded["attempt"]["finalScores"]
    for plugin in ("NodeResourcesFit", "NodeResourcesBalancedAllocation"):
        (score,) = [s for s in cycle.scoring.scores if s.plugin == plugin]
        weighted = dict(zip(names, (score.normalized * score.weight).tolist(), strict=True))
        expected = recorded["attempt"]["pluginScores"]
        assert weighted == {name: expected[name][plugin] for name in names}


def test_rebuilt_nodes_have_no_images() -> None:
    big = {"app:latest": 900 * 1024 * 1024}
    nodes = [
        make_node("a").cpu("4").images(big).obj(),
        make_node("b").cpu("4").images(big).obj(),
        make_node("c").cpu("4").obj(),
    ]
    extender = "- {urlPrefix: 'http://x', filterVerb: f}"
    configuration = load_configuration(configuration_text(extender))
    answers = Answers({"x/f": lambda asked: asked})
    options = SchedulerOptions(configuration=configuration, transport=answers)
    incoming = make_pod("incoming").containers(container(image="app")).obj()
    cluster = Cluster(*nodes, incoming, options=options)
    scoring = cluster.attempt().scoring
    assert scoring is not None
    (locality,) = [score for score in scoring.scores if score.plugin == "ImageLocality"]
    assert locality.raw.tolist() == [0, 0, 0]


def test_without_a_way_to_reach_extenders_the_trace_says_they_were_not_called() -> None:
    text = configuration_text("- {urlPrefix: 'http://x', filterVerb: f}")
    run = simulate(
        [*three_nodes(), make_pod("incoming").obj()],
        RunOptions(configuration=load_configuration(text)),
    )
    (started,) = of(RunStarted, list(run))
    assert started.not_modelled == ("the extender http://x was not called",)


def selections(seed: int, *scored: str) -> list[tuple[str, str]]:
    """The node and the rule of the first pick, an extender having scored some nodes with 0."""

    def rate(asked: Json) -> Json:
        return [{"Host": name, "Score": 0} for name in asked["NodeNames"] if name in scored]

    extender = "{urlPrefix: 'http://x', prioritizeVerb: p, weight: 1, nodeCacheCapable: true}"
    text = configuration_text(f"- {extender}")
    options = RunOptions(
        configuration=load_configuration(text),
        transport=Answers({"x/p": rate}),
        max_cycles=1,
        seed=seed,
    )
    trace = list(simulate([*three_nodes(), make_pod("incoming").obj()], options))
    names = {event.node: event.name for event in trace if isinstance(event, NodeAdded)}
    return [(names[event.node], event.rule) for event in of(NodeSelected, trace)]


def test_lots_are_drawn_with_the_seed_among_equals_that_an_extender_scored() -> None:
    picks = [selections(seed, "b", "c") for seed in range(20)]
    assert {node for ((node, _),) in picks} == {"b", "c"}
    assert {rule for ((_, rule),) in picks} == {"draw"}
    assert picks == [selections(seed, "b", "c") for seed in range(20)]


def test_without_a_score_of_an_extender_v1_36_draws_no_lots() -> None:
    assert {tuple(selections(seed)) for seed in range(5)} == {(("a", "heap"),)}


# ---------------------------------------------------------------- JSON as Go reads it


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"", "EOF"),
        (b" \n", "EOF"),
        (b"this", "invalid character 'h' in literal true (expecting 'r')"),
        (b"hello", "invalid character 'h' looking for beginning of value"),
        (b'{"a":1', "unexpected EOF"),
        (b'{"a" 1}', "invalid character '1' after object key"),
        (b'{"a":1 "b"}', "invalid character '\"' after object key:value pair"),
        (b"[1 2]", "invalid character '2' after array element"),
        (b"[01]", "invalid character '1' after array element"),
        (b"[1,]", "invalid character ']' looking for beginning of value"),
        (b"{a}", "invalid character 'a' looking for beginning of object key string"),
        (b"-x", "invalid character 'x' in numeric literal"),
        (b"1.x", "invalid character 'x' after decimal point in numeric literal"),
        (b"1e+x", "invalid character 'x' in exponent of numeric literal"),
        (b'"\\x"', "invalid character 'x' in string escape code"),
        (b'"\\u00g"', "invalid character 'g' in \\u hexadecimal character escape"),
        (b'"\n"', "invalid character '\\n' in string literal"),
        (b"<html>", "invalid character '<' looking for beginning of value"),
        (b"[" * 20_000, "exceeded max depth"),
    ],
)
def test_what_is_wrong_is_said_in_gos_words(body: bytes, error: str) -> None:
    with pytest.raises(GoJSONError) as raised:
        decode_first(body)
    assert str(raised.value) == error


def test_only_the_first_value_counts_and_broken_utf8_is_replaced() -> None:
    assert decode_first(b'{"a": true} and more') == {"a": True}
    assert decode_first(b'{"a": "\xff"}') == {"a": "\ufffd"}


def test_replies_are_read_with_keys_in_any_case_and_null_for_nothing() -> None:
    result = filter_result(
        b'{"nodenames":["a"],"FAILEDNODES":{"b":"no"},"failedAndUnresolvableNodes":null,"x":1}'
    )
    assert result.node_names == ("a",)
    assert result.failed == {"b": "no"}
    assert not result.failed_and_unresolvable
    assert host_priorities(b"null") == ()
    assert preemption_result(b'{"nodeNameToMetaVictims":{"n":{"pods":[{"uid":"u"}]}}}')[
        "n"
    ].uids == ("u",)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"[]", "array into Go value of type v1.ExtenderFilterResult"),
        (
            b'{"NodeNames":"a"}',
            "string into Go struct field ExtenderFilterResult.NodeNames of type []string",
        ),
        (b'{"Error":{}}', "object into Go struct field ExtenderFilterResult.Error of type string"),
        (b'{"Error":true}', "bool into Go struct field ExtenderFilterResult.Error of type string"),
    ],
)
def test_a_reply_of_another_shape_is_refused_in_gos_words(body: bytes, error: str) -> None:
    with pytest.raises(GoJSONError) as raised:
        filter_result(body)
    assert str(raised.value) == f"json: cannot unmarshal {error}"


def test_a_score_that_is_no_whole_number_is_refused_as_recorded() -> None:
    with pytest.raises(GoJSONError) as raised:
        host_priorities(b'[{"Host":"a","Score":1.5}]')
    assert str(raised.value) == (
        "json: cannot unmarshal number 1.5 into Go struct field HostPriorityList.0.Score of type "
        "int64"
    )
    with pytest.raises(GoJSONError):
        host_priorities(b'[{"Host":"a","Score":9223372036854775808}]')
