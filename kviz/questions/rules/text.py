"""What became of rules, as a table, as JSON and as JUnit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree

from kviz.command_line.tables import table
from scheduler_core.analysis.advice.rules import Verdict
from scheduler_core.wording import builtins, say


def rules_json(verdicts: Sequence[Verdict]) -> dict[str, object]:
    """Return what `kviz check --json` prints."""
    return {
        "holds": all(each.holds for each in verdicts),
        "broken": sum(not each.holds for each in verdicts),
        "rules": [
            {
                "name": each.rule,
                "kind": each.kind,
                "holds": each.holds,
                "sentence": each.sentence,
                "values": dict(each.values),
            }
            for each in verdicts
        ],
    }


def rules_text(verdicts: Sequence[Verdict]) -> str:
    """Return the statement, and a line per rule with what it rests on."""
    return "\n".join(_lines(verdicts)) + "\n"


def rules_statement(verdicts: Sequence[Verdict]) -> str:
    """Say in a sentence whether the rules are kept."""
    broken = sum(not each.holds for each in verdicts)
    n = len(verdicts)
    if not broken:
        return (
            say("rules.kept_one", "The rule is kept")
            if n == 1
            else say("rules.kept", "All {n} rules are kept", n=n)
        )
    if n == 1:
        return say("rules.broken_one", "The rule is broken")
    if broken == 1:
        return say("rules.one_broken", "1 of {n} rules is broken", n=n)
    return say("rules.broken", "{broken} of {n} rules are broken", broken=broken, n=n)


def _lines(verdicts: Sequence[Verdict]) -> Iterator[str]:
    yield from (rules_statement(verdicts), "")
    rows = [("kept" if each.holds else "BROKEN", each.rule, each.sentence) for each in verdicts]
    yield from table(("", "RULE", "WHAT IT RESTS ON"), rows)


def junit(verdicts: Sequence[Verdict], cluster: str) -> str:
    """Return a JUnit report: a test suite for the cluster, a test case per rule."""
    broken = sum(not each.holds for each in verdicts)
    suite = ElementTree.Element(
        "testsuite", name=_clean(cluster), tests=str(len(verdicts)), failures=str(broken)
    )
    for each in verdicts:
        case = ElementTree.SubElement(
            suite, "testcase", name=_clean(each.rule), classname=f"kviz.{each.kind}"
        )
        values = _clean(json.dumps(builtins(each.values), ensure_ascii=False, indent=2))
        if not each.holds:
            failure = ElementTree.SubElement(case, "failure", message=_clean(each.sentence))
            failure.text = values
        else:
            ElementTree.SubElement(case, "system-out").text = _clean(each.sentence)
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    body = ElementTree.tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def _clean(text: str) -> str:
    """Return the text without what XML cannot hold."""
    return "".join(char for char in text if char in "\t\n" or char >= " ")
