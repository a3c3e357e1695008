"""Known vulnerabilities of what is locked, Python's and npm's: `make audit`.

    python -m tests.audit UV

asks the public databases through pip-audit and npm audit. A vulnerability that is not in
`accepted_vulnerabilities.yaml` is a failure. A database that cannot be asked is none: it is said
loudly, because "nothing found" and "nobody asked" must not look the same.
"""

from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

ROOT: Final = Path(__file__).parents[1]
ACCEPTED: Final = ROOT / "tests/accepted_vulnerabilities.yaml"
LOCKED: Final = "requirements-test.lock"
PATIENCE_S: Final = 180
"""A database that does not answer for so long cannot be asked."""


class NotAsked(Exception):
    """A database could not be asked, or did not know what it was asked; the message says which."""


@dataclass(frozen=True)
class Vulnerability:
    """One that a database knows of a package in the lock."""

    package: str
    names: tuple[str, ...]
    """Its identifiers: PYSEC, GHSA, CVE."""
    text: str

    def __str__(self) -> str:
        return f"{self.package}: {' = '.join(self.names)}: {self.text}"


class Accepted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One that does not concern kviz, or has no remedy yet, until somebody looks again."""

    id: str
    package: str
    why: str
    until: dt.date


def of_python(report: Mapping[str, Any]) -> Iterator[Vulnerability]:
    """What pip-audit found. Raises NotAsked if it left packages out: it calls that a success."""
    skipped = [each["name"] for each in report["dependencies"] if "skip_reason" in each]
    if skipped:
        raise NotAsked(f"{len(skipped)} packages are unknown there ({', '.join(skipped[:3])}, ...)")
    for package in report["dependencies"]:
        for found in package["vulns"]:
            fixed = ", ".join(found["fix_versions"]) or "none yet"
            names = (found["id"], *found["aliases"])
            yield Vulnerability(
                f"{package['name']} {package['version']}", names, f"fixed in {fixed}"
            )


def of_npm(report: Mapping[str, Any]) -> Iterator[Vulnerability]:
    """What npm audit found. Raises NotAsked if it found nothing because nobody answered."""
    if "vulnerabilities" not in report:
        raise NotAsked(str(report.get("message", "no answer")))
    for package in report["vulnerabilities"].values():
        for cause in package["via"]:
            if isinstance(cause, dict):  # else the name of the package that has the cause
                name = str(cause["url"]).rpartition("/")[2]
                text = f"{cause['severity']}: {cause['title']}"
                yield Vulnerability(f"{cause['name']} {cause['range']}", (name,), text)


def accepted(today: dt.date) -> dict[str, Accepted]:
    """Those that are accepted today, by identifier."""
    entries = msgspec.yaml.decode(ACCEPTED.read_bytes(), type=list[Accepted])
    return {each.id: each for each in entries if each.until >= today}


def remaining(
    found: Sequence[Vulnerability], accepted: Mapping[str, Accepted]
) -> list[Vulnerability]:
    """Those that nobody has accepted for that very package."""
    return [
        each
        for each in found
        if not any(
            name in accepted and accepted[name].package == each.package.split()[0]
            for name in each.names
        )
    ]


def asked(command: Sequence[str], folder: Path) -> Mapping[str, Any]:
    """What a tool prints as JSON. Raises NotAsked if it does not come to that."""
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        report: Mapping[str, Any] = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise NotAsked(f"no answer within {PATIENCE_S} s") from None
    except json.JSONDecodeError:
        said = done.stderr.strip().splitlines() or ["no answer"]
        raise NotAsked(said[-1][:200]) from None
    return report


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def python_audit(uv: str) -> list[Vulnerability]:
    """Ask PyPI, and OSV if that cannot tell."""
    locked = ["--require-hashes", "--disable-pip", "--requirement", LOCKED]
    tool = [uv, "tool", "run", "pip-audit>=2.9,<3", "--format", "json", "--progress-spinner", "off"]
    try:
        return list(of_python(asked([*tool, "--vulnerability-service", "pypi", *locked], ROOT)))
    except NotAsked as problem:
        say(f"PyPI cannot tell: {problem}")
    return list(of_python(asked([*tool, "--vulnerability-service", "osv", *locked], ROOT)))


def npm_audit() -> list[Vulnerability]:
    """Ask npm's registry, of what is built into pages and of what builds them."""
    command = ["npm", "audit", "--json", "--package-lock-only"]
    return list(of_npm(asked(command, ROOT / "frontend")))


def main(arguments: Sequence[str]) -> int:
    """Return 1 if there is a vulnerability that nobody has accepted."""
    [uv] = arguments
    known, bad = accepted(dt.datetime.now(dt.UTC).date()), 0
    databases: dict[str, Callable[[], list[Vulnerability]]] = {
        "Python": partial(python_audit, uv),
        "npm": npm_audit,
    }
    for of, ask in databases.items():
        try:
            found = ask()
        except NotAsked as problem:
            say(f"!!! NOT AUDITED: the packages of {of}. Their database cannot tell: {problem}")
            continue
        left = remaining(found, known)
        bad += len(left)
        n_accepted = len(found) - len(left)
        say(f"{of}: {len(left)} known vulnerabilities, and {n_accepted} that are accepted")
        for each in left:
            say(f"  {each}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
