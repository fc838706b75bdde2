"use strict";
// A shogi position and a board that shows it and takes moves. Squares and moves are written as in USI.

const HAND_ORDER = ["R", "B", "G", "S", "N", "L", "P"];
const PIECE_KANJI = {K: "玉", k: "王", R: "飛", B: "角", G: "金", S: "銀", N: "桂", L: "香", P: "歩",
                     "+R": "龍", "+B": "馬", "+S": "全", "+N": "圭", "+L": "杏", "+P": "と"};
const PIECE_NAMES = {
  K: _("king"), R: _("rook"), B: _("bishop"), G: _("gold"), S: _("silver"), N: _("knight"), L: _("lance"), P: _("pawn"),
  "+R": _("dragon"), "+B": _("horse"), "+S": _("promoted silver"), "+N": _("promoted knight"), "+L": _("promoted lance"), "+P": _("tokin"),
};
const RANK_KANJI = "一二三四五六七八九";
const PIECE_SCALE = {K: 1.06, R: 1.04, B: 1.04, G: 1, S: 1, N: 0.95, L: 0.91, P: 0.89};
const PIECE_OUTLINE = "M55 7 L87 24 L98 112 H12 L23 24 Z";  // within 110 x 120, the size of a square
const DRAG_START = 6;  // pixels that a pointer moves before a click becomes a drag

const squareName = (file, rank) => file + String.fromCharCode(96 + rank);
const fileOf = square => +square[0];
const rankOf = square => square.charCodeAt(1) - 96;
const isBlackPiece = piece => piece === piece.toUpperCase();

