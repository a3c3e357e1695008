"""`python -m kviz.cli`, for when the `kviz` script is not on the path."""

import sys

from kviz.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
