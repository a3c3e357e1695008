"""Rules checked on the cluster of a run."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from kviz.accounts.throttling import too_often
from kviz.common.problems import ErrorItem
from kviz.questions.rules.read import values_in_words, verdicts_of
from kviz.questions.rules.text import rules_statement
from kviz.runs.inputs import InvalidInput
from kviz.runs.marked_text import marked_lines
from kviz.runs.models import Run
from kviz.runs.pages.access import run_context, run_of
from scheduler_core.analysis.advice.rules import Verdict


@require_http_methods(["GET", "HEAD", "POST"])
def run_rules(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Paste rules, see which are kept, and what each verdict rests on."""
    run = run_of(request, run_id)
    if run.is_observed or run.snapshot is None:
        raise Http404(run_id)
    text = request.POST.get("rules", "")
    if request.method != "POST":
        return _page(request, run, text)
    if refused := too_often(request, "run"):
        return _page(request, run, text, errors=[refused], status=HTTPStatus.TOO_MANY_REQUESTS)
    try:
        verdicts = verdicts_of(run=run, rules=text)
    except InvalidInput as invalid:
        bad = HTTPStatus.BAD_REQUEST
        return _page(request, run, text, errors=invalid.errors, status=bad)
    return _page(request, run, text, verdicts=verdicts)


def _page(
    request: HttpRequest,
    run: Run,
    text: str,
    *,
    errors: Sequence[ErrorItem] = (),
    verdicts: Sequence[Verdict] = (),
    status: HTTPStatus = HTTPStatus.OK,
) -> HttpResponse:
    bad = {int(error["line"]) for error in errors if "line" in error}
    context = run_context(request, run) | {
        "text": text,
        "errors": errors,
        "marked": marked_lines(text, bad) if bad else [],
        "found": [error for error in errors if "line" in error],
        "statement": rules_statement(verdicts) if verdicts else "",
        "is_kept": all(each.holds for each in verdicts),
        "verdicts": [(each, values_in_words(each)) for each in verdicts],
    }
    return render(request, "questions/rules/page.html", context, status=status)
