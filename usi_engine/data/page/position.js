// A shogi position and the pictures of its pieces. Squares and moves are written as in USI.

import {_} from "./page.js";

export const HAND_ORDER = ["R", "B", "G", "S", "N", "L", "P"];
export const PIECE_STYLES = ["kanji", "two", "letters"];  // one kanji, two, or letters
const PIECE_TWO_KANJI = {K: "玉将", k: "王将", R: "飛車", B: "角行", G: "金将", S: "銀将", N: "桂馬", L: "香車", P: "歩兵",
                         "+R": "龍王", "+B": "龍馬", "+S": "成銀", "+N": "成桂", "+L": "成香", "+P": "と金"};
const PIECE_KANJI = {K: "玉", k: "王", R: "飛", B: "角", G: "金", S: "銀", N: "桂", L: "香", P: "歩",
                     "+R": "龍", "+B": "馬", "+S": "全", "+N": "圭", "+L": "杏", "+P": "と"};
export const PIECE_NAMES = {
  K: _("king"), R: _("rook"), B: _("bishop"), G: _("gold"), S: _("silver"), N: _("knight"), L: _("lance"), P: _("pawn"),
  "+R": _("dragon"), "+B": _("horse"), "+S": _("promoted silver"), "+N": _("promoted knight"), "+L": _("promoted lance"), "+P": _("tokin"),
};
export const RANK_KANJI = "一二三四五六七八九";
const PIECE_SCALE = {K: 1.06, R: 1.04, B: 1.04, G: 1, S: 1, N: 0.95, L: 0.91, P: 0.89};
const PIECE_OUTLINE = "M55 7 L87 24 L98 112 H12 L23 24 Z";  // within 110 x 120, the size of a square

export const squareName = (file, rank) => file + String.fromCharCode(96 + rank);
export const fileOf = square => +square[0];
export const rankOf = square => square.charCodeAt(1) - 96;
export const isBlackPiece = piece => piece === piece.toUpperCase();

export class Position {
  constructor(sfen) {
    const [rows, side, hands, number] = sfen.split(" ");
    this.side = side === "w" ? "white" : "black";
    this.number = +number || 1;
    this.pieces = {};  // square -> "P", "+p", ...; capitals are Black's
    this.hands = {};   // letter -> count; capitals are Black's
    rows.split("/").forEach((row, index) => {
      let file = 9;
      for (const [mark] of row.matchAll(/\+?[A-Za-z]|\d/g)) {
        if (/\d/.test(mark)) file -= +mark;
        else this.pieces[squareName(file--, index + 1)] = mark;
      }
    });
    for (const [, count, letter] of (hands || "-").matchAll(/(\d*)([A-Za-z])/g)) this.hands[letter] = +count || 1;
  }

  // Return the position after a move, whose legality is not checked.
  apply(usi) {
    const next = new Position(this.sfen()), to = usi.slice(2, 4), black = this.side === "black";
    const own = letter => black ? letter.toUpperCase() : letter.toLowerCase();
    if (usi[1] === "*") {
      next.pieces[to] = own(usi[0]);
      next.hands[own(usi[0])] -= 1;
    } else {
      const captured = next.pieces[to], from = usi.slice(0, 2);
      if (captured) next.hands[own(captured.slice(-1))] = (next.hands[own(captured.slice(-1))] || 0) + 1;
      next.pieces[to] = (usi[4] === "+" ? "+" : "") + next.pieces[from];
      delete next.pieces[from];
    }
    next.side = black ? "white" : "black";
    next.number += 1;
    return next;
  }

  sfen() {
    const rows = [];
    for (let rank = 1; rank <= 9; rank++) {
      let row = "", empty = 0;
      for (let file = 9; file >= 1; file--) {
        const piece = this.pieces[squareName(file, rank)];
        if (!piece) { empty += 1; continue; }
        row += (empty || "") + piece;
        empty = 0;
      }
      rows.push(row + (empty || ""));
    }
    const held = [...HAND_ORDER, ...HAND_ORDER.map(letter => letter.toLowerCase())].filter(letter => this.hands[letter]);
    const hands = held.map(letter => (this.hands[letter] > 1 ? this.hands[letter] : "") + letter).join("");
    return `${rows.join("/")} ${this.side[0]} ${hands || "-"} ${this.number}`;
  }
}

// Two different kanji look alike if no font has them: both are drawn as the box of a missing character.
let kanjiFound = null;
export function hasKanji() {
  if (kanjiFound === null) {
    const picture = text => {
      const canvas = document.createElement("canvas"), context = canvas.getContext("2d");
      canvas.width = canvas.height = 24;
      context.font = "20px serif";
      context.fillText(text, 1, 20);
      return canvas.toDataURL();
    };
    kanjiFound = picture("歩") !== picture("飛");
  }
  return kanjiFound;
}

// Return an SVG of a piece; `flipped` pieces point down. `style`: `kanji`, `two` kanji, or `letters`, also if no font has kanji.
export function pieceSvg(piece, flipped, style = "kanji") {
  const kind = piece.toUpperCase(), plain = kind.slice(-1), size = PIECE_SCALE[plain];
  const latin = style === "letters" || !hasKanji(), kanji = style === "two" ? PIECE_TWO_KANJI : PIECE_KANJI;
  const text = latin ? kind : (kanji[piece] || kanji[kind]);
  const turn = flipped ? "rotate(180 55 60)" : "";
  const shape = (dy, attributes) => `<path d="${PIECE_OUTLINE}" transform="translate(0 ${dy}) ${turn}" ${attributes}/>`;
  const font = latin ? (kind.length > 1 ? 46 : 56) : text.length > 1 ? 41 : 66;
  const line = (letters, y) => `<text class="sb-kanji${kind.length > 1 ? " sb-promoted" : ""}${latin ? " sb-latin" : ""}" `
    + `transform="${turn} translate(55 ${y})" font-size="${font}" text-anchor="middle" dominant-baseline="central">${letters}</text>`;
  return `<svg class="sb-piece" viewBox="0 0 110 120" aria-hidden="true"><g transform="translate(55 62) scale(${size}) translate(-55 -62)">`
    + `<g class="sb-shadow">${shape(7, "")}</g>${shape(3.5, 'class="sb-side"')}`
    + shape(0, `class="sb-face" fill="url(#sb-face-${flipped ? "down" : "up"})"`)
    + (latin || text.length === 1 ? line(text, 68) : line(text[0], 46) + line(text[1], 87)) + "</g></svg>";
}

export const PIECE_GRADIENTS = `<svg id="sb-gradients" class="hidden" width="0" height="0" aria-hidden="true"><defs>`
  + [["up", 0, 0, 1, 1], ["down", 1, 1, 0, 0]].map(([name, x1, y1, x2, y2]) =>
    `<linearGradient id="sb-face-${name}" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}"><stop offset="0" stop-color="#ffeec4"/>`
    + `<stop offset="0.55" stop-color="#f6d794"/><stop offset="1" stop-color="#e3b768"/></linearGradient>`).join("") + "</defs></svg>";
