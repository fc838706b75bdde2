"""An analysed game as KIF with comments that GUIs draw as a graph.

The comments after a move give the search result of the position after it; values are Black's. There are two
forms, one comment line each (`*` begins a comment in KIF):

- ShogiGUI: `**解析 0 ○ 候補1 時間 00:01.5 深さ 12 ノード数 300000 評価値 120 読み筋 △３四歩(33) ▲２六歩(27)`.
  `0` is the number of the engine that `**Engines 0 NAME` names, `○` marks a move of the game that was the best; a
  mate is `評価値 +詰 5` or `-詰 5`; further lines are 候補2, 候補3. ShogiDroid, which shares its library, reads it
  this way (AnalyzeComment.cs of github.com/keinoda/ShogiDroid-rebuild).
- ShogiHome: `*#評価値=120`, a mate `*#詰み=先手勝ち:5手` or `後手勝ち` (src/common/record/comment.ts of
  github.com/sunfish-shogi/shogihome). It reads ShogiGUI's line too and takes the line of moves from it.

Comments of the record are kept, those of an earlier analysis are replaced.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from usi_engine import NAME
from usi_engine.analysis.formations import name_formations, opening_of
from usi_engine.analysis.judgement import black_score, is_by_rule, judge
from usi_engine.records.formats import verify
from usi_engine.records.kif import write_kif
from usi_engine.records.notation import marked_kif, name_moves
from usi_engine.records.tree import Node, Record, Step
from usi_engine.search.results import Analysis, Score, Variation

EARLIER = re.compile(
    r"\*Engines \d|\*解析 |#評価値=|#詰み=|【入玉宣言】|【(緩手|疑問手|悪手|大悪手)】(勝率( -|が\d)|\s*$)"
)
WINS = ("先手", "後手")


def kif_text(record: Record) -> str:
    """Return an analysed record. RecordError if it reads back differently."""
    comments = dict[Node, str | None]()
    opening = opening_of(name_formations(record))
    named = replace(record, header={"戦型": opening.japanese, **record.header}) if opening else record

    def make_comment(step: Step) -> str | None:
        head = [] if step.node.parent else [f"*Engines 0 {NAME}"]
        comments[step.node] = comment = with_comment(step.node.comment, [*head, *comment_lines(step)])
        return comment

    text = write_kif(named, make_comment)
    verify(text, record, "kif", comments.get)
    return text


def with_comment(old: str | None, lines: list[str]) -> str | None:
    """Return the comment of the record without lines of an earlier analysis, followed by ours."""
    kept = [] if old is None else [line for line in old.split("\n") if not EARLIER.match(line)]
    return "\n".join(kept + lines) if kept + lines else None


def comment_lines(step: Step) -> Iterator[str]:
    """Yield the comment lines of a position; none if it was not searched."""
    found, move, score = step.node.analysis, judge(step.node), black_score(step.node)
    if found is None or score is None:
        return
    if move and move.grade:
        yield f"【{move.grade.japanese}】勝率が{move.loss:.1f}ポイント低下"
    if is_by_rule(score):
        yield f"【入玉宣言】{WINS[score.value < 0]}の勝ち"
    best = found.lines[:1] or [Variation(found.score, (), 0, 0)]
    # With a mate, ShogiHome would show the value of another candidate.
    others = found.lines[1:] if score.mate is None else ()
    for number, line in enumerate([*best, *others], 1):
        yield shogigui_line(step, found, number, line, is_best=number == 1 and move is not None and move.best)
    yield shogihome_line(score)  # ShogiHome takes the value of the last line


def shogigui_line(step: Step, found: Analysis, number: int, line: Variation, *, is_best: bool) -> str:
    """Return ShogiGUI's comment for a candidate, without the star of a comment."""
    score = line.score.pov(0)
    value = f"{score.cp}" if score.mate is None else f"{'+' if score.value > 0 else '-'}詰 {abs(score.mate)}"
    moves = name_moves(step.board, line.pv, marked_kif)
    text = f" 読み筋 {' '.join(move.text for move in moves)}" if moves else ""
    clock = f"{int(found.time) // 60:02}:{found.time % 60:04.1f}"
    best = " ○" if is_best else ""
    return f"*解析 0{best} 候補{number} 時間 {clock} 深さ {found.depth} ノード数 {found.nodes} 評価値 {value}{text}"


def shogihome_line(score: Score) -> str:
    """Return ShogiHome's comment, without the star of a comment."""
    if score.mate is None:
        return f"#評価値={score.cp}"
    plies = f":{abs(score.mate)}手" if score.mate else ""
    return f"#詰み={WINS[score.value < 0]}勝ち{plies}"
