// The page of an analysed game: the current place in the game, and the elements that show it.

import {ShogiBoard} from "./board.js";
import {WinGraph} from "./graph.js";
import {MARKS, _, byId, clockText, data, h, nextOf, stepper, svg} from "./page.js";
import {LINE_NAMES, drawBar, drawRecord, drawSummary, explanationOf, lineRow, sortedLines, stepsOf} from "./panels.js";
import {PIECE_STYLES} from "./position.js";
import {PuzzlePlayer} from "./puzzle.js";
import {markCurrent, treeOf} from "./tree.js";

const game = data, nodes = game.nodes.slice(0, game.plies + 1);  // the main line comes first
const isMain = node => node.id <= game.plies;
const TIMED = nodes.some(node => node.seconds);
const ADDRESS_DELAY = 400;  // milliseconds: Safari allows 100 changes of the address in 30 seconds
const SWIPE = 40;  // least pixels of a swipe

// `node` is the place in the game, `ply` that on the main line. `line` is a line of the engine that is on the board, or
// null: its data, its steps ({sfen, usi, name}) and the index of the step.
const here = {node: nodes[0], ply: 0, line: null};
let turned = false;
let board, graph, puzzles, onStepKey, addressTimer;
const rows = [];              // the button of each move of the game

// ---- going through the game ----

function pick(node) {
  puzzles.close();
  here.node = node;
  while (!isMain(node)) node = game.nodes[node.parent];
  here.ply = node.ply;
  here.line = null;
  render();
}

const goTo = ply => pick(nodes[Math.min(Math.max(ply, 0), nodes.length - 1)]);
const child = node => game.nodes.find(one => one.main && one.parent === node.id);

function openLine(line, index) {
  const {sfen} = line.kind === "better" ? game.nodes[here.node.parent] : here.node;
  here.line = {...line, steps: stepsOf(sfen, line.moves, line.names), index};
  render();
}

function leaveLine() {
  if (here.line) pick(here.node);
}

function step(by) {
  const {line, node} = here;
  if (!line) return pick((by < 0 ? game.nodes[node.parent] : child(node)) || node);
  if (line.index + by < 0) return leaveLine();
  return openLine(line, Math.min(line.index + by, line.steps.length - 1));
}

// page.html#24 opens at move 24.
const plyOf = address => parseInt(new URL(address).hash.slice(1), 10) || 0;

function goToEnd() {
  if (here.line) return openLine(here.line, here.line.steps.length - 1);
  let last = here.node;
  while (child(last)) last = child(last);
  return pick(last);
}

const isMistake = node => Boolean(node.grade) && node.grade !== "inaccuracy";

// Go to the next move that passes the test, or to the previous one if `by` is -1; `around`: wrap at the ends.
function goToNext(test, by = 1, around = false) {
  for (let count = 1, ply = here.ply + by; count <= nodes.length; count++, ply += by) {
    if (around) ply = (ply + nodes.length) % nodes.length;
    if (ply < 0 || ply >= nodes.length) return;
    if (test(nodes[ply])) return goTo(ply);
  }
}

// ---- showing a place ----

function render() {
  const {node, ply, line} = here, place = line ? line.steps[line.index] : node;
  board.show(place.sfen, {last: place.usi, arrows: line ? [] : arrowsOf(node), check: !line && node.check});
  drawNames();
  drawBar(byId("bar"), node.win, turned);
  drawBanner();
  graph.moveTo(ply);
  drawNow(node);
  drawCurrentRow();
  byId("spoken").textContent = line ? place.name : moveText(node);
  clearTimeout(addressTimer);
  addressTimer = setTimeout(() => history.replaceState(null, "", `#${here.ply}`), ADDRESS_DELAY);
}

function arrowsOf(node) {
  const kinds = {best: "best", candidate: "hint"}, better = node.grade && node.lines.find(line => line.kind === "better" && line.moves.length);
  if (better) return [{usi: better.moves[0], kind: "best", side: node.side}];
  return node.lines.filter(line => line.kind in kinds && line.moves.length).reverse().map(line => ({usi: line.moves[0], kind: kinds[line.kind]}));
}

