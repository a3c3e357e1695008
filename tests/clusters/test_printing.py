"""The line that prints a cluster with kubectl: on every page the same, and whatever it lacks."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from textwrap import indent

from kviz.reference import kubectl
from scheduler_core.api.ingest import ingest

README = Path(__file__).parents[2] / "README.md"
KUBECTL = """#!/bin/sh
test "$1 $3 $4 $5" = "get -A -o yaml" || exit 2
case $2 in
nodes) printf 'kind: NodeList\\napiVersion: v1\\nitems: [{metadata: {name: a}}]\\n';;
deviceclasses) echo "error: the server doesn't have a resource type \\"$2\\"" >&2; exit 1;;
*) printf 'apiVersion: v1\\nkind: List\\nitems: []\\n';;
esac
"""


def test_it_is_in_the_readme() -> None:
    assert indent(kubectl.SHELL, "   ") in README.read_text(encoding="utf-8")


def test_a_kind_that_the_cluster_lacks_costs_only_that(tmp_path: Path) -> None:
    fake = tmp_path / "kubectl"
    fake.write_text(KUBECTL)
    fake.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    subprocess.run(["sh", "-c", kubectl.SHELL], cwd=tmp_path, env={"PATH": path}, check=True)
    found = ingest([("cluster.yaml", (tmp_path / "cluster.yaml").read_bytes())])
    assert (found.counts, found.errors) == ({"Node": 1}, ())
