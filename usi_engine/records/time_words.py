"""Time controls in the words of records: `1時間0分秒読み60秒`, `60分 切れたら1分将棋`, `01:00+60`, `600+30+10`."""

from __future__ import annotations

import re
import unicodedata

from usi_engine.clock import TimeControl

WORDS = re.compile(
    r"各?(?=\d)(?:(\d{1,4})時間)?(?:(\d{1,5})分)?(?:(\d{1,6})秒)?"
    r"(?:切れ負け|切負け?|\(?(?:切れたら|秒読み|\+)(?:1手)?(\d{1,5})(秒|分)(?:将棋|未満)?(?:秒読み)?\)?)?"
    r"(?:加算(\d{1,5})秒)?"
)
CLOCK = re.compile(r"(\d{1,4}):(\d\d)\+(\d{1,5})")
SECONDS = re.compile(r"(\d{1,7})(?:\.0*)?\+(\d{1,5})(?:\.0*)?\+(\d{1,5})(?:\.0*)?")


def control_of(words: str) -> TimeControl | None:
    """Return the time control that the words give; None if they cannot be read."""
    numbers = seconds_in("".join(unicodedata.normalize("NFKC", words[:100]).split()))
    return TimeControl(*(number * 1000 for number in numbers)) if numbers else None


def seconds_in(text: str) -> tuple[int, int, int] | None:
    """Return main time, byoyomi and increment in seconds."""
    if clock := CLOCK.fullmatch(text):
        return int(clock[1]) * 3600 + int(clock[2]) * 60, int(clock[3]), 0
    if seconds := SECONDS.fullmatch(text):
        return int(seconds[1]), int(seconds[2]), int(seconds[3])
    if named := WORDS.fullmatch(text):
        hours, minutes, rest, byoyomi, unit, increment = (named[group] or 0 for group in range(1, 7))
        main = int(hours) * 3600 + int(minutes) * 60 + int(rest)
        return main, int(byoyomi) * (60 if unit == "分" else 1), int(increment)
    return None


def words_of(control: TimeControl) -> str:
    """Return the words for KIF, in whole seconds."""
    main, byoyomi, increment = (part // 1000 for part in (control.main, control.byoyomi, control.increment))
    minutes, seconds = divmod(main, 60)
    hours = f"{minutes // 60}時間" if minutes >= 60 else ""
    words = f"{hours}{minutes % 60}分" + (f"{seconds}秒" if seconds else "")
    words += f"秒読み{byoyomi}秒" if byoyomi else ""
    return words + (f"加算{increment}秒" if increment else "")
