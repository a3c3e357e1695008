"""`kviz sample`: lists the sample clusters, and writes one to a file."""

from __future__ import annotations

import argparse
import json
import shlex
from pathlib import Path

from kviz.command_line.arguments import SAMPLE, Subparsers
from kviz.command_line.problems import CommandFailed, WrongUsage
from kviz.command_line.tables import table
from kviz.samples import Sample, sample_named, sample_texts


def add_parser(commands: Subparsers) -> None:
    command = commands.add_parser(
        "sample",
        description="List the sample clusters. Every command that reads a cluster's files takes "
        f"{SAMPLE}NAME instead, and runs the sample with its own configuration and scenario.",
        epilog=f"example: kviz explain {SAMPLE}why-pending",
    )
    command.add_argument("name", nargs="?", metavar="NAME", help="the sample to print or to write")
    command.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="write it here, and beside it what it brings: its configuration to FILE.config.yaml, "
        "its scenario to FILE.scenario.yaml",
    )
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if options.name is None:
        if options.output:
            raise WrongUsage("-o goes with the name of a sample")
        _list(as_json=options.json)
        return 0
    sample = sample_named(options.name.removeprefix(SAMPLE))
    if sample is None:
        raise WrongUsage(f"there is no sample {options.name!r}; `kviz sample` lists them")
    if options.output:
        written = _write(sample, options.output)
    if options.json:
        print(json.dumps(_document(sample)))
    elif options.output:
        print(f"kviz simulate {shlex.join(written)}")
    else:
        print(sample.path.read_text(encoding="utf-8"), end="")
    return 0


def _list(*, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"samples": [_document(each) for each in sample_texts()]}))
        return
    rows = [(each.slug, each.teaches) for each in sample_texts()]
    for line in table(("SAMPLE", "WHAT IT SHOWS"), rows):
        print(line)


def _document(sample: Sample) -> dict[str, object]:
    return {
        "name": sample.slug,
        "title": sample.title,
        "teaches": sample.teaches,
        "start": sample.start,
        "configuration": sample.scheduler_config,
        "scenario": sample.scenario,
    }


def _write(sample: Sample, path: Path) -> list[str]:
    """Write the files of a sample; return how a command is given them. Raises CommandFailed."""
    texts = {"": sample.path.read_text(encoding="utf-8")}
    if sample.scheduler_config:
        texts["config"] = sample.scheduler_config
    if sample.scenario:
        texts["scenario"] = sample.scenario
    given: list[str] = []
    for option, text in texts.items():
        file = path.with_name(f"{path.stem}.{option}.yaml") if option else path
        try:
            file.write_text(text, encoding="utf-8")
        except OSError as error:
            raise CommandFailed(f"{file}: {error.strerror}") from error
        given += [f"--{option}", str(file)] if option else [str(file)]
    return given
