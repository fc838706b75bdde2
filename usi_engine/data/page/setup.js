// A position set up by hand: pieces are clicked, dragged or typed onto the board and into the hands; the program checks it.

import {ShogiBoard} from "./board.js";
import {_, byId, data, h} from "./page.js";
import {HAND_ORDER, PIECE_NAMES, isBlackPiece} from "./position.js";
import {onState, post} from "./program.js";

const SET = {K: 2, R: 2, B: 2, G: 4, S: 4, N: 4, L: 4, P: 18};
const isSquare = place => /^\d/.test(place);
let board;

// Places are squares, hands ("P*" Black's, "p*" White's) and the box of all other pieces ("P-"). onMove(text) is called
// with what has been done.
class SetupBoard extends ShogiBoard {
  constructor(element, options) {
    super(element, options);
    element.classList.add("sb-setup");
    this.box = Object.keys(SET).map(letter => [letter, h("button", {type: "button", class: "sb-slot"})]);
    element.append(h("div", {class: "sb-hand sb-box", role: "group", "aria-label": _("Box")},
      ...this.box.map(([, slot]) => h("span", {class: "sb-place"}, slot))));
  }

  // Return how many pieces of a kind are in the box.
  rest(letter) {
    const {pieces, hands} = this.position, onBoard = Object.values(pieces).filter(piece => piece.slice(-1).toUpperCase() === letter);
    return SET[letter] - onBoard.length - (hands[letter] || 0) - (hands[letter.toLowerCase()] || 0);
  }

  piece(place) {
    if (isSquare(place)) return this.position.pieces[place];
    return (place[1] === "*" ? this.position.hands[place[0]] : this.rest(place[0])) > 0 ? place[0] : null;
  }

  canMove(place) {
    return Boolean(this.piece(place));
  }

  choose(place) {
    const from = this.source;
    if (from && from !== place) return this.move(from, place);
    if (from && isSquare(place)) return this.turnOver(place);
    this.source = !from && this.canMove(place) ? place : null;
    this.draw();
    return this.onMove(this.source ? _("{piece}, chosen", {piece: this.pieceLabel(this.piece(place))}) : "");
  }

  // Promote the piece of a square, or let it change sides.
  turnOver(square) {
    const piece = this.piece(square), letter = piece.slice(-1), other = isBlackPiece(letter) ? letter.toLowerCase() : letter.toUpperCase();
    this.put(square, piece === letter && !/[KG]/i.test(letter) ? `+${letter}` : other);
  }

  move(from, to) {
    const {pieces} = this.position, piece = this.piece(from), letter = piece.slice(-1);
    if (from[1] === "*") this.hold(letter, -1);
    else delete pieces[from];
    if (isSquare(to)) return this.put(to, from === "K-" && Object.values(pieces).includes("K") ? "k" : piece);
    if (to[1] === "*" && letter.toUpperCase() !== "K") this.hold(isBlackPiece(to[0]) ? letter.toUpperCase() : letter.toLowerCase(), 1);
    return this.put();
  }

  hold(letter, count) {
    this.position.hands[letter] = (this.position.hands[letter] || 0) + count;
  }

  // Put a piece, or none, on a square.
  put(square = null, piece = null) {
    this.source = null;
    if (square) this.focused = this.indexOf(square);
    if (piece) this.position.pieces[square] = piece;
    else delete this.position.pieces[square];
    this.draw();
    this.onMove(square ? this.squareLabel(square, piece) : "");
  }

  onKey(event) {
    const {square} = event.target.dataset, letter = event.key.toUpperCase();
    if (!square || event.ctrlKey || event.altKey || event.metaKey) super.onKey(event);
    else if (letter in SET && this.rest(letter)) this.put(square, event.key);
    else if (event.key === "+" && this.canMove(square)) this.turnOver(square);
    else if (event.key === "Delete" || event.key === "Backspace") this.put(square);
    else super.onKey(event);
  }

  draw() {
    super.draw();
    if (this.position) for (const [letter, slot] of this.box) this.drawSlot(slot, letter, `${letter}-`, this.rest(letter));
  }

  // Draw pieces in a hand or the box, also none: they may be put there.
  drawSlot(slot, letter, place, count) {
    super.drawSlot(slot, letter, place[1] === "-" ? place : `${letter}*`, Math.max(count, 1));
    slot.lastChild.textContent = count > 1 ? count : "";
    slot.disabled = false;
    slot.classList.toggle("sb-none", count < 1);
    const piece = PIECE_NAMES[letter];
    slot.setAttribute("aria-label", place[1] === "-" ? _("{piece}, {count} in the box", {piece, count}) : _("{piece}, {count} in hand", {piece: this.pieceLabel(letter), count}));
  }
}

function makeBoard() {
  const made = new SetupBoard(byId("setupBoard"), {onMove: check});
  onState("preferences", ({pieces}) => made.setPieces(pieces));
  return made;
}

async function check(said = "") {
  const sfen = board.position.sfen(), fault = await post("analyse/check", {sfen});
  if (sfen !== board.position.sfen()) return;
  byId("setupSaid").textContent = said;
  byId("setupFault").textContent = fault;
  for (const id of ["setupPlay", "setupAnalyse"]) byId(id).disabled = Boolean(fault);
}

function show(sfen) {
  board.show(sfen);
  board.setLegal([]);
  byId("setupSide").value = board.position.side;
  byId("setupStart").value = "";
  check();
}

export function openSetup(sfen) {
  board = board || makeBoard();
  byId("setup").showModal();
  show(sfen.replace(/\d+$/, "1"));
}

// `take` has the functions that get the position: play(sfen) and analyse(sfen).
export function startSetup(take) {
  byId("setupStart").append(...[...byId("handicap").options].map(({value, text}) => h("option", {value: data.starts[value]}, text)));
  byId("setupStart").onchange = () => show(byId("setupStart").value);
  byId("setupSide").onchange = () => { board.position.side = byId("setupSide").value; board.put(); };
  byId("setupRest").onclick = () => { for (const letter of HAND_ORDER) board.hold(letter.toLowerCase(), board.rest(letter)); board.put(); };
  byId("setupCancel").onclick = () => byId("setup").close();
  for (const [id, name] of [["setupPlay", "play"], ["setupAnalyse", "analyse"]])
    byId(id).onclick = () => { byId("setup").close(); take[name](board.position.sfen()); };
}
