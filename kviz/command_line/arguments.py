"""Types of command-line arguments that more than one command takes."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final, TypeAlias

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

SAMPLE: Final = "sample:"
"""What the name of a sample cluster begins with where a file is asked for."""


def cluster_path(text: str) -> Path:
    """The path of a cluster's file or folder; `sample:NAME` is the file of that sample cluster."""
    if not text.startswith(SAMPLE):
        return Path(text)
    from kviz.samples import sample_named  # reading them takes time

    name = text.removeprefix(SAMPLE)
    if (sample := sample_named(name)) is None:
        raise argparse.ArgumentTypeError(f"there is no sample {name!r}; `kviz sample` lists them")
    return sample.path


def add_files_argument(command: argparse.ArgumentParser) -> None:
    """Take the files of a cluster."""
    command.add_argument(
        "files",
        nargs="+",
        type=cluster_path,
        metavar="FILE",
        help="what kubectl printed: files, packed or not, and folders of them; or sample:NAME "
        "(`kviz sample` lists those)",
    )


def add_format_options(command: argparse.ArgumentParser, formats: tuple[str, ...]) -> None:
    """Offer the formats, the first by default, and `--json` for one of them."""
    command.add_argument("--format", choices=formats, default=formats[0])
    command.add_argument(
        "--json", action="store_const", const="json", dest="format", help="as --format json"
    )
