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

from __future__ import annotations

import re

from usi_engine import NAME
from usi_engine.analysis.report import AnalysedGame
from usi_engine.core import load_core
from usi_engine.records import kif
from usi_engine.records.notation import marked_kif, name_moves
from usi_engine.records.tree import Node
from usi_engine.records.writer import verify
from usi_engine.search.results import Variation

EARLIER = re.compile(r"\*Engines \d|\*解析 |#評価値=|#詰み=|【(緩手|疑問手|悪手|大悪手)】(勝率 -|\s*$)")


def kif_text(result: AnalysedGame) -> str:
    """Return the whole record. RecordError if it reads back differently."""
    lines = dict[Node, list[str]]()
    for line in (result, *result.variations):
        begin = line.before + 1 if line.before else 0
        lines |= {line.nodes[ply]: comment_lines(line, ply) for ply in range(begin, len(line.nodes))}
    record = result.game.record
    lines[record.root].insert(0, f"*Engines 0 {NAME}")

    def comment_of(node: Node) -> str | None:
        return with_comment(node.comment, lines.get(node, []))

    text = kif.write(record, comment_of)
    verify(text, record, "kif", comment_of)
    return text


def with_comment(old: str | None, lines: list[str]) -> str | None:
    """Return the comment of the record without lines of an earlier analysis, followed by ours."""
    kept = [] if old is None else [line for line in old.split("\n") if not EARLIER.match(line)]
    return "\n".join(kept + lines) if kept + lines else None


def comment_lines(result: AnalysedGame, ply: int) -> list[str]:
    """Return the comment lines after `ply` moves."""
    lines = []
    move = result.judged[ply - 1] if ply else None
    if move is not None and move.grade is not None:
        lines.append(f"【{move.grade.japanese}】勝率 -{move.loss:.1f}%")
    found = result.evaluated[ply]
    best = found.lines[:1] or [Variation(found.score, (), 0, 0)]
    # With a mate, ShogiHome would show the value of another candidate.
    others = found.lines[1:] if found.score.mate is None else ()
    lines += [shogigui_line(result, ply, number, line) for number, line in enumerate([*best, *others], 1)]
    return [*lines, shogihome_line(result, ply)]  # ShogiHome takes the value of the last line


def shogigui_line(result: AnalysedGame, ply: int, number: int, line: Variation) -> str:
    """Return ShogiGUI's comment for a candidate, without the star of a comment."""
    found, score = result.evaluated[ply], line.score.pov(load_core().black)
    best = " ○" if number == 1 and ply and result.judged[ply - 1].best else ""
    value = f"{score.value}" if score.mate is None else f"{'+' if score.value > 0 else '-'}詰 {abs(score.mate)}"
    moves = name_moves(result.game.start, line.pv, result.game.moves[:ply], marked_kif)
    text = f" 読み筋 {' '.join(move.text for move in moves)}" if moves else ""
    clock = f"{int(found.time) // 60:02}:{found.time % 60:04.1f}"
    return f"*解析 0{best} 候補{number} 時間 {clock} 深さ {found.depth} ノード数 {found.nodes} 評価値 {value}{text}"


def shogihome_line(result: AnalysedGame, ply: int) -> str:
    """Return ShogiHome's comment, without the star of a comment."""
    score = result.score(ply)
    if score.mate is None:
        return f"#評価値={score.value}"
    plies = f":{abs(score.mate)}手" if score.mate else ""
    return f"#詰み={'先手' if score.value > 0 else '後手'}勝ち{plies}"
