// The page of an analysed game: the current place in the game, and the elements that show it.

import {ShogiBoard} from "./board.js";
import {WinGraph} from "./graph.js";
import {_, clockText, data, h, nextOf, svg} from "./page.js";
import {MARKS, drawBar, drawRecord, drawSummary, stepsOf} from "./panels.js";
import {PIECE_STYLES} from "./position.js";
import {PuzzlePlayer} from "./puzzle.js";

const game = data, {nodes} = game;
// In the order in which they are shown.
const LINE_NAMES = {better: _("Better"), refutation: _("Refutation"), best: _("Best line"), candidate: _("Other move")};
const LINE_ORDER = Object.keys(LINE_NAMES);
const TIMED = nodes.some(node => node.seconds);
const ADDRESS_DELAY = 400;  // milliseconds: Safari allows 100 changes of the address in 30 seconds
const SWIPE = 40;  // least pixels of a swipe
const at = id => document.getElementById(id);

// `ply` is the place in the game. `line` is a line beside the game that is on the board, or null: its name, its steps
// ({sfen, usi, name, node}; only steps of a variation have a node), the index of the step, and the line to return to.
const here = {ply: 0, line: null};
let turned = false;
let board, graph, puzzles, addressTimer;
const rows = [];              // the button of each move of the game
const chipsOf = new Map();    // node of a variation -> its button

// ---- going through the game ----

function goTo(ply) {
  puzzles.close();
  here.ply = Math.min(Math.max(ply, 0), nodes.length - 1);
  here.line = null;
  render();
}

function openLine(line, index) {
  here.line = {...line, index};
  render();
}

function leaveLine() {
  here.line = here.line.parent;
  render();
}

function step(by) {
  const {line} = here;
  if (!line) return goTo(here.ply + by);
  if (line.index + by < 0) return leaveLine();
  line.index = Math.min(line.index + by, line.steps.length - 1);
  return render();
}

// page.html#24 opens at move 24.
const plyOfAddress = () => parseInt(location.hash.slice(1), 10) || 0;