class Position {
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
function hasKanji() {
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

// Return an SVG of a piece; `flipped` pieces point down. Letters replace kanji if `letters` is true or no font has kanji.
function pieceSvg(piece, flipped, letters = false) {
  const kind = piece.toUpperCase(), plain = kind.slice(-1), size = PIECE_SCALE[plain];
  const latin = letters || !hasKanji(), text = latin ? kind : piece === "k" ? PIECE_KANJI.k : PIECE_KANJI[kind];
  const turn = flipped ? "rotate(180 55 60)" : "";
  const shape = (dy, attributes) => `<path d="${PIECE_OUTLINE}" transform="translate(0 ${dy}) ${turn}" ${attributes}/>`;
  const font = latin ? (kind.length > 1 ? 46 : 56) : 66;
  return `<svg class="sb-piece" viewBox="0 0 110 120" aria-hidden="true"><g transform="translate(55 62) scale(${size}) translate(-55 -62)">`
    + `<g class="sb-shadow">${shape(7, "")}</g>${shape(3.5, 'class="sb-side"')}`
    + shape(0, `class="sb-face" fill="url(#sb-face-${flipped ? "down" : "up"})"`)
    + `<text class="sb-kanji${kind.length > 1 ? " sb-promoted" : ""}${latin ? " sb-latin" : ""}" transform="${turn} translate(55 68)" `
    + `font-size="${font}" text-anchor="middle" dominant-baseline="central">${text}</text></g></svg>`;
}

const PIECE_GRADIENTS = `<svg id="sb-gradients" width="0" height="0" aria-hidden="true"><defs>`
  + [["up", 0, 0, 1, 1], ["down", 1, 1, 0, 0]].map(([name, x1, y1, x2, y2]) =>
    `<linearGradient id="sb-face-${name}" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}"><stop offset="0" stop-color="#ffeec4"/>`
    + `<stop offset="0.55" stop-color="#f6d794"/><stop offset="1" stop-color="#e3b768"/></linearGradient>`).join("") + "</defs></svg>";

const GRID_LINES = `<svg class="sb-lines" viewBox="0 0 99 108" preserveAspectRatio="none" aria-hidden="true"><path d="`
  + [1, 2, 3, 4, 5, 6, 7, 8].map(n => `M${11 * n} 0V108M0 ${12 * n}H99`).join("") + `"/>`
  + [[33, 36], [66, 36], [33, 72], [66, 72]].map(([x, y]) => `<circle cx="${x}" cy="${y}" r="0.75"/>`).join("") + "</svg>";

class ShogiBoard {
  // onMove(usi) is called with a move of setLegal's list.
  constructor(element, {turned = false, onMove = () => {}} = {}) {
    Object.assign(this, {element, turned, letters: false, onMove});
    this.position = null;
    this.shown = {last: null, arrows: [], check: false};
    this.legal = null;
    this.source = null;  // "7g" or "P*": the piece chosen to move
    this.focused = 40;   // index of the square that the keyboard is on
    this.build();
    this.listen();
  }

  show(sfen, {last = null, arrows = [], check = false} = {}) {
    const before = this.position;
    this.position = new Position(sfen);
    this.shown = {last, arrows, check};
    this.source = null;
    this.closeQuestion();
    this.draw();
    if (before && last && before.pieces[last.slice(0, 2)]) this.slide(before, last);
  }

  // Accept these moves as input; null ends input.
  setLegal(moves) {
    this.legal = moves;
    this.source = null;
    this.closeQuestion();
    this.element.classList.toggle("sb-input", Boolean(moves));
    this.draw();
  }

  // Show White below if `turned`.
  turn(turned) {
    this.turned = turned;
    this.draw();
  }

  setLetters(letters) {
    this.letters = letters;
    this.draw();
  }

  // Show a name and a note, such as a clock, beside a side's hand.
  setName(side, name, note = "") {
    this.names[side] = [name, note];
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
    this.question = make("div", "sb-question", this.grid, {role: "dialog", "aria-label": _("Promote?")});
    this.question.hidden = true;
    this.hands.bottom = hand("bottom");
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
    const key = piece ? `${piece}${this.turned}${this.letters}` : "";
    if (cell.dataset.piece !== key) {
      cell.dataset.piece = key;
      cell.innerHTML = piece ? pieceSvg(piece, isBlackPiece(piece) === this.turned, this.letters) : "";
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
      const count = this.position.hands[letter] || 0, source = HAND_ORDER[index] + "*", own = side === this.position.side;
      slot.innerHTML = count ? pieceSvg(letter, (side === "black") === this.turned, this.letters)
        + `<span class="sb-count" aria-hidden="true">${count > 1 ? count : ""}</span>` : "";
      slot.parentElement.hidden = !count;
      slot.dataset.hand = own ? source : "";
      slot.disabled = !(own && this.canMove(source));
      slot.classList.toggle("sb-source", own && this.source === source);
      slot.setAttribute("aria-label", _("{piece}, {count} in hand", {piece: this.pieceLabel(letter), count}));
    });
  }

  drawNames() {
    for (const [place, side] of [["top", this.turned ? "black" : "white"], ["bottom", this.turned ? "white" : "black"]]) {
      const [name, note] = this.names[side], area = this.hands[place].name;
      area.innerHTML = '<b></b><span class="sb-note"></span>';
      area.firstChild.textContent = `${side === "black" ? "☗" : "☖"} ${name || SIDE_NAMES[side]}`;
      area.firstChild.title = name;
      area.lastChild.textContent = note;
    }
  }

  // Draw arrows from square to square; a drop is a ring around the piece.
  drawArrows() {
    const centre = square => {
      const index = this.indexOf(square);
      return [(index % 9) * 11 + 5.5, Math.floor(index / 9) * 12 + 6];
    };
    this.arrows.innerHTML = this.shown.arrows.map(({usi, kind}) => {
      const [x, y] = centre(usi.slice(2, 4)), style = `class="sb-arrow sb-arrow-${kind}"`;
      if (usi[1] === "*") {
        const piece = pieceSvg(usi[0], (this.position.side === "black") === this.turned, this.letters);
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

  // ---- input: click or tap twice, drag, or arrow keys and Enter ----

  canMove(source) {
    return Boolean(this.legal) && this.legal.some(move => move.startsWith(source));
  }

  listen() {
    const at = event => event.target.closest("[data-square], [data-hand]");
    this.element.addEventListener("click", event => {
      if (!this.legal || this.dragged || event.target.closest(".sb-question")) { this.dragged = false; return; }
      const found = at(event);
      if (found) this.choose(found.dataset.square || found.dataset.hand);
    });
    this.element.addEventListener("keydown", event => this.onKey(event));
    this.element.addEventListener("pointerdown", event => {
      this.dragged = false;
      const found = at(event), source = found && (found.dataset.square || found.dataset.hand);
      if (source && event.button === 0 && this.canMove(source)) this.startDrag(event, source, found.querySelector("svg"));
    });
  }

  // Choose a piece, or the square that the chosen piece moves to.
  choose(place) {
    const moves = this.source ? this.legal.filter(move => move.startsWith(this.source) && move.slice(2, 4) === place) : [];
    if (moves.length > 1) return this.ask(moves);
    if (moves.length === 1) return this.play(moves[0]);
    this.source = place !== this.source && this.canMove(place) ? place : null;
    if (place[1] !== "*") this.focused = this.indexOf(place);
    return this.draw();
  }

  // Show the move at once; whoever gets it shows the board again, without it if it is refused.
  play(move) {
    this.show(this.position.apply(move).sfen(), {last: move});
    this.setLegal(null);
    this.onMove(move);
  }

  // Ask if the piece promotes: one button each.
  ask(moves) {
    const target = moves[0].slice(2, 4), piece = this.position.pieces[moves[0].slice(0, 2)], index = this.indexOf(target);
    this.question.innerHTML = "";
    for (const move of [...moves].sort((a, b) => b.length - a.length)) {
      const button = document.createElement("button"), promoted = move[4] === "+";
      button.type = "button";
      button.innerHTML = pieceSvg((promoted ? "+" : "") + piece, isBlackPiece(piece) === this.turned, this.letters);
      button.setAttribute("aria-label", promoted ? _("Promote") : _("Do not promote"));
      button.onclick = () => { this.grid.querySelector(`[data-square="${target}"]`).focus(); this.play(move); };
      this.question.appendChild(button);
    }
    this.question.style.left = `${Math.min(Math.max((index % 9) - 0.5, 0), 7) / 9 * 100}%`;
    this.question.style.top = `${Math.floor(index / 9) / 9 * 100}%`;
    this.question.hidden = false;
    this.question.firstChild.focus();
  }

  closeQuestion() {
    this.question.hidden = true;
  }

  onKey(event) {
    if (!this.legal) return;
    if (event.key === "Escape" && (this.source || !this.question.hidden)) {
      this.source = null;
      this.closeQuestion();
      this.draw();
      this.cells[this.focused].focus();
      event.stopPropagation();
      return;
    }
    const cell = event.target.closest("[data-square]");
    if (!cell) return;
    const steps = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}, index = this.cells.indexOf(cell);
    if (event.key in steps) {
      const [down, right] = steps[event.key], row = Math.floor(index / 9) + down, column = index % 9 + right;
      if (row >= 0 && row < 9 && column >= 0 && column < 9) this.focus(row * 9 + column);
    } else if (event.key === "Enter" || event.key === " ") this.choose(cell.dataset.square);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  focus(index) {
    this.cells[this.focused].tabIndex = -1;
    this.focused = index;
    this.cells[index].tabIndex = 0;
    this.cells[index].focus();
  }

  // Follow the pointer with a copy of the piece; the square below the pointer at the end is the target.
  startDrag(down, source, piece) {
    let copy = null;
    const box = piece.getBoundingClientRect();
    const move = event => {
      if (!copy && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < DRAG_START) return;
      if (!copy) {
        this.source = source;
        this.draw();
        copy = document.body.appendChild(piece.cloneNode(true));
        copy.classList.add("sb-dragged");
        copy.style.width = `${box.width}px`;
      }
      copy.style.left = `${event.clientX - box.width / 2}px`;
      copy.style.top = `${event.clientY - box.height / 2}px`;
    };
    const end = event => {
      for (const [name, listener] of [["pointermove", move], ["pointerup", end], ["pointercancel", end]])
        document.removeEventListener(name, listener);
      if (!copy) return;
      copy.remove();
      this.dragged = true;
      setTimeout(() => { this.dragged = false; });  // after the click that may follow
      const below = event.type === "pointerup" && document.elementFromPoint(event.clientX, event.clientY);
      const target = below && below.closest("[data-square]");
      if (target && this.element.contains(target) && target.dataset.square !== source) this.choose(target.dataset.square);
    };
    for (const [name, listener] of [["pointermove", move], ["pointerup", end], ["pointercancel", end]])
      document.addEventListener(name, listener);
  }
}
