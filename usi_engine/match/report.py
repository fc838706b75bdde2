"""Results of a match: standings, lines of text, the page, and the games as records."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from usi_engine.analysis.page import filled
from usi_engine.files import write_blocks
from usi_engine.language import _, chosen
from usi_engine.match.elo import Sprt, estimate, interval, normalized_elo, pentanomial, superiority
from usi_engine.match.runs import Row
from usi_engine.records import ends
from usi_engine.records.ends import End
from usi_engine.records.formats import local_time, record_of_moves, text_of, write_text
from usi_engine.records.tree import Node
from usi_engine.rules import End as GameEnd
from usi_engine.rules import LiveGame
from usi_engine.usi.protocol import position_of

PAGE = "index.html"
CHART_POINTS = 200  # of each engine's curve


# ---- results ----


def points_of(row: Row, name: str) -> float:
    """Return the points of a player."""
    points: float = row["points"]
    return points if row["players"][0] == name else 1 - points


def results(rows: Iterable[Row], name: str, other: str = "") -> list[float]:
    """Return the points of an engine in its games, or in those against another one."""
    return [points_of(row, name) for row in rows if {name, other or name} <= {*row["players"]}]


def pair_scores(rows: Iterable[Row], name: str) -> list[float]:
    """Return the score of an engine, 0 to 1, in each of its pairs of games that is complete."""
    pairs = dict[int, list[float]]()
    for row in rows:
        if name in row["players"]:
            pairs.setdefault(row["game"] // 2, []).append(points_of(row, name))
    return [sum(two) / 2 for two in pairs.values() if len(two) == 2]


@dataclass(frozen=True)
class Standing:
    """An engine's points in its games, of which it has played one, and its scores in pairs of games."""

    name: str
    points: list[float]
    pairs: list[float]

    @property
    def score(self) -> float:
        """The mean of the points."""
        return fmean(self.points)

    def cells(self) -> list[str]:
        """Return the row of the table; the interval is over pairs, or over games if there is no complete pair."""
        counts = [str(self.points.count(value)) for value in (1.0, 0.5, 0.0)]
        found = replace(estimate(self.pairs or self.points), score=self.score)
        return [self.name, str(len(self.points)), *counts, *found.texts()]


def standings(rows: Sequence[Row], names: Iterable[str]) -> list[Standing]:
    """Return the standings of the engines with games, the best first."""
    found = [Standing(name, results(rows, name), pair_scores(rows, name)) for name in names]
    return sorted((standing for standing in found if standing.points), key=lambda standing: -standing.score)


def titles() -> list[str]:
    """Return the titles of the table's columns."""
    return [_("engine"), _("games"), "+", "=", "-", _("score %"), _("95 %"), "Elo", _("95 %")]


# ---- text ----


def print_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table with a left-aligned first column and right-aligned others."""
    table = Table(box=SIMPLE)
    for place, name in enumerate(header):
        table.add_column(Text(name), justify="right" if place else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    console = Console()
    Console(width=console.width if console.is_terminal else 120).print(table)


def note(rows: Sequence[Row], name: str) -> str:
    """Return wins, draws, losses and score of an engine."""
    points = results(rows, name)
    counts = (points.count(value) for value in (1.0, 0.5, 0.0))
    return "{}: +{} ={} -{}, {:.1f} %".format(name, *counts, 100 * sum(points) / len(points)) if points else ""


def lines(rows: Sequence[Row], names: Sequence[str], test: Sprt | None, model: str) -> list[str]:
    """Return what follows the table: pairs and test of two engines, endings, times."""
    found, scores = list[str](), test_scores(rows, names[0], model)
    pairs = pair_scores(rows, names[0])
    if pairs and len(names) == 2:
        found.append(pairs_text(names[0], pairs))
    if test:
        found.append(test_text(test, scores))
    if rows:
        found.append(_("endings: {endings}").format(endings=endings(rows)))
    return found + [line for name in names if (line := time_line(rows, name))]


def pairs_text(name: str, scores: Sequence[float]) -> str:
    """Return the counts of an engine's pairs, with normalized Elo and the likelihood of superiority."""
    counts, (elo, half) = "-".join(map(str, pentanomial(scores))), normalized_elo(scores)
    text = _("pairs of {name}: {counts}, normalized Elo {elo:+.0f} ({interval}), LOS {los:.1f} %")
    ends = interval(f"{elo - half:+.0f}", f"{elo + half:+.0f}")
    return text.format(name=name, counts=counts, elo=elo, interval=ends, los=100 * superiority(scores))


def test_scores(rows: Sequence[Row], name: str, model: str) -> list[float]:
    """Return the scores for a test: those of pairs, or of games for the trinomial model."""
    return pair_scores(rows, name) if model == "pentanomial" else results(rows, name)


def test_text(test: Sprt, scores: Sequence[float]) -> str:
    """Return the state of a sequential test."""
    low, high = test.bounds()
    accepted = test.accepted(scores)
    verdict = _("open") if accepted is None else _("{elo:g} Elo accepted").format(elo=accepted)
    text = _("SPRT of {elo1:g} against {elo0:g} Elo: LLR {ratio:+.2f} within {low:.2f} to {high:+.2f}: {verdict}")
    values = {"elo1": test.elo1, "elo0": test.elo0, "ratio": test.ratio(scores), "low": low, "high": high}
    return text.format(verdict=verdict, **values)


