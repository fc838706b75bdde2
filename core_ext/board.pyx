"""The rules of shogi as Python sees them; every signature and its contract stands in board.pyi."""

from core_ext.shogi.bitboard cimport Bitboard, pop, some
from core_ext.shogi.hand cimport hand_count
from core_ext.mate.mate_in_one cimport mate_in_one, mate_in_three
from core_ext.shogi.movegen cimport CheckInfo, generate_checks, generate_legal, gives_check, init_check_info
from core_ext.shogi.perft cimport perft
from core_ext.shogi.position cimport (
    NO_DECLARATION, REPETITION_DRAW, REPETITION_LOSS, REPETITION_WIN, RULE_24, RULE_24_HANDICAP, RULE_27,
    RULE_27_HANDICAP, RULE_TRY, allocate_position, can_declare, copy_position, do_move, free_position, full_key,
    game_repetition, in_check, reserve_plies, try_move, undo_move,
)
from core_ext.shogi.see cimport see
from core_ext.shogi.sfen cimport (
    format_move, format_sfen, format_square, parse_move, parse_sfen, parse_square, piece_letters,
)
from core_ext.shogi.types cimport GOLD, MAX_MOVES, Move, NO_MOVE, NO_SQUARE, PAWN, make_piece, uint64_t

BLACK = 0
WHITE = 1

_START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
_RULES = {
    "NoEnteringKing": NO_DECLARATION, "CSARule24": RULE_24, "CSARule24H": RULE_24_HANDICAP, "CSARule27": RULE_27,
    "CSARule27H": RULE_27_HANDICAP, "TryRule": RULE_TRY,
}
_REPETITIONS = {REPETITION_DRAW: "draw", REPETITION_WIN: "win", REPETITION_LOSS: "lose"}
_KANJI = {"P": "歩", "L": "香", "N": "桂", "S": "銀", "G": "金", "B": "角", "R": "飛", "K": "玉",
          "+P": "と", "+L": "杏", "+N": "圭", "+S": "全", "+B": "馬", "+R": "龍"}
_NUMERALS = "〇一二三四五六七八九"
_HAND_TYPES = "RBGSNLP"


cdef int declaration_rule(str rule) except -1:
    """The rule behind a word of the option EnteringKingRule."""
    if rule not in _RULES:
        raise ValueError(f"unknown entering-king rule '{rule}'; one of {', '.join(_RULES)}")
    return _RULES[rule]


cdef list names_of(const Move *first, const Move *last):
    cdef list names = []
    while first != last:
        names.append(format_move(first[0]))
        first += 1
    return names


