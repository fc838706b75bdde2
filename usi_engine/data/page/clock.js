// The clocks beside the board: what is left, in red and with beeps at the end.

import {_, clockText} from "./page.js";
import {playSound} from "./sound.js";

const LOW_SECONDS = 10;
const wholeSeconds = milliseconds => Math.max(Math.ceil(milliseconds / 1000), 0);

export class GameClock {
  // `spoken` is the element whose text a screen reader says.
  constructor(board, spoken) {
    Object.assign(this, {board, spoken, state: null, received: 0, beeped: null, said: ""});
    setInterval(() => { if (this.state.clock && this.state.clock.running) this.draw(); }, 100);
  }

  receive(state) {
    this.state = state;
    this.received = performance.now();  // the clock has run since then
  }

  draw() {
    for (const side of "bw") this.drawSide(side, this.state);
  }

  drawSide(side, {clock, players, side: person}) {
    const timed = clock && clock.timed[side], runs = timed && clock.running === side, own = !person || person === side;
    const left = timed ? clock[side] - (runs ? clock.spent + performance.now() - this.received : 0) : 0;
    const inByoyomi = timed && left <= 0 && clock.byoyomi[side] > 0, seconds = wholeSeconds(left + (inByoyomi ? clock.byoyomi[side] : 0));
    const total = timed ? wholeSeconds(left + clock.byoyomi[side]) : 0;
    const text = inByoyomi ? _("byoyomi {seconds}", {seconds}) : clockText(seconds);
    this.board.setName(side === "b" ? "black" : "white", players[side], timed ? text : "", runs && total <= LOW_SECONDS);
    if (runs && own) this.warn(total, inByoyomi && clock.byoyomi[side] / 1000, `${side}${clock[side]}`);
  }

  // Beep once for each of the last seconds; say when byoyomi begins.
  warn(seconds, byoyomi, turn) {
    if (seconds <= LOW_SECONDS && seconds > 0 && this.beeped !== `${turn} ${seconds}`) playSound("beep");
    this.beeped = `${turn} ${seconds}`;
    if (byoyomi && !this.said) this.spoken.textContent = _("Byoyomi: {seconds} seconds a move", {seconds: byoyomi});
    this.said = byoyomi || "";
  }
}