function drawNames() {
  for (const side of ["black", "white"]) {
    const timed = nodes.slice(0, here.ply + 1).filter(node => node.side === side && node.total !== null);
    board.setName(side, game.players[side], TIMED && timed.length ? clockText(timed[timed.length - 1].total) : "");
  }
}

const moveText = node => node.move ? `${node.number} ${node.move} ${node.text} ${node.gradeText}` : _("Start");

function drawNow(node) {
  const parts = explanationOf(node);
  if (node.comment) parts.push(h("p", {class: "comment"}, node.comment));
  const shown = node.lines.filter(({kind}) => kind !== "best" || !isRefuted(node));
  parts.push(...sortedLines(shown).map(line =>
    lineRow(line, index => openLine(line, index), here.line && here.line.moves === line.moves ? here.line.index : null)));
  const panel = byId("now"), focused = panel.contains(document.activeElement);
  panel.replaceChildren(...parts);
  if (focused) (panel.querySelector("[aria-current]") || panel.querySelector("button") || document.body).focus();
}

// The refutation of a move has the same moves as the best line.
const isRefuted = node => node.lines.some(line => line.kind === "refutation");

// Show the name of the line on the board in place of the bar.
function drawBanner() {
  const {line} = here, banner = byId("banner"), focused = banner.contains(document.activeElement);
  banner.hidden = !line && isMain(here.node);
  if (banner.hidden) {
    if (focused) rows[here.ply].focus();
    return;
  }
  byId("bar").hidden = true;
  const text = line ? _("{name}, move {index} of {count}", {name: LINE_NAMES[line.kind], index: line.index + 1, count: line.steps.length}) : _("Variation");
  banner.replaceChildren(h("button", {type: "button", class: "strong", onclick: () => goTo(here.ply)}, _("Back to the main line")), h("span", {}, text));
  if (focused) banner.firstChild.focus();
}

// ---- the list of moves ----

function buildMoves() {
  const list = h("div", {id: "moves", role: "group", "aria-label": _("Moves"), onkeydown: stepInList});
  list.append(...treeOf(game.nodes, pick, moveRow));
  if (game.end) list.appendChild(h("p", {class: "row-comment"}, game.end));
  byId("moves-area").append(h("h2", {}, _("Moves")), list);
}

// The Tab key stops only at the row of the shown move; arrow keys go on from there.
function stepInList(event) {
  const by = {ArrowUp: -1, ArrowDown: 1}[event.key];
  if (!by || !rows.includes(event.target)) return;
  goTo(rows.indexOf(event.target) + by);
  rows[here.ply].focus();
  event.preventDefault();
}

function moveRow(node) {
  const right = (text, name = "") => h("span", {class: `right ${name}`}, text);
  const row = h("button", {type: "button", class: "move", tabindex: "-1", "data-node": node.id, onclick: () => pick(node)},
    h("span", {class: "number"}, node.number), h("span", {}, node.move || _("Start")), right(node.text),
    right(node.win === null ? "" : `${Math.round(node.win)} %`, "soft"),
    right(!TIMED || node.seconds === null ? "" : clockText(node.seconds), "soft"),
    h("span", {class: `mark ${node.grade || (node.best ? "best" : "")}`, title: node.gradeText || false},
      MARKS[node.grade] || (node.best ? "○" : "")));
  rows.push(row);
  return row;
}

function drawCurrentRow() {
  for (const one of byId("moves").querySelectorAll('.move[tabindex="0"]')) one.tabIndex = -1;
  rows[here.ply].tabIndex = 0;
  markCurrent(byId("moves"), here.node.id);
}

// ---- puzzles ----

