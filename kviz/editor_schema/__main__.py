"""Write the schemas into a folder: `python -m kviz.editor_schema FOLDER`.

Those with words of kviz's own are written once for each language, from the compiled catalogues.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from gettext import GNUTranslations
from pathlib import Path
from typing import Final

from kviz.editor_schema.configuration import configuration_schema
from kviz.editor_schema.objects import object_schema
from kviz.editor_schema.scenario import scenario_schema
from kviz.editor_schema.schema import Translate
from scheduler_core.wording import Text

LOCALES: Final = Path(__file__).parents[2] / "locale"
LANGUAGES: Final = {"zh-hans": "zh_Hans", "zh-hant": "zh_Hant"}


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "objects.json", object_schema().document())
    own = {"configuration": configuration_schema(), "scenario": scenario_schema()}
    for language, translate in _translations():
        for name, schema in own.items():
            _write(folder / f"{name}.{language}.json", schema.document(translate))


def _write(path: Path, document: dict[str, object]) -> None:
    path.write_text(json.dumps(document, separators=(",", ":")))


def _translations() -> Iterator[tuple[str, Translate]]:
    yield "en", str
    for language, folder in LANGUAGES.items():
        with (LOCALES / folder / "LC_MESSAGES" / "django.mo").open("rb") as file:
            yield language, _from(GNUTranslations(file))


def _from(catalogue: GNUTranslations) -> Translate:
    def translate(text: Text) -> str:
        return catalogue.pgettext(text.id, text.template)

    return translate


if __name__ == "__main__":
    main()
