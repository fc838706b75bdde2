// A board on which one moves: by click or tap twice, drag, or arrow keys and Enter.

import {BoardView} from "./board_view.js";
import {_, h} from "./page.js";
import {isBlackPiece, pieceSvg} from "./position.js";

const DRAG_START = 6;  // pixels that a pointer moves before a click becomes a drag
const PLACES = "[data-square], [data-hand]";

// Return the square or hand, "P*", that an element belongs to.
function placeOf(element) {
  const found = element.closest(PLACES);
  return found && (found.dataset.square || found.dataset.hand);
}

export class ShogiBoard extends BoardView {
  // onMove(usi) is called with a move of setLegal's list.
  constructor(element, {onMove = () => {}, ...options} = {}) {
    super(element, options);
    this.onMove = onMove;
    this.question = this.grid.appendChild(h("div", {class: "sb-question", role: "dialog", "aria-label": _("Promote?")}));
    this.question.hidden = true;
    this.listen();
  }

  show(sfen, options) {
    this.closeQuestion();
    super.show(sfen, options);
  }

  // Accept these moves as input; null ends input.
  setLegal(moves) {
    this.legal = moves;
    this.source = null;
    this.closeQuestion();
    this.element.classList.toggle("sb-input", Boolean(moves));
    this.draw();
  }

  listen() {
    this.element.addEventListener("click", event => {
      if (!this.legal || this.dragged || event.target.closest(".sb-question")) { this.dragged = false; return; }
      const place = placeOf(event.target);
      if (place) this.choose(place);
    });
    this.element.addEventListener("keydown", event => this.onKey(event));
    this.element.addEventListener("pointerdown", event => {
      this.dragged = false;
      const source = placeOf(event.target);
      if (source && event.button === 0 && this.canMove(source)) this.startDrag(event, source, event.target.closest(PLACES).querySelector("svg"));
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
      const promoted = move[4] === "+", play = () => { this.cells[index].focus(); this.play(move); };
      const button = this.question.appendChild(h("button", {type: "button", "aria-label": promoted ? _("Promote") : _("Do not promote"), onclick: play}));
      button.innerHTML = pieceSvg((promoted ? "+" : "") + piece, isBlackPiece(piece) === this.turned, this.pieces);
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
      event.preventDefault();  // the dialog around the board stays open
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
    const box = piece.getBoundingClientRect(), ended = new AbortController();
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
      ended.abort();
      if (!copy) return;
      copy.remove();
      this.dragged = true;
      setTimeout(() => { this.dragged = false; });  // after the click that may follow
      const below = event.type === "pointerup" && document.elementFromPoint(event.clientX, event.clientY);
      const target = below && this.element.contains(below) && placeOf(below);
      if (target && target !== source) this.choose(target);
    };
    for (const [name, listener] of [["pointermove", move], ["pointerup", end], ["pointercancel", end]])
      document.addEventListener(name, listener, {signal: ended.signal});
  }
}
