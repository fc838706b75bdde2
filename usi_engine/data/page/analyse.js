// The place Analyse: a board on which one moves freely, the engine's lines, the tree of variations, the whole game.

import {ShogiBoard} from "./board.js";
import {WinGraph} from "./graph.js";
import {_, asked, byId, copyText, h, stepper} from "./page.js";
import {explanationOf, lineRow, sortedLines} from "./panels.js";
import {onState, post, states} from "./program.js";
import {markCurrent, treeOf} from "./tree.js";

const place = "analyse";
let state = states.analyse, engine = states.engine, turned = false;
let board, graph, nodes;           // nodes: by number
let onBoard = "";                  // which position the board shows
let held = false;                  // a click needs its element until the button is released

const current = () => nodes.get(state.here);
const mainLine = () => state.nodes.slice(0, state.plies + 1);

async function act(action, values = {}) {
  const error = await post(`${place}/${action}`, {node: state.here, ...values});
  byId("analyseMessage").textContent = error;
  byId("analyseMessage").hidden = !error;
  if (error) {
    onBoard = "";  // the board shows the move that was refused
    draw();
  }
  return error;
}

// ---- drawing ----

function receive(next) {
  state = next;
  nodes = new Map(state.nodes.map(node => [node.id, node]));
  draw();
}

function draw() {
  if (!board || held) return;
  const node = current();
  drawBoard(node);
  byId("analyseTitle").textContent = state.title || _("Analyse");
  drawNow(node);
  drawEngine();
  drawTree();
  drawGraph();
  drawButtons(node);
}

// What the analysis finds changes the arrows, but not the piece that is chosen.
function drawBoard(node) {
  const now = `${node.id} ${node.sfen} ${turned}`;
  if (now === onBoard) {
    board.shown.arrows = arrows(node);
    board.drawArrows();
    return;
  }
  onBoard = now;
  board.turn(turned);
  board.show(node.sfen, {last: node.usi, arrows: arrows(node), check: node.check});
  board.setLegal(state.legal);
}

const found = () => state.engine.on && engine.node === state.here ? engine.lines : [];

// After a mistake the better move is of interest, not the reply.
function arrows(node) {
  if (node.better) return [{usi: node.better, kind: "best", side: node.side}];
  const lines = found().filter(line => line.moves.length);
  return lines.map((line, number) => ({usi: line.moves[0], kind: number ? "hint" : "best"})).reverse();
}

function drawTree() {
  const tree = byId("tree"), focused = tree.contains(document.activeElement);
  tree.replaceChildren(...treeOf(state.nodes, goTo));
  markCurrent(tree, state.here);
  if (focused) (tree.querySelector("[aria-current]") || document.body).focus();
}

function drawNow(node) {
  const rows = sortedLines(node.lines).map(line => lineRow(line, index =>
    act("move", {node: line.kind === "better" ? node.parent : node.id, moves: line.moves.slice(0, index + 1)})));
  byId("analyseNow").replaceChildren(...explanationOf(node), ...rows);
  const comment = byId("comment");
  if (document.activeElement !== comment || comment.dataset.node !== `${node.id}`) comment.value = node.comment;
  comment.dataset.node = node.id;
}

function drawEngine() {
  const {on, lines, most} = state.engine, now = found();
  byId("engineOn").setAttribute("aria-pressed", on);
  byId("engineOn").classList.toggle("strong", on);
  if (byId("lineCount").options.length !== most)
    byId("lineCount").replaceChildren(...Array.from({length: most}, (_none, index) => h("option", {value: index + 1}, index + 1)));
  byId("lineCount").value = lines;
  byId("depth").textContent = engine.fault || (now.length ? _("depth {depth}, {nodes} nodes", {depth: engine.depth, nodes: engine.nodes.toLocaleString()}) : "");
  byId("engineLines").replaceChildren(...now.map(({text, win, moves, names}) => lineRow(
    {kind: "best", name: text, text: `${Math.round(win)} %`, names}, index => act("move", {moves: moves.slice(0, index + 1)}))));
}

// The graph has the main line; a position that was not searched has the chance of the one before it.
function drawGraph() {
  const line = mainLine();
  let win = 50;
  byId("analyseGraph").hidden = !line.some(node => node.win !== null);
  graph.game = {nodes: line.map(node => ({...node, win: win = node.win === null ? win : node.win})), phases: []};
  graph.ply = Math.max(line.findIndex(node => node.id === state.here), 0);
  if (!byId("analyseGraph").hidden) graph.draw();
}

const progressText = whole => whole.done < whole.count ? _("Analysing the game: {done} of {count} positions", whole)
  : _("Searching longer at mistakes and for puzzles");