function goToEnd() {
  if (here.line) openLine(here.line, here.line.steps.length - 1);
  else goTo(nodes.length - 1);
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

// Return the node that the panel explains, the position before its move, and the line that it belongs to.
function subject() {
  const {line, ply} = here, variation = line && !line.steps[0].node ? line.parent : line;
  if (!variation) return {node: nodes[ply], before: ply ? nodes[ply - 1].sfen : null, owner: null, key: `${ply}`};
  const {index, steps, base} = variation;
  return {node: steps[index].node, before: index ? steps[index - 1].sfen : base, owner: variation, key: `${variation.key}.${index}`};
}

function render() {
  const {ply, line} = here, shown = subject();
  const place = line ? line.steps[line.index] : nodes[ply], onNode = !line || line.steps[line.index].node;
  board.show(place.sfen, {last: place.usi, arrows: onNode ? arrowsOf(shown.node) : [], check: Boolean(onNode && shown.node.check)});
  drawNames();
  drawBar(at("bar"), shown.node.win, turned);
  drawBanner();
  graph.moveTo(ply);
  drawNow(shown);
  drawCurrentRow();
  at("spoken").textContent = line ? place.name : moveText(nodes[ply]);
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

function drawNow({node, before, owner, key}) {
  const quality = node.best ? _("best move") : node.book ? _("book move") : "";
  const parts = [h("h2", {}, node.move ? `${node.number} ${node.move}` : _("Start"),
    node.text ? h("span", {class: "soft"}, node.text) : null,
    node.grade ? h("span", {class: `mark ${node.grade}`}, `${node.gradeText} ${MARKS[node.grade]}`) : null,
    quality ? h("span", {class: "mark best"}, quality) : null)];
  if (node.grade) parts.push(h("p", {class: "soft"}, _("{points} points of winning chance lost", {points: Math.round(node.loss)})));
  if (node.why.length) parts.push(h("ul", {}, ...node.why.map(text => h("li", {}, text))));
  if (node.comment) parts.push(h("p", {class: "comment"}, node.comment));
  const shown = node.lines.map((line, index) => [line, `${key}/${index}`]).filter(([{kind}]) => kind !== "best" || !isRefuted(node));
  shown.sort(([first], [second]) => LINE_ORDER.indexOf(first.kind) - LINE_ORDER.indexOf(second.kind));
  for (const [line, id] of shown) parts.push(lineRow(line, line.kind === "better" ? before : node.sfen, owner, id));
  const panel = at("now"), focused = panel.contains(document.activeElement);
  panel.replaceChildren(...parts);
  if (focused) (panel.querySelector("[aria-current]") || panel.querySelector("button") || document.body).focus();
}

// The refutation of a move has the same moves as the best line.
const isRefuted = node => node.lines.some(line => line.kind === "refutation");

// Show the name of the line on the board in place of the bar.
function drawBanner() {
  const {line} = here, banner = at("banner"), focused = banner.contains(document.activeElement);
  banner.hidden = !line;
  if (!line) {
    if (focused) rows[here.ply].focus();
    return;
  }
  at("bar").hidden = true;
  const text = _("{name}, move {index} of {count}", {name: line.name, index: line.index + 1, count: line.steps.length});
  banner.replaceChildren(h("button", {type: "button", class: "strong", onclick: () => goTo(here.ply)}, _("Back to the main line")), h("span", {}, text));
  if (focused) banner.firstChild.focus();
}

function lineRow({kind, text, moves, names}, sfen, owner, key) {
  const name = LINE_NAMES[kind], line = {name, key, steps: stepsOf(sfen, moves, names), parent: owner};
  const chips = names.map((move, index) => h("button", {
    type: "button", class: "chip", "aria-current": Boolean(here.line) && here.line.key === key && here.line.index === index && "true",
    onclick: () => openLine(line, index),
  }, move));
  return h("div", {class: "line"}, h("span", {class: `name line_${kind}`}, name), h("span", {class: "text"}, text),
           h("div", {class: "chips"}, ...chips));
}

// ---- the list of moves ----

function buildMoves() {
  const list = h("div", {id: "moves", role: "group", "aria-label": _("Moves"), onkeydown: stepInList});
  nodes.forEach((node, ply) => {
    rows.push(list.appendChild(moveRow(node, ply)));
    if (node.comment) list.appendChild(h("div", {class: "row-comment"}, node.comment));
    for (const variation of node.variations) list.appendChild(variationBlock(variation, ply - 1, null, nodes[ply - 1].sfen));
    for (const line of node.after || []) list.appendChild(variationBlock(line, ply, null, node.sfen));
  });
  if (game.end) list.appendChild(h("p", {class: "row-comment"}, game.end));
  at("moves-area").append(h("h2", {}, _("Moves")), list);
}

// The Tab key stops only at the row of the shown move; arrow keys go on from there.
function stepInList(event) {
  const by = {ArrowUp: -1, ArrowDown: 1}[event.key];
  if (!by || !rows.includes(event.target)) return;
  goTo(rows.indexOf(event.target) + by);
  rows[here.ply].focus();
  event.preventDefault();
}

function moveRow(node, ply) {
  const right = (text, name = "") => h("span", {class: `right ${name}`}, text);
  return h("button", {type: "button", class: "move", tabindex: "-1", onclick: () => goTo(ply)},
    h("span", {class: "number"}, node.number), h("span", {}, node.move || _("Start")), right(node.text),
    right(node.win === null ? "" : `${Math.round(node.win)} %`, "soft"),
    right(!TIMED || node.seconds === null ? "" : clockText(node.seconds), "soft"),
    h("span", {class: `mark ${node.grade || (node.best ? "best" : "")}`, title: node.gradeText || false},
      MARKS[node.grade] || (node.best ? "○" : "")));
}

// Return a variation with its comments and its own variations. `ply` and `parent` are the place where it starts.
function variationBlock(variation, ply, parent, base) {
  const steps = variation.map(node => ({sfen: node.sfen, usi: node.usi, name: node.move, node}));
  const line = {name: _("Variation"), key: `v${chipsOf.size}`, steps, base, parent};
  const open = index => { puzzles.close(); here.ply = ply; openLine(line, index); };
  const block = h("div", {class: "variation", role: "group", "aria-label": _("Variation")}), chips = h("div", {class: "chips"});
  block.appendChild(chips);
  variation.forEach((node, index) => {
    const mark = MARKS[node.grade] || "", text = `${node.move}${mark} ${node.text}`.trim();
    chipsOf.set(node, chips.appendChild(h("button", {type: "button", class: "chip", onclick: () => open(index)}, text)));
    if (node.comment) block.appendChild(h("div", {class: "comment"}, `${node.move}: ${node.comment}`));
    for (const inner of node.variations)
      block.appendChild(variationBlock(inner, ply, index ? {...line, index: index - 1} : parent, index ? steps[index - 1].sfen : base));
    for (const after of node.after || []) block.appendChild(variationBlock(after, ply, {...line, index}, node.sfen));
  });
  return block;
}

function drawCurrentRow() {
  for (const marked of at("moves").querySelectorAll("[aria-current]")) marked.removeAttribute("aria-current");
  const {node, owner} = subject(), row = owner ? chipsOf.get(node) : rows[here.ply], list = at("moves");
  row.setAttribute("aria-current", "true");
  for (const one of list.querySelectorAll('.move[tabindex="0"]')) one.tabIndex = -1;
  rows[here.ply].tabIndex = 0;
  const top = row.getBoundingClientRect().top - list.getBoundingClientRect().top;  // only the list scrolls, never the page
  if (top < 30 || top > list.clientHeight - 40) list.scrollTop += top - list.clientHeight / 2;
}

// ---- puzzles ----

function buildPuzzles() {
  at("puzzles").hidden = !game.puzzles.length;
  puzzles = new PuzzlePlayer(board, at("now"), game, ply => { board.turn(turned); goTo(ply); });
  at("puzzles").append(h("h2", {}, _("Puzzles")), ...game.puzzles.map((puzzle, number) => h("div", {class: "puzzle"},
    h("p", {}, puzzle.goal, " ", h("span", {class: "soft"}, _("Move {number}", {number: puzzle.ply + 1}))),
    h("button", {type: "button", onclick: () => startPuzzle(number)}, _("Puzzle {number}", {number: number + 1})))));
}

function startPuzzle(number) {
  here.ply = game.puzzles[number].ply;
  here.line = null;
  at("bar").hidden = at("banner").hidden = true;
  puzzles.start(number);
  at("board-area").scrollIntoView({block: "nearest"});
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
  at("controls").append(
    button(_("First position"), "«", () => goTo(0), "step"), button(_("Previous move"), "‹", inGame(() => step(-1)), "step"),
    button(_("Next move"), "›", inGame(() => step(1)), "step"), button(_("Last position"), "»", inGame(goToEnd), "step"),
    h("div", {class: "row"}, ...mistakes, button(_("Turn the board"), "⇅", () => setTurned(!turned), "icon"),
      button(_("Letters or kanji on the pieces"), "A字", () => board.setPieces(nextOf(PIECE_STYLES, board.pieces)), "icon")));
}

function setTurned(value) {
  turned = value;
  board.turn(turned);
  if (!puzzles.active) render();
}

function listen() {
  const keys = {ArrowLeft: () => step(-1), ArrowRight: () => step(1), Home: () => goTo(0), End: goToEnd, f: () => setTurned(!turned),
                n: () => goToNext(isMistake, 1), p: () => goToNext(isMistake, -1), Escape: () => here.line && leaveLine()};
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.altKey || event.metaKey || !(event.key in keys)) return;
    if (puzzles.active && event.key === "Escape") puzzles.close();
    else if (!puzzles.active) keys[event.key]();
    else return;
    event.preventDefault();
  });
  let start = null;
  at("board").addEventListener("touchstart", event => { start = event.touches.length === 1 ? event.touches[0] : null; }, {passive: true});
  at("board").addEventListener("touchend", event => {
    if (!start || puzzles.active) return;
    const end = event.changedTouches[0], right = end.clientX - start.clientX, down = end.clientY - start.clientY;
    if (Math.abs(right) > SWIPE && Math.abs(right) > 2 * Math.abs(down)) step(right < 0 ? 1 : -1);
  });
  window.addEventListener("hashchange", () => goTo(plyOfAddress()));
}

function buildGraph() {
  const help = _("Black's chance of winning. Arrow keys go through the game.");
  const picture = svg("svg", {id: "graph", role: "group", "aria-label": help}), caption = h("span", {});
  at("graph-area").append(h("div", {id: "graph-text"}, h("span", {}, h("strong", {}, _("Win chance")),
    TIMED ? h("span", {class: "soft"}, _("time used")) : null), caption), picture);
  graph = new WinGraph(picture, caption, game, goTo);
}

document.title = at("title").textContent = game.title;
at("about").textContent = game.about;
board = new ShogiBoard(at("board"));
buildControls();
buildGraph();
buildMoves();
drawSummary(at("summary"), game, (side, grade) => goToNext(node => node.side === side && node.grade === grade, 1, true));
drawRecord(at("record"), game, () => ({ply: here.ply, sfen: here.line ? here.line.steps[here.line.index].sfen : nodes[here.ply].sfen}));
buildPuzzles();
listen();
goTo(plyOfAddress());
