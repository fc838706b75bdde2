"""Language of messages to people: English, the language of the source, or Japanese.

gettext catalogs hold the Japanese texts. USI output and files for other programs are never translated.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

LANGUAGES = ("en", "ja")
CATALOGS = Path(__file__).parent / "locale"
_translate: Callable[[str], str] = str
_chosen = "en"


def _(text: str) -> str:
    """Return the text in the chosen language; English if the catalog lacks it."""
    return _translate(text)


def chosen() -> str:
    """Return the name of the language that `choose` has set, at first `en`."""
    return _chosen


def choose(name: str | None = None) -> str:
    """Choose a language, by default that of the environment, and return its name."""
    global _translate, _chosen  # noqa: PLW0603  (one language for a process)
    _chosen = name = name or language_of_environment()
    _translate = str
    if name == "ja":
        import gettext  # noqa: PLC0415  (not needed for English)

        _translate = gettext.translation("usi_engine", CATALOGS, ["ja"], fallback=True).gettext
    return name


def language_of_environment() -> str:
    """Return `ja` if the first set variable of LC_ALL, LC_MESSAGES and LANG asks for it, else `en`."""
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if os.environ.get(variable):
            return "ja" if os.environ[variable].startswith("ja") else "en"
    return "en"
