"""Nothing is defined that nobody uses: vulture, over code, tests and templates.

A name counts as used where a template has it. Of fields and settings vulture cannot know who reads
them; they are left out.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from vulture.core import Vulture

from tests.tidy.test_house import ROOT, relative

KINDS = ("class", "function", "import", "method", "property", "unreachable_code")

CALLED_BY: dict[str, str] = {
    "Django": """*Config CurrentWorkspace Observed JsonLines StaticFiles ApiProblems EveryAnswer
        GiveBack
        NoExtraSlash Private process_exception process_view UnnamedFiles receive_data_chunk
        file_complete upload_interrupted LongEnough get_error_message
        workspace_context classic_context
        bad_request permission_denied page_not_found server_error csrf_failure _reject Counts
        Proposal""",
    "channels": "Hints",
    "logging": "FaultsOfSenders",
    "django-allauth": """Accounts Identities is_open_for_signup add_message pre_social_login
        get_success_url""",
    "REST framework": """WorkspaceAuthentication MayDoIt authenticate authenticate_header
        has_permission get_cache_key get_paginated_response_schema
        get_schema_operation_parameters Negotiation select_renderer
        exception_handler retrieve destroy throttle_scope get_error get_sentence
        get_stop_reason get_not_modelled get_url get_again get_made_by_older""",
    "drf-spectacular": "TokenScheme SeatScheme get_security_definition describe_problems",
    "uvicorn": "capture_signals send_400_response",
    "Prometheus's client": "collect",
    "markdown-it": "table_open table_close fence",
    "attrgetter": "highest_priority",
    "isinstance": "__instancecheck__",
    "pickle": "persistent_id reducer_override persistent_load",
    "html.parser and http.server, for tests": """handle_starttag handle_endtag handle_data do_*
        log_message handle_error""",
    "pytest and Hypothesis": "pytest_* django_db_modify_db_settings teardown",
    "the entry points of a package": "RackSibling",
}
"""Names that only somebody outside uses."""

DECORATORS = [
    "@pytest.fixture*", "@rule", "@rule*", "@invariant*", "@initialize*", "@register.*", "@action*",
    "@receiver*",
]  # fmt: skip
"""What these decorate, they also register."""


@pytest.mark.slow("reads every source")
def test_nothing_is_defined_that_nobody_uses() -> None:
    allowed = [name for names in CALLED_BY.values() for name in names.split()]
    found = Vulture(ignore_names=allowed, ignore_decorators=DECORATORS)
    found.scavenge(
        [str(ROOT / folder) for folder in ("scheduler_core", "kviz", "tests", "docs/examples")],
        exclude=["*/migrations/*", "*/.venv/*"],
    )
    in_templates = words_of_templates()
    dead = [
        f"{relative(Path(item.filename))}:{item.first_lineno} {item.typ} {item.name}"
        for item in found.get_unused_code(min_confidence=60)
        if item.typ in KINDS and item.name not in in_templates
    ]
    assert dead == []


def words_of_templates() -> set[str]:
    return {
        word
        for folder in (ROOT / "templates", ROOT / "kviz" / "questions")
        for path in folder.rglob("*.html")
        for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))
    }
