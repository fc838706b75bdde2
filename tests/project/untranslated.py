"""List the options whose row in docs/usi.ja.md is missing, or has another default or range: `make untranslated`."""

from tests.project.pages import USI, USI_JAPANESE, option_rows

if __name__ == "__main__":
    english, japanese = option_rows(USI), option_rows(USI_JAPANESE)
    for name, row in english.items():
        if name not in japanese:
            print(f"{name}: missing")
        elif japanese[name] != row:
            print(f"{name}: {japanese[name]} instead of {row}")