function buildPuzzles() {
  byId("puzzles").hidden = !game.puzzles.length;
  puzzles = new PuzzlePlayer(board, byId("now"), game, ply => { board.turn(turned); goTo(ply); });
  byId("puzzles").append(h("h2", {}, _("Puzzles")), ...game.puzzles.map((puzzle, number) => h("div", {class: "puzzle"},
    h("p", {}, puzzle.goal, " ", h("span", {class: "soft"}, _("Move {number}", {number: puzzle.ply + 1}))),
    h("button", {type: "button", onclick: () => startPuzzle(number)}, _("Puzzle {number}", {number: number + 1})))));
}

function startPuzzle(number) {
  pick(nodes[game.puzzles[number].ply]);
  byId("bar").hidden = byId("banner").hidden = true;
  puzzles.start(number);
  byId("board-area").scrollIntoView({block: "nearest"});
}

// ---- controls ----

// Return an action that closes the puzzle first.
function inGame(action) {
  return () => { puzzles.close(); action(); };
}

function buildControls() {
  const button = (label, text, action, kind) => h("button", {type: "button", class: kind, title: label, "aria-label": label, onclick: action}, text);
  const mistakes = [[_("Previous mistake"), -1], [_("Next mistake"), 1]].map(([label, by]) => h("button", {
    type: "button", onclick: inGame(() => goToNext(isMistake, by)), disabled: !nodes.some(isMistake)}, label));
  onStepKey = stepper(byId("controls"), [() => goTo(0), () => step(-1), () => step(1), goToEnd].map(inGame));
  byId("controls").append(h("div", {class: "row"}, ...mistakes, button(_("Turn the board"), "⇅", () => setTurned(!turned), "icon"),
      button(_("Letters or kanji on the pieces"), "A字", () => board.setPieces(nextOf(PIECE_STYLES, board.pieces)), "icon")));
}

function setTurned(value) {
  turned = value;
  board.turn(turned);
  if (!puzzles.active) render();
}

function listen() {
  const keys = {f: () => setTurned(!turned), n: () => goToNext(isMistake, 1), p: () => goToNext(isMistake, -1), Escape: leaveLine};
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.altKey || event.metaKey || (puzzles.active && event.key !== "Escape")) return;
    if (puzzles.active) puzzles.close();
    else if (event.key in keys) keys[event.key]();
    else if (!onStepKey(event)) return;
    event.preventDefault();
  });
  let start = null;
  byId("board").addEventListener("touchstart", event => { start = event.touches.length === 1 ? event.touches[0] : null; }, {passive: true});
  byId("board").addEventListener("touchend", event => {
    if (!start || puzzles.active) return;
    const end = event.changedTouches[0], right = end.clientX - start.clientX, down = end.clientY - start.clientY;
    if (Math.abs(right) > SWIPE && Math.abs(right) > 2 * Math.abs(down)) step(right < 0 ? 1 : -1);
  });
  // addressTimer may have replaced location since.
  window.addEventListener("hashchange", event => goTo(plyOf(event.newURL)));
}

function buildGraph() {
  const help = _("Black's chance of winning. Arrow keys go through the game.");
  const picture = svg("svg", {id: "graph", role: "group", "aria-label": help}), caption = h("span", {});
  byId("graph-area").append(h("div", {id: "graph-text"}, h("span", {}, h("strong", {}, _("Win chance")),
    TIMED ? h("span", {class: "soft"}, _("time used")) : null), caption), picture);
  graph = new WinGraph(picture, caption, {nodes, phases: game.phases}, goTo);
}

document.title = byId("title").textContent = game.title;
byId("about").textContent = game.about;
board = new ShogiBoard(byId("board"));
buildControls();
buildGraph();
buildMoves();
drawSummary(byId("summary"), game, (side, grade) => goToNext(node => node.side === side && node.grade === grade, 1, true));
drawRecord(byId("record"), game, () => ({ply: here.ply, sfen: (here.line ? here.line.steps[here.line.index] : here.node).sfen}));
buildPuzzles();
listen();
goTo(plyOf(location.href));