def endings(rows: Sequence[Row]) -> str:
    """Return the kinds of endings and their numbers, with the name of an engine at fault."""
    kinds = Counter((row["ending"], row["players"][int(row["points"])] if row["fault"] else "") for row in rows)
    texts = (
        (reason_text(reason) + (f" ({name})" if name else ""), count) for (reason, name), count in kinds.most_common()
    )
    return _(", ").join(f"{text} {count}" for text, count in texts)


def reason_text(reason: str) -> str:
    """Return the reason of an end in the language of messages, in Japanese as records name it."""
    own = {"score": _("adjudication"), "crash": _("crash"), "hang": _("no answer")}
    kind = ends.BY_REASON.get(reason)
    return own.get(reason) or (kind.word if kind and chosen() == "ja" else reason)


def time_line(rows: Sequence[Row], name: str) -> str:
    """Return one line about how an engine kept its time; empty without a clock."""
    left = [left for row in rows if name in row["players"] for left in row["left"][row["players"].index(name)]]
    if not left:
        return ""
    late = sum(each < 0 for each in left)
    text = _("{name}: {moves} moves, {late} late, least time left {least:.0f} ms")
    return text.format(name=name, moves=len(left), late=late, least=min(left))


# ---- the page ----


def write_page(folder: Path, rows: Sequence[Row], names: Sequence[str], texts: Sequence[str], kind: str) -> None:
    """Write the page of a match; `texts` are lines of text, `kind` is the format of the records, if any. OSError."""
    ordered = sorted(rows, key=lambda row: int(row["game"]))
    found = standings(rows, names)
    data = {
        "title": " - ".join(names) if len(names) == 2 else _("{count} engines").format(count=len(names)),
        "titles": titles(),
        "rows": [standing.cells() for standing in found],
        "cross": [[results_text(rows, one.name, other.name) for other in found] for one in found],
        "curves": [curve(ordered, name) for name in (names[:1] if len(names) == 2 else names)],
        "lines": list(texts),
        "games": [game_data(row, kind) for row in ordered],
    }
    write_blocks(folder / PAGE, [filled("match.js", data).encode("utf-8")])


def results_text(rows: Sequence[Row], name: str, other: str) -> str:
    """Return wins, draws and losses of an engine against another one."""
    points = results(rows, name, other) if name != other else []
    return "+{} ={} -{}".format(*(points.count(value) for value in (1.0, 0.5, 0.0))) if points else ""


def curve(rows: Sequence[Row], name: str) -> dict[str, Any]:
    """Return the score of an engine with its interval, in percent, after each of its pairs of games or some of them."""
    scores = pair_scores(rows, name)
    step = max(len(scores) // CHART_POINTS, 1)
    counts = [*range(step, len(scores), step), len(scores)] if scores else []
    found = [(2 * count, estimate(scores[:count])) for count in counts]
    return {
        "name": name,
        "points": [[games, *(round(100 * part, 2) for part in astuple(score))] for games, score in found],
    }


def game_data(row: Row, kind: str) -> dict[str, Any]:
    """Return a game of the page's list."""
    return {
        "number": row["game"] + 1,
        "players": " - ".join(row["players"]),
        "result": {1.0: "1 - 0", 0.5: "½ - ½", 0.0: "0 - 1"}[row["points"]],
        "end": reason_text(row["ending"]),
        "moves": len(position_of(row["opening"]).moves) + len(row["moves"].split()),
        "fault": row["fault"],
        "file": file_name(row, kind) if kind else "",
    }


# ---- records ----


def file_name(row: Row, kind: str) -> str:
    """Return the name of a game's record."""
    return f"game-{row['game'] + 1:04}.{kind}"


def save_record(folder: Path, row: Row, kind: str) -> None:
    """Write a game as a record in this format, with values in floodgate's comments (Black's). RecordError, OSError."""
    position = position_of(row["opening"])
    game = LiveGame(position.sfen, position.moves)
    sign = 1 - 2 * game.turn
    comments = ["" if value is None else f"** {value * sign * (-1) ** ply}" for ply, value in enumerate(row["values"])]
    moves = [*map(Node, game.moves), *map(Node, row["moves"].split(), row["milliseconds"], comments)]
    header = {"先手": row["players"][0], "後手": row["players"][1], "開始日時": local_time(row["begun"])}
    end = record_end(row, (game.turn + len(row["moves"].split())) % 2)
    write_text(folder / file_name(row, kind), text_of(record_of_moves(game.start, moves, end, header), kind))


def record_end(row: Row, turn: int) -> End:
    """Return the end of a game in its record; `turn` is the side to move.

    Records have no adjudication: the loser resigns, and a comment tells the reason, as of a fault.
    """
    known = row["ending"] in ends.BY_REASON
    winner = None if row["points"] == 0.5 else int(row["points"] == 0.0)
    end = ends.end_of(GameEnd(row["ending"] if known else "resignation", winner), turn)
    end.comment = row["fault"] or (None if known else f"adjudicated by {row['ending']}")
    return end
