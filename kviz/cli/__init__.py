"""The `kviz` command. Each subcommand is a module with `add_parser` and a function to run."""

from kviz.cli.main import main

__all__ = ["main"]
