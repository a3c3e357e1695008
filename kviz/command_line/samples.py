"""What sample clusters bring beside their objects, for the commands that read them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from kviz.samples import Sample, sample_at


def take_from_samples(options: argparse.Namespace) -> None:
    """Use the configuration and the scenario of a sample among the files, where none is given.

    Says on standard error which of them are used, and which are not.
    """
    for sample in filter(None, map(sample_at, options.files)):
        if used := " and ".join(_taken(options, sample)):
            _note(f"sample {sample.slug} runs with its own {used}")


def _taken(options: argparse.Namespace, sample: Sample) -> Iterator[str]:
    if sample.config_path and options.config is None:
        options.config = sample.config_path
        yield "configuration"
    elif sample.config_path:
        _note(f"the configuration of sample {sample.slug} is not used, {options.config} is")
    if sample.scenario_path and not options.plays_scenario:
        _note(f"the scenario of sample {sample.slug} is not used: this question plays none")
    elif sample.scenario_path and options.scenario is None:
        options.scenario = sample.scenario_path
        yield "scenario"
    elif sample.scenario_path:
        _note(f"the scenario of sample {sample.slug} is not used, {options.scenario} is")


def _note(text: str) -> None:
    print(f"kviz: note: {text}", file=sys.stderr)
