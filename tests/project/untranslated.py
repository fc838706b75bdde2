"""List what lacks Japanese: `make untranslated`.

Texts of the program; options whose row in docs/usi.ja.md is missing, or has another default or range. Also lists
Japanese texts that nothing shows.
"""

from tests.programs import ROOT
from tests.project.catalog import texts, texts_of_argparse, translated
from tests.project.pages import USI, USI_JAPANESE, option_rows

if __name__ == "__main__":
    english, japanese = option_rows(USI), option_rows(USI_JAPANESE)
    for name, row in english.items():
        if name not in japanese:
            print(f"{name}: missing")
        elif japanese[name] != row:
            print(f"{name}: {japanese[name]} instead of {row}")
    shown, known = texts(), translated()
    for text, path in shown.items():
        if text not in known:
            print(f"{path.relative_to(ROOT)}: {text!r}")
    for text in known.keys() - shown.keys() - texts_of_argparse():
        print(f"not shown: {text!r}")
