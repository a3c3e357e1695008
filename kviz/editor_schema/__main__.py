"""Write the schemas into a folder: `python -m kviz.editor_schema FOLDER`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from kviz.editor_schema.configuration import configuration_schema
from kviz.editor_schema.objects import object_schema
from kviz.editor_schema.scenario import scenario_schema


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    schemas = {
        "objects": object_schema(),
        "configuration": configuration_schema(),
        "scenario": scenario_schema(),
    }
    for name, schema in schemas.items():
        text = json.dumps(schema.document(), separators=(",", ":"))
        (folder / f"{name}.json").write_text(text)


if __name__ == "__main__":
    main()
