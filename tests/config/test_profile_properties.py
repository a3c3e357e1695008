"""Laws of merging plugin sets, over drawn ones."""

from hypothesis import given, reject
from hypothesis import strategies as st
from msgspec.structs import replace

from scheduler_core.config import (
    ConfigError,
    ExtensionPoint,
    Plugin,
    Plugins,
    PluginSet,
    resolve_profile,
)
from tests.config.in_tree import ZOO, plugin_set, profile

NAMES = st.sampled_from(list(ZOO))


def sets(point: ExtensionPoint) -> st.SearchStrategy[PluginSet]:
    """Plugins of a point, seldom one that does not belong there or comes twice."""
    fitting = [name for name, implemented in ZOO.items() if point in implemented]
    plugin = st.builds(
        Plugin, name=st.sampled_from(fitting * 8 + ["Sort"]), weight=st.integers(0, 9)
    )
    return st.builds(
        PluginSet,
        enabled=st.lists(plugin, max_size=3, unique_by=lambda each: each.name).map(tuple),
        disabled=st.lists(st.builds(Plugin, name=NAMES | st.just("*")), max_size=1).map(tuple),
    )


PLUGINS = st.builds(
    Plugins,
    multi_point=st.permutations(["Sort", "Bind", "Score1", "Score2", "Normal", "Filter1"]).flatmap(
        lambda names: st.integers(2, 6).map(lambda count: plugin_set(" ".join(names[:count])))
    ),
    queue_sort=st.sampled_from([plugin_set(), plugin_set("Sort")]),
    bind=st.sampled_from([plugin_set(), plugin_set("Bind"), plugin_set("All Bind")]),
    filter=sets(ExtensionPoint.FILTER),
    pre_score=sets(ExtensionPoint.PRE_SCORE),
    score=sets(ExtensionPoint.SCORE),
)


@given(drawn=PLUGINS)
def test_resolving_is_idempotent_and_lists_no_plugin_twice(drawn: Plugins) -> None:
    try:
        resolved = resolve_profile(profile(**drawn.sets()), ZOO)
    except ConfigError:
        reject()
    for refs in resolved.points.values():
        names = [ref.name for ref in refs]
        assert len(names) == len(set(names))
    explicit = Plugins(
        **{
            name: PluginSet(
                enabled=tuple(
                    Plugin(name=ref.name, weight=ref.weight) for ref in resolved.points[point]
                )
            )
            for point in ExtensionPoint
            for name in [point.name.lower()]
        }
    )
    assert resolve_profile(profile(**explicit.sets()), ZOO).points == resolved.points


@given(drawn=PLUGINS, weights=st.dictionaries(NAMES, st.integers(1, 50)))
def test_weights_change_no_order(drawn: Plugins, weights: dict[str, int]) -> None:
    heavier = replace(
        drawn,
        score=replace(
            drawn.score,
            enabled=tuple(
                replace(each, weight=weights.get(each.name, each.weight))
                for each in drawn.score.enabled
            ),
        ),
    )
    outcomes = []
    for each in (drawn, heavier):
        try:
            resolved = resolve_profile(profile(**each.sets()), ZOO)
        except ConfigError as error:
            outcomes.append([problem.message for problem in error.problems])
        else:
            outcomes.append([r.name for refs in resolved.points.values() for r in refs])
    assert outcomes[0] == outcomes[1]
