"""Every page of the site, as one opens it, by the name of its address.

The browser tests open all of them. `tests/web/test_page_list.py` compares the names with the
configured addresses, so that a page that is added cannot be forgotten here.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.urls import URLPattern, URLResolver, get_resolver

PAGES = {
    "home": ("/",),
    "teach": ("/teach",),
    "plugin-list": ("/plugins/",),
    "plugin-detail": ("/plugins/NodeResourcesFit",),
    "fidelity": ("/about/fidelity",),
    "glossary": ("/glossary/",),
    "then-and-now": (
        "/then-and-now/",
        "/then-and-now/?q=SelectorSpread",
        "/then-and-now/?classic=on",
    ),
    "document-list": ("/docs/",),
    "document": ("/docs/concepts", "/docs/performance", "/docs/adr/README"),
    "snapshot-list": ("/snapshots/",),
    "snapshot-new": ("/snapshots/new",),
    "snapshot-detail": ("/snapshots/{snapshot}",),
    "cluster-list": ("/clusters/",),
    "run-list": ("/runs/",),
    "run-new": ("/runs/new",),
    "link-list": ("/runs/links",),
    "run-compare": ("/runs/compare", "/runs/compare?a={run}&b={run}"),
    "run-detail": ("/runs/{run}",),
    "run-differently": ("/runs/{run}/differently",),
    "run-optimum": ("/runs/{run}/optimum",),
    "run-luck": ("/runs/{run}/luck",),
    "run-rules": ("/runs/{run}/rules",),
    "run-policies": ("/runs/{run}/policies",),
    "run-cycles": ("/runs/{run}/cycles",),
    "run-explore": ("/runs/{run}/explore?c=1&view=tables",),
    "run-why": (
        "/runs/{run}/pods/clinic/train-1/why",
        "/runs/{run}/pods/clinic/launch-0/why",
        "/runs/{run}/pods/clinic/patient-zero-0/why",
    ),
    "run-node": (
        "/runs/{run}/cycles/1/nodes/worker-1",
        "/runs/{run}/cycles/1/nodes/worker-3?against=worker-1",
    ),
    "by-hand": ("/by-hand/",),
    "by-hand-game": ("/by-hand/{game}",),
    "reading-list": ("/learn/read/",),
    "reading-detail": ("/learn/read/preemption",),
    "lesson-list": ("/learn/",),
    "lesson-detail": ("/learn/what-is-a-node",),
    "lesson-step": ("/learn/what-is-a-node/1",),
    "lesson-done": ("/learn/what-is-a-node/done",),
    "lesson-handout": ("/learn/what-is-a-node/handout",),
    "learning-record": ("/learn/record",),
    "homework": ("/learn/homework/{homework}",),
    "homework-door": ("/learn/homework/{homework_code}/",),
    "class-door": ("/class/",),
    "class-home": ("/class/open/",),
    "class-room": ("/class/{code}/",),
    "class-lead": ("/class/{code}/lead",),
    "class-screen": ("/class/{code}/screen",),
    "run-model": ("/runs/{run}/cycles/1/model", "/runs/{run}/cycles/2/model?notation=on"),
    "experiment-list": ("/experiments/",),
    "experiment-new": ("/experiments/new", "/experiments/new?run={run}&question=configurations"),
    "experiment-capacity": (
        "/experiments/capacity",
        "/experiments/capacity?snapshot={snapshot}",
        "/experiments/capacity?run={run}&pod=clinic/train-1",
    ),
    "experiment-nodes": ("/experiments/nodes", "/experiments/nodes?run={run}"),
    "experiment-rehearse": (
        "/experiments/rehearse",
        "/experiments/rehearse?snapshot={snapshot}",
        "/experiments/rehearse?run={run}",
    ),
    "experiment-detail": ("/experiments/{experiment}",),
    "extender-list": ("/extender/",),
    "extender-session": ("/extender/{session}",),
    "followed-list": ("/follow/",),
    "followed-detail": ("/follow/{followed}",),
    "followed-decision": ("/follow/{followed}/decisions/53",),
    "snapshot-simulator": ("/runs/beside/{export}",),
}
"""Paths by the name of the address; the run is one of *The pending clinic*."""

SERVER_PAGES = {
    "account_login",
    "account_inactive",
    "account_change_password",
    "socialaccount_login_cancelled",
    "openid_connect_login",
    "openid_connect_callback",
    "workspace-list",
    "workspace-detail",
    "token-list",
    "workspace-log",
    "workspace-log-csv",
    "server-people",
    "server-workspaces",
    "server-tokens",
    "server-log",
    "server-log-csv",
    "invitation",
}
"""Pages that local mode does not have; `tests/web/test_sign_in.py` and its neighbours open them."""

NO_PAGES = {
    "account_logout",
    "workspace-use",
    "member-add",
    "member-appoint",
    "member-remove",
    "workspace-delete",
    "invitation-create",
    "invitation-withdraw",
    "token-revoke",
    "person-close",
    "person-open",
    "person-password",
    "server-token-revoke",
    "old-words",
    "classic-switch",
    "set-language",
    "document-image",
    "experiment-both",
    "snapshot-delete",
    "run-open",
    "run-cycles-csv",
    "run-pods-csv",
    "run-pause",
    "run-resume",
    "run-cancel",
    "run-rename",
    "run-optimum-ask",
    "run-optimum-cancel",
    "run-share",
    "run-unshare",
    "link-revoke",
    "links-revoke",
    "run-delete",
    "runs-delete",
    "reading-open",
    "snapshots-delete",
    "experiments-delete",
    "lesson-begin",
    "lesson-answer",
    "lesson-reveal",
    "lesson-next",
    "lesson-try",
    "by-hand-snapshot",
    "by-hand-run",
    "class-open-lesson",
    "homework-give",
    "homework-delete",
    "homework-begin",
    "homework-hand-in",
    "class-open-run",
    "class-open-game",
    "class-take",
    "class-end-idle",
    "class-find",
    "class-join",
    "class-end",
    "experiment-cancel",
    "experiment-run",
    "experiment-unblock",
    "experiment-delete",
    "extender-revoke",
    "extender-delete",
    "followed-check",
    "followed-open",
    "followed-resume",
    "followed-stop",
}
"""Addresses that change something or answer with a file."""

NOWHERE = "/nowhere"
"""What is not found is a page too."""


def addresses_of_pages(**ids: str) -> list[str]:
    """All pages with these ids (`run`, `snapshot`, `experiment`, ...) in their paths."""
    paths = [path for each in PAGES.values() for path in each]
    return [path.format(**ids) for path in [*paths, NOWHERE]]


def configured() -> dict[str, str]:
    """Names and routes of all configured addresses outside the REST interface."""
    found = _below(get_resolver().url_patterns, "")
    return {name: route for name, route in found if not route.startswith("api/")}


def _below(patterns: list[URLPattern | URLResolver], prefix: str) -> Iterator[tuple[str, str]]:
    for each in patterns:
        route = prefix + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from _below(each.url_patterns, route)
        else:
            yield each.name or route, route
