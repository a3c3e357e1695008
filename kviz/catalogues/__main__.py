"""`python -m kviz.catalogues update|check|compile`."""

from __future__ import annotations

import argparse
import sys

from kviz.catalogues import sentences
from kviz.catalogues.catalogues import (
    LANGUAGES,
    compile_for_django,
    make,
    problems,
    update,
)
from kviz.catalogues.sources import SOURCES


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m kviz.catalogues", description=__doc__)
    parser.add_argument("what", choices=("update", "check", "compile"))
    match parser.parse_args().what:
        case "update":
            for name in SOURCES:
                update(name)
            sentences.write()
        case "compile":
            make()
            for language in LANGUAGES:
                compile_for_django(language)
        case _:
            found = [*problems(), *sentences.problems()]
            sys.stdout.writelines(f"{line}\n" for line in found)
            return int(bool(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
