"""Write random documents, one per line: python -m tests.generator cycle 0 100 > cases.jsonl"""

from __future__ import annotations

import json
import sys

from tests.generator.documents import cycle_document, sequence_document

DOCUMENTS = {"cycle": cycle_document, "sequence": sequence_document}

if __name__ == "__main__":
    mode, start, end = sys.argv[1:]
    for seed in range(int(start), int(end)):
        sys.stdout.write(json.dumps(DOCUMENTS[mode](seed)) + "\n")
