// Puzzles on the board of the page. The page plays the defender's moves of the solution.

import {_, h} from "./page.js";
import {PIECE_NAMES, Position} from "./position.js";

const ANSWER_DELAY = 500;  // milliseconds before the defender's move

export class PuzzlePlayer {
  // onClose(ply) is called with the position of the game to return to.
  constructor(board, panel, game, onClose) {
    Object.assign(this, {board, panel, game, onClose, puzzle: null});
    board.onMove = move => this.answer(move);
  }

  get active() {
    return this.puzzle !== null;
  }

  start(number) {
    clearTimeout(this.timer);
    this.number = number;
    this.puzzle = this.game.puzzles[number];
    this.positions = [new Position(this.puzzle.sfen)];
    this.done = 0;  // moves of the solution on the board
    this.board.turn(this.puzzle.side === "white");
    this.drawPanel();
    this.ask();
  }

  close() {
    if (!this.active) return;
    clearTimeout(this.timer);
    const {ply} = this.puzzle;
    this.puzzle = null;
    this.board.setLegal(null);
    this.onClose(ply);
  }

  drawPanel() {
    const {game, puzzle} = this, last = this.number === game.puzzles.length - 1;
    this.status = h("p", {class: "status", role: "status"});
    this.solution = h("p", {});
    this.helpers = [h("button", {type: "button", onclick: () => this.hint()}, _("Hint")),
                    h("button", {type: "button", onclick: () => this.giveUp()}, _("Show the solution"))];
    this.panel.replaceChildren(
      h("h2", {}, _("Puzzle {number}", {number: this.number + 1}), h("span", {class: "soft"}, _("Move {number}", {number: puzzle.ply + 1}))),
      h("p", {}, puzzle.goal), this.status, this.solution,
      h("div", {class: "buttons"}, ...this.helpers,
        last ? null : h("button", {type: "button", onclick: () => this.start(this.number + 1)}, _("Next puzzle")),
        h("button", {type: "button", onclick: () => this.close()}, _("Close the puzzle"))));
  }

  // Let the solver move.
  ask() {
    this.draw();
    this.board.setLegal(this.puzzle.legal[this.done / 2]);
  }

  draw(arrows = []) {
    this.board.show(this.positions[this.done].sfen(), {last: this.done ? this.puzzle.solution[this.done - 1] : this.puzzle.last, arrows});
  }

  answer(move) {
    const {puzzle} = this;
    if (!puzzle.accept[this.done / 2].includes(move)) {
      this.status.className = "status mistake";
      this.status.textContent = _("That is not the solution. Try again.");
      return this.ask();
    }
    this.push(move);
    // Another move that is accepted has no reply in the solution.
    if (move !== puzzle.solution[this.done - 1] || this.done >= puzzle.solution.length) return this.solved(_("Correct."));
    this.status.className = "status best";
    this.status.textContent = _("Correct. Go on.");
    this.board.setLegal(null);
    this.timer = setTimeout(() => { this.push(puzzle.solution[this.done]); this.ask(); }, ANSWER_DELAY);
  }

  push(move) {
    this.positions.push(this.positions[this.done].apply(move));
    this.done += 1;
    this.board.show(this.positions[this.done].sfen(), {last: move});
  }

  hint() {
    const {puzzle, done} = this;
    if (done % 2 || done >= puzzle.solution.length) return;
    const source = puzzle.solution[done].slice(0, 2);
    if (source[1] !== "*") this.draw([{usi: source, kind: "hint"}]);
    else this.status.textContent = _("Hint: {move}", {move: PIECE_NAMES[source[0]]});
  }

  giveUp() {
    clearTimeout(this.timer);
    while (this.done < this.puzzle.solution.length) this.push(this.puzzle.solution[this.done]);
    this.solved("");
  }

  solved(text) {
    this.board.setLegal(null);
    this.status.className = "status best";
    this.status.textContent = text;
    this.solution.textContent = `${_("Solution")}: ${this.puzzle.names.join(" ")}  ${this.puzzle.answer}`;
    for (const button of this.helpers) button.disabled = true;
  }
}
