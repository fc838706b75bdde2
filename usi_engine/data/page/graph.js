// The graph of Black's chance of winning: mistakes, phases of the game, time used.

import {_, svg} from "./page.js";

const GRAPH_EDGE = 8, TIME_HEIGHT = 22;

export class WinGraph {
  // onPick(ply) is called when a position is chosen.
  constructor(picture, caption, game, onPick) {
    Object.assign(this, {svg: picture, caption, game, onPick, ply: 0});
    new ResizeObserver(() => this.draw()).observe(picture);
    picture.addEventListener("pointerdown", event => this.pick(event));
    picture.addEventListener("pointermove", event => {
      if (event.buttons === 1) this.pick(event);
      else this.describe(this.plyAt(event));
    });
    picture.addEventListener("pointerleave", () => this.describe(this.ply));
  }

  x(ply) {
    return GRAPH_EDGE + ply * (this.width - 2 * GRAPH_EDGE) / Math.max(this.game.nodes.length - 1, 1);
  }

  y(win) {
    return GRAPH_EDGE + (100 - win) / 100 * (this.height - 2 * GRAPH_EDGE);
  }

  plyAt(event) {
    const share = (event.clientX - this.svg.getBoundingClientRect().left - GRAPH_EDGE) / (this.width - 2 * GRAPH_EDGE);
    return Math.min(Math.max(Math.round(share * (this.game.nodes.length - 1)), 0), this.game.nodes.length - 1);
  }

  pick(event) {
    if (event.target.closest("a")) return;  // the link of a mistake goes to the move
    this.onPick(this.plyAt(event));
  }

  describe(ply) {
    const {move, text, win} = this.game.nodes[ply];
    this.caption.textContent = `${ply}  ${move || _("Start")}  ${text}  (${Math.round(win)} %)`;
  }

  draw() {
    const {nodes, phases} = this.game, timed = nodes.some(node => node.seconds);
    const box = this.svg.getBoundingClientRect();
    this.width = box.width;
    this.height = box.height - (timed ? TIME_HEIGHT : 0);
    this.svg.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
    const middle = this.y(50), points = nodes.map((node, ply) => `${this.x(ply).toFixed(1)},${this.y(node.win).toFixed(1)}`);
    const area = `${this.x(0)},${middle} ${points.join(" ")} ${this.x(nodes.length - 1)},${middle}`;
    const half = (name, y) => `<clipPath id="${name}"><rect x="0" y="${y}" width="${this.width}" height="${middle - GRAPH_EDGE + 9}"/></clipPath>`;
    this.svg.innerHTML = half("upper", middle - (middle - GRAPH_EDGE + 9)) + half("lower", middle)
      + `<polygon class="black-area" clip-path="url(#upper)" points="${area}"/><polygon class="white-area" clip-path="url(#lower)" points="${area}"/>`
      + `<path class="middle" d="M0 ${middle}H${this.width}"/><polyline class="curve" points="${points.join(" ")}"/>`
      + phases.map(({ply}) => `<path class="phase" d="M${this.x(ply)} 0V${this.height}"/>`).join("")
      + (timed ? this.timeBars() : "") + `<path class="cursor"/>`;
    this.drawTexts(phases);
    nodes.forEach((node, ply) => node.grade && node.grade !== "inaccuracy" && this.drawMistake(node, ply));
    this.moveTo(this.ply);
  }

  // Bars below the graph; the highest is the longest move.
  timeBars() {
    const {nodes} = this.game, most = Math.max(...nodes.map(node => node.seconds || 0)), bottom = this.height + TIME_HEIGHT;
    const width = Math.max((this.x(1) - this.x(0)) * 0.7, 1);
    return nodes.map((node, ply) => node.seconds ? `<rect class="time" x="${this.x(ply) - width / 2}" width="${width}" `
      + `y="${bottom - 18 * node.seconds / most}" height="${18 * node.seconds / most}"/>` : "").join("");
  }

  drawTexts(phases) {
    const add = (x, y, text, anchor) => this.svg.appendChild(svg("text", {x, y, "text-anchor": anchor}, text));
    add(4, 12, "☗ 100 %", "start");
    add(4, this.height - 3, "☖ 100 %", "start");
    phases.forEach(({ply, name}, index) => {
      const right = this.x(ply) > this.width * 0.7;
      add(this.x(ply) + (right ? -4 : 4), index % 2 ? this.height - 16 : 25, name, right ? "end" : "start");
    });
  }

  drawMistake(node, ply) {
    const link = this.svg.appendChild(svg("a", {href: `#${ply}`, "aria-label": `${ply} ${node.move} ${node.gradeText}`}));
    const at = `cx="${this.x(ply)}" cy="${this.y(node.win)}"`;
    link.onclick = event => { event.preventDefault(); this.onPick(ply); };
    link.innerHTML = `<circle class="target" ${at} r="12"/><circle class="dot ${node.grade}" ${at} r="5"/>`;
  }

  moveTo(ply) {
    this.ply = ply;
    const cursor = this.svg.querySelector(".cursor");
    if (cursor) cursor.setAttribute("d", `M${this.x(ply)} 0V${this.height}`);
    this.describe(ply);
  }
}
