"""What `make audit` fails for, and what it says loudly instead; reports as the tools print them."""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path

import pytest

from tests import audit
from tests.audit import Accepted, NotAsked, Vulnerability, asked, of_npm, of_python, remaining

PYTHON = {
    "dependencies": [
        {"name": "asgiref", "version": "3.13.0", "vulns": []},
        {
            "name": "django",
            "version": "5.2.19",
            "vulns": [
                {
                    "id": "PYSEC-2026-1",
                    "fix_versions": ["5.2.20"],
                    "aliases": ["CVE-2026-1"],
                    "description": "bad",
                }
            ],
        },
    ],
    "fixes": [],
}
NPM = {
    "auditReportVersion": 2,
    "vulnerabilities": {
        "eslint-plugin-svelte": {"name": "eslint-plugin-svelte", "via": ["svelte"]},
        "svelte": {
            "name": "svelte",
            "via": [
                {
                    "name": "svelte",
                    "title": "XSS",
                    "url": "https://github.com/advisories/GHSA-aaaa-bbbb-cccc",
                    "severity": "high",
                    "range": "<6",
                }
            ],
        },
    },
}
DJANGO = Vulnerability("django 5.2.19", ("PYSEC-2026-1", "CVE-2026-1"), "fixed in 5.2.20")
SVELTE = Vulnerability("svelte <6", ("GHSA-aaaa-bbbb-cccc",), "high: XSS")


def test_each_cause_is_found_once() -> None:
    assert list(of_python(PYTHON)) == [DJANGO]
    assert list(of_npm(NPM)) == [SVELTE]


def test_a_package_that_was_left_out_is_not_taken_for_a_good_one() -> None:
    skipped = {"name": "numpy", "skip_reason": "Dependency not found on PyPI"}
    with pytest.raises(NotAsked, match="1 packages are unknown there"):
        list(of_python({"dependencies": [*PYTHON["dependencies"], skipped]}))


def test_a_registry_that_does_not_audit_is_not_taken_for_a_good_answer() -> None:
    with pytest.raises(NotAsked, match="405"):
        list(of_npm({"message": "405 Method Not Allowed", "statusCode": 405, "error": {}}))


def test_a_tool_that_prints_no_report_has_not_asked(tmp_path: Path) -> None:
    dies = [sys.executable, "-c", "raise SystemExit('no such host')"]
    with pytest.raises(NotAsked, match="no such host"):
        asked(dies, tmp_path)


def test_what_is_accepted_is_accepted_for_its_package_and_until_its_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "accepted.yaml"
    file.write_text(
        "- {id: CVE-2026-1, package: django, why: not used, until: 2026-12-31}\n"
        "- {id: GHSA-aaaa-bbbb-cccc, package: vite, why: not used, until: 2026-12-31}\n"
    )
    monkeypatch.setattr(audit, "ACCEPTED", file)
    then = audit.accepted(dt.date(2026, 12, 31))

    assert then["CVE-2026-1"] == Accepted("CVE-2026-1", "django", "not used", dt.date(2026, 12, 31))
    assert remaining([DJANGO, SVELTE], then) == [SVELTE]
    assert remaining([DJANGO], audit.accepted(dt.date(2027, 1, 1))) == [DJANGO]


def test_what_the_repository_accepts_can_be_read() -> None:
    assert all(each.why for each in audit.accepted(dt.date(2026, 1, 1)).values())