cdef class Board:

    def __cinit__(self, *args, **kwargs):
        allocate_position(&self.pos, 64)
        self.played = []

    def __init__(self, sfen: str = "startpos"):
        self.set_sfen(sfen)

    def __dealloc__(self):
        free_position(&self.pos)

    def copy(self):
        cdef Board other = Board.__new__(Board)
        copy_position(&other.pos, &self.pos, 64)
        other.played = list(self.played)
        return other

    def set_sfen(self, sfen: str):
        cdef Board spare = Board.__new__(Board)
        text = sfen.strip()
        if text.startswith("sfen "):
            text = text[5:]
        parse_sfen(&spare.pos, _START if text == "startpos" else text)
        copy_position(&self.pos, &spare.pos, 64)
        self.played = []

    @property
    def turn(self):
        return self.pos.side

    @property
    def ply(self):
        return self.pos.ply

    @property
    def key(self):
        return full_key(&self.pos)

    def sfen(self):
        return format_sfen(&self.pos)

    def push(self, move: str):
        cdef int parsed = parse_move(&self.pos, move)
        reserve_plies(&self.pos, 1)
        do_move(&self.pos, <Move>parsed)
        self.played.append(parsed)

    def pop(self):
        if not self.played:
            raise IndexError("no move to take back")
        undo_move(&self.pos)
        return format_move(<Move><int>self.played.pop())

    def moves(self):
        return [format_move(<Move><int>move) for move in self.played]

    def legal_moves(self, include_all: bool = False):
        cdef Move moves[MAX_MOVES]
        return names_of(moves, generate_legal(&self.pos, moves, include_all))

    def is_legal(self, move: str):
        try:
            parse_move(&self.pos, move)
        except ValueError:
            return False
        return True

    def checking_moves(self, include_all: bool = False):
        cdef Move moves[MAX_MOVES]
        return names_of(moves, generate_checks(&self.pos, moves, include_all))

    def is_check(self):
        return in_check(&self.pos)

    def checkers(self):
        cdef Bitboard checkers = self.pos.state.checkers
        squares = []
        while some(checkers):
            squares.append(format_square(pop(&checkers)))
        return squares

    def gives_check(self, move: str):
        cdef CheckInfo info
        cdef int parsed = parse_move(&self.pos, move)
        init_check_info(&self.pos, &info)
        return gives_check(&self.pos, &info, <Move>parsed)

    def mate_in_one(self):
        cdef Move move = mate_in_one(&self.pos)
        return None if move == NO_MOVE else format_move(move)

    def mate_in_three(self, max_escapes: int = 8):
        cdef Move line[3]
        cdef uint64_t made = 0
        reserve_plies(&self.pos, 3)
        return names_of(line, line + 3) if mate_in_three(&self.pos, max_escapes, line, &made) else []

    def repetition(self):
        return _REPETITIONS.get(game_repetition(&self.pos), "none")

    def can_declare(self, rule: str = "CSARule27"):
        cdef int parsed = declaration_rule(rule)
        if parsed == RULE_TRY:
            return try_move(&self.pos) != NO_MOVE
        return can_declare(&self.pos, parsed)

    def declaration_move(self, rule: str = "CSARule27"):
        if not self.can_declare(rule):
            return None
        return format_move(try_move(&self.pos)) if rule == "TryRule" else "win"

    def see(self, move: str):
        cdef int parsed = parse_move(&self.pos, move)
        return see(&self.pos, <Move>parsed)

    def piece_at(self, square: str):
        cdef int piece = self.pos.board[parse_square(square)]
        return piece_letters(piece) if piece else None

    def hand(self, color: int):
        cdef int piece_type
        held = {}
        if color not in (BLACK, WHITE):
            raise ValueError(f"not a colour: {color!r}")
        for piece_type in range(PAWN, GOLD + 1):
            number = hand_count(self.pos.state.hand[<int>color], piece_type)
            if number:
                held[piece_letters(make_piece(0, piece_type))] = number
        return held

    def king_square(self, color: int):
        if color not in (BLACK, WHITE):
            raise ValueError(f"not a colour: {color!r}")
        cdef int square = self.pos.king[<int>color]
        return None if square == NO_SQUARE else format_square(square)

    def perft(self, depth: int):
        cdef uint64_t leaves
        cdef int plies = depth
        if not 0 <= plies <= 64:
            raise ValueError(f"perft depth {depth} is not within 0 and 64")
        reserve_plies(&self.pos, plies)
        with nogil:
            leaves = perft(&self.pos, plies)
        return leaves

    def ascii(self):
        rows = ["  9  8  7  6  5  4  3  2  1"]
        for rank in range(9):
            cells = [self._letters(9 * file + rank, ".") for file in range(8, -1, -1)]
            rows.append("".join(f"{cell:>3}" for cell in cells) + "  " + "abcdefghi"[<Py_ssize_t>rank])
        hands = [self._ascii_hand(color) for color in (1, 0)]
        return "\n".join([f"White in hand: {hands[0]}"] + rows + [f"Black in hand: {hands[1]}"])

    def kanji(self):
        rows = ["  ９ ８ ７ ６ ５ ４ ３ ２ １", "+---------------------------+"]
        for rank in range(9):
            cells = [self._kanji_cell(9 * file + rank) for file in range(8, -1, -1)]
            rows.append("|" + "".join(cells) + "|" + _NUMERALS[<Py_ssize_t>(rank + 1)])
        rows.append(rows[1])
        return "\n".join(["後手の持駒：" + self._kanji_hand(1)] + rows + ["先手の持駒：" + self._kanji_hand(0)])

    def __str__(self):
        return self.ascii()

    def __repr__(self):
        return f"Board('{self.sfen()}')"

    def _letters(self, square: int, blank: str):
        cdef int piece = self.pos.board[<int>square]
        return piece_letters(piece) if piece else blank

    def _ascii_hand(self, color: int):
        return " ".join(f"{letter}{number}" for letter, number in self.hand(color).items()) or "-"

    def _kanji_cell(self, square: int):
        letters = self._letters(square, "")
        if not letters:
            return " ・"
        return ("v" if letters.islower() else " ") + _KANJI[letters.upper()]

    def _kanji_hand(self, color: int):
        held = self.hand(color)
        names = [_KANJI[letter] + (str(held[letter]) if held[letter] > 1 else "")
                 for letter in _HAND_TYPES if letter in held]
        return " ".join(names) or "なし"
