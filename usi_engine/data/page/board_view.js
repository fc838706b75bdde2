// A board that shows a position.

import {HAND_ORDER, PIECE_GRADIENTS, PIECE_NAMES, Position, RANK_KANJI, fileOf, hasKanji, isBlackPiece, pieceSvg, rankOf, squareName} from "./position.js";
import {SIDE_NAMES, _, h, svg} from "./page.js";

const GRID_LINES = `<svg class="sb-lines" viewBox="0 0 99 108" preserveAspectRatio="none" aria-hidden="true"><path d="`
  + [1, 2, 3, 4, 5, 6, 7, 8].map(n => `M${11 * n} 0V108M0 ${12 * n}H99`).join("") + `"/>`
  + [[33, 36], [66, 36], [33, 72], [66, 72]].map(([x, y]) => `<circle cx="${x}" cy="${y}" r="0.75"/>`).join("") + "</svg>";

// `legal` and `source`, the moves that it takes and the piece that moves, are set by the classes of boards that take input.
export class BoardView {
  constructor(element, {turned = false} = {}) {
    Object.assign(this, {element, turned, pieces: "kanji"});
    this.position = null;
    this.shown = {last: null, arrows: [], check: false};
    this.legal = null;
    this.source = null;  // "7g" or "P*": the piece chosen to move
    this.focused = 40;   // index of the square that the keyboard is on
    this.build();
    // Hands stand beside the board if there is room, or if the window is low.
    new ResizeObserver(() => element.classList.toggle("sb-beside", element.parentElement.clientWidth >= 600 || innerHeight < 520))
      .observe(element.parentElement);
  }

  show(sfen, {last = null, arrows = [], check = false} = {}) {
    const before = this.position;
    this.position = new Position(sfen);
    this.shown = {last, arrows, check};
    this.source = null;
    this.draw();
    if (before && last && before.pieces[last.slice(0, 2)]) this.slide(before, last);
  }

  // Show White below if `turned`.
  turn(turned) {
    this.turned = turned;
    this.draw();
  }

  // Draw the pieces with one kanji (`kanji`), with two (`two`) or with `letters`.
  setPieces(pieces) {
    this.pieces = pieces;
    this.draw();
  }

  // Show a name and a note, such as a clock, beside a side's hand; in red if it is `low`.
  setName(side, name, note = "", low = false) {
    if (`${this.names[side]}` === `${[name, note, low]}`) return;
    this.names[side] = [name, note, low];
    this.drawNames();
  }

  // ---- elements ----

  build() {
    if (!document.getElementById("sb-gradients")) document.body.insertAdjacentHTML("beforeend", PIECE_GRADIENTS);
    const make = (tag, name, parent, attributes = {}) => parent.appendChild(h(tag, {class: name, ...attributes}));
    this.element.classList.add("sb");
    const frame = make("div", "sb-layout", this.element);
    this.names = {black: ["", ""], white: ["", ""]};
    this.hands = {};
    const hand = place => {
      const area = make("div", `sb-hand sb-${place}`, frame, {role: "group"}), name = make("div", "sb-name", area);
      return {area, name, slots: HAND_ORDER.map(() => make("button", "sb-slot", make("span", "sb-place", area), {type: "button"}))};
    };
    this.hands.top = hand("top");
    const wood = make("div", "sb-wood", frame);
    this.files = make("div", "sb-files", wood, {"aria-hidden": "true"});
    this.ranks = make("div", "sb-ranks", wood, {"aria-hidden": "true"});
    this.grid = make("div", "sb-grid", wood, {role: "grid", "aria-label": _("Board")});
    this.grid.innerHTML = GRID_LINES;
    this.cells = [];
    for (let row = 0; row < 9; row++) {
      const line = make("div", "sb-row", this.grid, {role: "row"});
      for (let column = 0; column < 9; column++) this.cells.push(make("div", "sb-square", line, {role: "gridcell"}));
    }
    this.arrows = this.grid.appendChild(svg("svg", {class: "sb-arrows", viewBox: "0 0 99 108", "aria-hidden": "true"}));
    this.hands.bottom = hand("bottom");
  }

  canMove(source) {
    return Boolean(this.legal) && this.legal.some(move => move.startsWith(source));
  }

  squareAt(index) {
    const row = Math.floor(index / 9), column = index % 9;
    return this.turned ? squareName(column + 1, 9 - row) : squareName(9 - column, row + 1);
  }

  indexOf(square) {
    const index = (rankOf(square) - 1) * 9 + 9 - fileOf(square);
    return this.turned ? 80 - index : index;
  }

  // ---- drawing ----

  draw() {
    if (!this.position) return;
    const targets = this.source ? this.legal.filter(move => move.startsWith(this.source)).map(move => move.slice(2, 4)) : [];
    this.cells.forEach((cell, index) => this.drawSquare(cell, index, targets));
    this.drawHand(this.hands.top, this.turned ? "black" : "white");
    this.drawHand(this.hands.bottom, this.turned ? "white" : "black");
    this.drawNames();
    const nine = [1, 2, 3, 4, 5, 6, 7, 8, 9], down = this.turned ? [...nine].reverse() : nine;
    this.files.innerHTML = [...down].reverse().map(file => `<span>${file}</span>`).join("");
    this.ranks.innerHTML = down.map(rank => `<span>${this.rankText(rank)}</span>`).join("");
    this.drawArrows();
  }

  rankText(rank) {
    return document.documentElement.lang === "ja" && hasKanji() ? RANK_KANJI[rank - 1] : squareName("", rank);
  }