function drawButtons(node) {
  const {whole} = state, running = whole && !whole.ready && !whole.fault;
  for (const id of ["promote", "delete"]) byId(id).disabled = node.parent === null || (id === "promote" && mainLine().includes(node));
  byId("whole").textContent = running ? _("Stop") : _("Analyse the whole game");
  byId("wholeText").textContent = running ? progressText(whole) : whole ? whole.fault : "";
  Object.assign(byId("wholeBar"), {hidden: !running, max: running ? whole.count : 1, value: running ? whole.done : 0});
  byId("wholePage").hidden = !whole || !whole.ready;
}

// ---- input ----

const goTo = node => { if (node) act("go", {node: node.id}); };
const child = node => state.nodes.find(one => one.parent === node.id);
function last() {
  let node = current();
  while (child(node)) node = child(node);
  return node;
}

export let onKey;

// The engine works only while the place is on the screen; the board is made when it first is.
export function setShown(shown) {
  post(`${place}/engine`, {shown});
  if (shown && !board) makeBoard();
  if (shown) draw();
}

function makeBoard() {
  board = new ShogiBoard(byId("analyseBoard"), {onMove: move => {
    const focused = document.activeElement;
    if (!focused.matches(":focus-visible")) focused.blur();  // a click focused the square: arrow keys step again
    act("move", {moves: [move]});
  }});
  onState("preferences", ({pieces}) => board.setPieces(pieces));
}

// Show a saved game; without a name that of the place Play, analysed.
export async function openGame(name) {
  await (name ? act("open", {name}) : act("game"));
  location.hash = "#analyse";
}

export const sfenShown = () => current().sfen;

export function analyseFrom(sfen) {
  byId("terms").close();
  location.hash = "#analyse";
  load(sfen);
}

async function load(text) {
  if (state.nodes.length > 1 && !await asked(_("Replace the moves on the board?"), _("Replace"))) return;
  if (!await act("load", {text})) byId("loadText").value = "";
}

// A record is UTF-8 or, as most KIF files, Shift-JIS.
async function loadFile(file) {
  const bytes = await file.arrayBuffer();
  let text;
  try { text = new TextDecoder("utf-8", {fatal: true}).decode(bytes); } catch { text = new TextDecoder("shift_jis").decode(bytes); }
  load(text);
}

async function textOf(kind) {
  const response = await fetch(`${place}/file?${kind}`);
  return response.ok ? response.text() : "";
}

async function play() {
  const error = await act("play", {level: byId("playLevel").valueAsNumber, side: current().side === "black" ? "white" : "black"});
  if (!error) location.hash = "#play";
}

async function remove() {
  if (!child(current()) || await asked(_("Delete this move and all that follow?"), _("Delete"))) act("delete");
}

export function start() {
  nodes = new Map(state.nodes.map(node => [node.id, node]));
  graph = new WinGraph(byId("graph"), byId("graphText"), {nodes: mainLine(), phases: []}, ply => goTo(mainLine()[ply]));
  onKey = stepper(byId("analyseSteps"), [() => goTo(state.nodes[0]), () => goTo(nodes.get(current().parent)), () => goTo(child(current())), () => goTo(last())]);
  const clicks = {
    engineOn: () => act("engine", {on: !state.engine.on}), promote: () => act("promote"), delete: remove, analyseTurn: () => { turned = !turned; draw(); },
    whole: () => act("whole", {stop: byId("whole").textContent === _("Stop")}), loadButton: () => load(byId("loadText").value),
    copySfen: () => copyText(current().sfen), copyRecord: async () => copyText(await textOf(byId("format").value)),
    saveRecord: () => h("a", {href: `${place}/file?${byId("format").value}`, download: true}).click(),
    playOn: play,
  };
  byId("format").append(...["kif", "ki2", "csa", "jkf", "usi"].map(kind => h("option", {value: kind}, kind.toUpperCase())));
  for (const [id, click] of Object.entries(clicks)) byId(id).onclick = click;
  byId("lineCount").onchange = () => act("engine", {lines: +byId("lineCount").value});
  byId("comment").onchange = () => act("comment", {node: +byId("comment").dataset.node, text: byId("comment").value});
  byId("loadFile").onchange = () => { if (byId("loadFile").files[0]) loadFile(byId("loadFile").files[0]); byId("loadFile").value = ""; };
  onState(place, receive);
  onState("engine", next => { engine = next; if (!byId(place).hidden && !held) { drawBoard(current()); drawEngine(); } });
  byId(place).addEventListener("pointerdown", () => { held = true; });
  for (const name of ["pointerup", "pointercancel"]) document.addEventListener(name, () => { if (held) setTimeout(() => { held = false; draw(); }); });
}
