"""`make verify`: compare with the real scheduler of each release; write what Fidelity shows."""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from kviz.conformance.witnessed import Cluster, verify
from kviz.conformance.words import in_words
from kviz.reference.fidelity import VERIFIED
from kviz.samples import sample_texts
from kviz.simulate import read_files
from kviz.witness import Witness, WitnessProblem, find_witness
from scheduler_core import yaml_text
from scheduler_core.config import FeatureGates
from scheduler_core.releases import RELEASES
from scheduler_core.releases.table import Release
from tests.oracle.random_clusters import random_cluster

VERIFIED_RELEASES: Final = ("1.36.3", "1.37.2")
RECORDED: Final = ("small.yaml", "medium.json.gz", "preemption.yaml", "openb.json.gz")
N_RANDOM: Final = 300
N_AGAIN: Final = 8
"""So often the real scheduler is asked again where the two differ."""
CHECKOUT: Final = Path(__file__).parents[2]


def clusters(release: Release) -> Iterator[tuple[str, Cluster]]:
    """Yield what is compared, each with its kind: `samples`, `recorded`, `random`."""
    features = FeatureGates((), release)
    for sample in sample_texts():
        config = sample.config_path
        plain = yaml_text.value(config.read_text()) if config else None
        objects = read_files([sample.path]).objects
        yield "samples", Cluster(sample.slug, list(objects), features, plain)
    folder = Path(os.environ.get("KVIZ_DUMPS", CHECKOUT.parent / "shared" / "snapshots"))
    for name in RECORDED:
        objects = read_files([folder / name]).objects
        yield "recorded", Cluster(name.partition(".")[0], list(objects), features)
    for seed in range(N_RANDOM):
        yield "random", random_cluster(seed, release)


def verified(release: Release) -> dict[str, dict[str, int]]:
    """Compare all clusters; return the counts by kind, and print every difference."""
    witness = find_witness(release)
    counts: dict[str, Counter[str]] = {}
    for kind, cluster in clusters(release):
        count = counts.setdefault(kind, Counter())
        count["clusters"] += 1
        results = list(verify(cluster, witness))
        differing = {result.name: result for result in results if not result.identical}
        varying = _varying(cluster, witness, differing) if differing else set()
        for name, result in differing.items():
            why = (
                "by chance, as it decides like kviz in another run" if name in varying else "apart"
            )
            sys.stdout.write(f"    {why}: {in_words(result.differences[0])}\n")
        count["decisions"] += sum(not result.not_modelled for result in results)
        count["identical"] += sum(r.identical and not r.not_modelled for r in results)
        count["chance"] += len(varying)
        count["after"] += sum(bool(result.not_modelled) for result in results)
    return {kind: dict(each) for kind, each in counts.items()}


def _varying(cluster: Cluster, witness: Witness, names: Iterable[str]) -> set[str]:
    """Return the decisions about which the real scheduler agrees with kviz in another run.

    It is the same program over the same objects: what varies is the order of its maps.
    """
    left, found = set(names), set[str]()
    for _ in range(N_AGAIN):
        if left:
            again = {r.name for r in verify(cluster, witness) if r.identical and not r.not_modelled}
            found |= left & again
            left -= again
    return found


def main(releases: Sequence[str]) -> int:
    """Exit with 0 if all is identical or varies in the real one, 1 if not, 2 without a program."""
    found = json.loads(VERIFIED.read_text()) if VERIFIED.exists() else {}
    for name in releases:
        start_s = time.monotonic()
        try:
            found[name] = verified(RELEASES[name])
        except (WitnessProblem, OSError) as problem:
            sys.stderr.write(f"{problem}\n")
            return 2
        took_s = time.monotonic() - start_s
        sys.stdout.write(f"v{name}: {json.dumps(found[name])}, {took_s:.0f} s\n")
        VERIFIED.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    kinds = [each for name in releases for each in found[name].values()]
    return int(any(each["identical"] + each["chance"] < each["decisions"] for each in kinds))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or VERIFIED_RELEASES))