  drawSquare(cell, index, targets) {
    const square = this.squareAt(index), piece = this.position.pieces[square], {last, check} = this.shown;
    const key = piece ? `${piece}${this.turned}${this.pieces}` : "";
    if (cell.dataset.piece !== key) {
      cell.dataset.piece = key;
      cell.innerHTML = piece ? pieceSvg(piece, isBlackPiece(piece) === this.turned, this.pieces) : "";
    }
    cell.dataset.square = square;
    cell.setAttribute("aria-label", this.squareLabel(square, piece, targets.includes(square)));
    const king = this.position.side === "black" ? "K" : "k";
    cell.classList.toggle("sb-last", Boolean(last) && last.slice(2, 4) === square);
    cell.classList.toggle("sb-from", Boolean(last) && last.slice(0, 2) === square);
    cell.classList.toggle("sb-check", check && piece === king);
    cell.classList.toggle("sb-source", this.source === square);
    cell.classList.toggle("sb-target", targets.includes(square));
    cell.classList.toggle("sb-movable", this.canMove(square));
    cell.tabIndex = this.legal && index === this.focused ? 0 : -1;  // a square keeps the focus while the other side moves
  }

  squareLabel(square, piece, target) {
    const name = document.documentElement.lang === "ja" ? `${square[0]}${RANK_KANJI[rankOf(square) - 1]}` : square;
    const text = piece ? this.pieceLabel(piece) : _("empty");
    return `${name} ${text}${target ? `, ${_("can move here")}` : ""}`;
  }

  pieceLabel(piece) {
    const side = SIDE_NAMES[isBlackPiece(piece) ? "black" : "white"];
    return _("{side} {piece}", {side, piece: PIECE_NAMES[piece.toUpperCase()]});
  }

  drawHand({area, slots}, side) {
    area.setAttribute("aria-label", _("{side}'s hand", {side: SIDE_NAMES[side]}));
    area.classList.toggle("sb-to-move", this.position.side === side);
    slots.forEach((slot, index) => {
      const letter = side === "black" ? HAND_ORDER[index] : HAND_ORDER[index].toLowerCase();
      this.drawSlot(slot, letter, side === this.position.side ? `${HAND_ORDER[index]}*` : "", this.position.hands[letter] || 0);
    });
  }

  // Draw pieces in hand; `place` is "" if they do not move now.
  drawSlot(slot, letter, place, count) {
    slot.innerHTML = count ? pieceSvg(letter, isBlackPiece(letter) === this.turned, this.pieces)
      + `<span class="sb-count" aria-hidden="true">${count > 1 ? count : ""}</span>` : "";
    slot.parentElement.hidden = !count;
    slot.dataset.hand = place;
    slot.disabled = !place || !this.canMove(place);
    slot.classList.toggle("sb-source", place !== "" && this.source === place);
    slot.setAttribute("aria-label", _("{piece}, {count} in hand", {piece: this.pieceLabel(letter), count}));
  }

  drawNames() {
    for (const [place, side] of [["top", this.turned ? "black" : "white"], ["bottom", this.turned ? "white" : "black"]]) {
      const [name, note, low] = this.names[side], area = this.hands[place].name;
      area.innerHTML = `<b></b><span class="sb-note${low ? " sb-low" : ""}"></span>`;
      area.firstChild.textContent = `${side === "black" ? "☗" : "☖"} ${name || SIDE_NAMES[side]}`;
      area.firstChild.title = name;
      area.lastChild.textContent = note;
    }
  }

  // Draw arrows from square to square; a drop is a ring around the piece of `side` (by default that to move), a square
  // alone a ring.
  drawArrows() {
    const centre = square => {
      const index = this.indexOf(square);
      return [(index % 9) * 11 + 5.5, Math.floor(index / 9) * 12 + 6];
    };
    this.arrows.innerHTML = this.shown.arrows.map(({usi, kind, side = this.position.side}) => {
      const [x, y] = centre(usi.slice(2, 4) || usi), style = `class="sb-arrow sb-arrow-${kind}"`;
      if (usi.length === 2) return `<g ${style}><circle cx="${x}" cy="${y}" r="5"/></g>`;
      if (usi[1] === "*") {
        const piece = pieceSvg(usi[0], (side === "black") === this.turned, this.pieces);
        return `<g ${style}><circle cx="${x}" cy="${y}" r="5"/><g class="sb-ghost" transform="translate(${x - 4.4} ${y - 4.8})">`
          + piece.replace("<svg", '<svg width="8.8" height="9.6"') + "</g></g>";
      }
      const [fromX, fromY] = centre(usi.slice(0, 2)), length = Math.hypot(x - fromX, y - fromY);
      const angle = Math.atan2(y - fromY, x - fromX) * 180 / Math.PI, neck = length - 4.6;
      return `<path ${style} transform="translate(${fromX} ${fromY}) rotate(${angle})" `
        + `d="M0 -0.7 L${neck} -1.1 L${neck} -3 L${length} 0 L${neck} 3 L${neck} 1.1 L0 0.7 Z"/>`;
    }).join("");
  }

  // Let the moved piece slide to its square, unless the user wants no motion or the move does not follow `before`.
  slide(before, move) {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches || this.dragged) return;
    const after = before.apply(move), from = this.indexOf(move.slice(0, 2)), to = this.indexOf(move.slice(2, 4));
    if (after.sfen().split(" ")[0] !== this.position.sfen().split(" ")[0]) return;
    const [start, end] = [from, to].map(index => this.cells[index].getBoundingClientRect());
    const piece = this.cells[to].firstElementChild;
    piece.animate([{transform: `translate(${start.left - end.left}px, ${start.top - end.top}px)`}, {transform: "none"}],
                  {duration: 160, easing: "ease-out"});
  }
}
