"""Language of messages to people, English (that of the source) or Japanese, and the words for errors of the system.

gettext catalogs hold the Japanese texts. USI output and files for other programs are never translated.
"""

import errno
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

LANGUAGES = ("en", "ja")
DOMAIN, CATALOGS = "usi_engine", Path(__file__).parent / "locale"
# Variables that name a language, in the order in which gettext reads them.
VARIABLES = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
PRIMARY_LANGUAGE, JAPANESE = 0x3FF, 0x11  # PRIMARYLANGID and LANG_JAPANESE in winnt.h
_chosen = "en"
_translate: Callable[[str], str] = str


def _(text: str) -> str:
    """Return the text in the chosen language; English if the catalog lacks it."""
    return _translate(text) if text else text  # gettext returns the catalog's header for an empty text


def chosen() -> str:
    """Return the name of the chosen language."""
    return _chosen


def choose(name: str | None = None) -> str:
    """Choose a language, by default that of the environment, and return its name.

    argparse and programs started from here take the same language.
    """
    global _chosen, _translate  # noqa: PLW0603  (one language for a process)
    _chosen = name = name or language_of_environment()
    _translate = str
    os.environ["LANGUAGE"] = name
    if name == "ja":
        import gettext  # noqa: PLC0415  (not needed for English)

        _translate = gettext.translation(DOMAIN, CATALOGS, [name], fallback=True).gettext
        gettext.bindtextdomain(DOMAIN, CATALOGS)
        gettext.textdomain(DOMAIN)
    return name


def language_of_environment() -> str:
    """Return `ja` if the first set variable asks for it or, without any, Windows does; else `en`."""
    for variable in VARIABLES:
        if os.environ.get(variable):
            return "ja" if os.environ[variable].startswith("ja") else "en"
    return language_of_windows()


def language_of_windows() -> str:
    """Return `ja` if Windows shows its own texts in Japanese; else `en`, as on other systems."""
    if sys.platform != "win32":
        return "en"
    import ctypes  # noqa: PLC0415  (slow to import; not needed elsewhere)

    return "ja" if ctypes.windll.kernel32.GetUserDefaultUILanguage() & PRIMARY_LANGUAGE == JAPANESE else "en"


def split_language(words: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return the value of `--lang` (None without it) and the other words. ValueError, quoting another language.

    The language must be known before the parsers are made, because their help is translated.
    """
    name, others, rest = None, list[str](), list(words)
    while rest and rest[0] != "--":
        word = rest.pop(0)
        if word == "--lang" or word.startswith("--lang="):
            name = word.partition("=")[2] or (rest.pop(0) if rest else "")
        else:
            others.append(word)
    if name is not None and name not in LANGUAGES:
        raise ValueError(f"--lang: '{name}' is none of {', '.join(LANGUAGES)}")
    return name, others + rest


def text_of(error: Exception) -> str:
    """Return an error as a sentence: the file and the system's reason of an OSError, else the text of the error."""
    if isinstance(error, OSError) and error.errno is not None:
        reason = reason_of(error)
        return reason if error.filename is None else _("{place}: {reason}").format(place=error.filename, reason=reason)
    return str(error) or _("out of memory")  # Python's own MemoryError has no text


def reason_of(error: OSError) -> str:
    """Return the system's reason; the frequent ones are translated."""
    frequent = {
        errno.ENOENT: _("No such file or directory"),
        errno.EACCES: _("Permission denied"),
        errno.EISDIR: _("Is a directory"),
        errno.ENOTDIR: _("Not a directory"),
        errno.ENOSPC: _("No space left on device"),
        errno.EROFS: _("Read-only file system"),
    }
    return frequent.get(error.errno or 0) or error.strerror or str(error)
