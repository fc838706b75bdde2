// The place Play. The program keeps the game; the page shows its state and sends actions.

import {openGame as openAnalysis} from "./analyse.js";
import {ShogiBoard} from "./board.js";
import {GameClock} from "./clock.js";
import {SIDE_NAMES, _, asked, byId, h, stepper} from "./page.js";
import {Position} from "./position.js";
import {onState, post, states} from "./program.js";
import {playSound} from "./sound.js";
import {openTerms, startTerms} from "./terms.js";

let state = states.play, online = true, offered = false, board, clock;
let viewed = null;                 // ply of an earlier position that is shown instead of the present one
let turned = state.side === "w";

// ---- the state ----

function receive(next) {
  const before = state, other = next.line !== before.line || next.ply !== before.ply;
  if (next.side !== before.side) turned = next.side === "w";
  if (other) {
    viewed = null;
    say("");
  }
  if (next.started && next.line !== before.line && byId("terms").open) byId("terms").close();
  state = next;
  clock.receive(next);
  if (next.started) soundOf(before, next);
  draw();
}

function soundOf(before, next) {
  if (next.ending && !before.ending) playSound("end");
  else if (next.ply === before.ply + 1 && next.line === before.line) playSound(next.check ? "check" : captures(next) ? "capture" : "move");
}

function captures({moves, ply, start: first}) {
  const position = new Position(ply > 1 ? moves[ply - 2].sfen : first);
  return moves[ply - 1].usi.slice(2, 4) in position.pieces;
}

// Send an action for the position that is shown; return the error or "".
async function act(action, values = {}) {
  const error = await post(`play/${action}`, {line: state.line, ply: state.ply, ...values});
  say(error);
  if (error) draw();
  return error;
}

export const sfenShown = () => board.position.sfen();

// Offer a new game from a position.
export function playFrom(sfen) {
  offered = true;
  location.hash = "#play";
  if (!byId("terms").open) openTerms(state.terms);
  byId("start").value = sfen;
  byId("start").parentElement.open = true;
}

export const openGame = name => act("open", {name});

export function setOnline(now) {
  online = now;
  draw();
}

// What this tab shows survives a reload.
function keepView() {
  sessionStorage.setItem("view", JSON.stringify({line: state.line, ply: state.ply, saved: state.saved, side: state.side, turned, viewed}));
}

function restoreView() {
  const kept = JSON.parse(sessionStorage.getItem("view") || "{}");
  if (kept.side === state.side && kept.saved === state.saved) ({turned} = kept);
  if (kept.saved === state.saved && kept.line === state.line && kept.ply === state.ply) ({viewed} = kept);
}

// ---- drawing ----

function say(text) {
  byId("message").textContent = text;
  byId("message").hidden = !text;
}

const nameOf = side => SIDE_NAMES[side === "b" ? "black" : "white"];
const personMoves = () => state.legal.length > 0;

function statusText() {
  if (viewed !== null) return _("After move {ply} of {count}", {ply: viewed, count: state.ply});
  if (state.ending) return state.won === null ? state.ending : state.won ? _("You win") : _("You lose");
  if (!state.started) return personMoves() ? _("Make a move, or choose a new game") : _("Begin, or choose a new game");
  if (state.hint) return _("Hint: {move}", {move: state.hint.text});
  if (!personMoves()) return _("{engine} is thinking", {engine: state.players[state.turn]});
  if (state.thinking) return _("Looking for a hint");
  return state.side ? _("Your move") : _("{side} to move", {side: nameOf(state.turn)});
}

function detailText() {
  if (viewed !== null) return _("Go back to the game to take back, resign or get a hint.");
  if (state.ending) return state.won === null ? "" : state.ending;
  return state.hint ? [state.hint.value, state.hint.line.join(" ")].filter(Boolean).join(": ") : "";
}

function draw() {
  const ply = viewed === null ? state.ply : viewed, move = ply ? state.moves[ply - 1] : null, now = viewed === null;
  const arrows = now && state.hint && state.hint.usi ? [{usi: state.hint.usi, kind: "hint"}] : [];
  board.turn(turned);
  board.show(move ? move.sfen : state.start, {last: move && move.usi, arrows, check: now && state.check});
  board.setLegal(now && online && personMoves() ? state.legal : null);
  if (byId("status").textContent !== statusText()) byId("status").textContent = statusText();  // screen readers read each change
  byId("detail").textContent = detailText();
  byId("status").classList.toggle("busy", now && state.thinking);
  document.title = state.started ? `${statusText()} - Komadori` : `Komadori - ${_("A game of shogi")}`;
  if (state.unsaved) say(_("The game is not saved: {reason}", {reason: state.unsaved}));
  drawButtons();
  drawMoves(ply);
  clock.draw();
  keepView();
}

function drawButtons() {
  const now = online && viewed === null;
  byId("takeBack").disabled = !now || !state.started || !(state.ply || state.ending);
  byId("hint").disabled = !now || !state.started || !personMoves() || state.thinking;
  byId("resign").disabled = !now || !state.started || !personMoves();
  byId("declare").hidden = !now || !state.canDeclare;
  byId("resign").hidden = byId("hint").hidden = Boolean(state.ending);
  byId("rematch").hidden = !state.ending;
  byId("analysis").hidden = !state.ending || !state.ply;
  byId("begin").hidden = state.started;
  for (const id of ["newGame", "rematch", "begin", "analysis"]) byId(id).disabled = !online;
  byId("rematch").classList.toggle("strong", Boolean(state.ending));
  byId("back").hidden = viewed === null;
}

// Change only the rows that have changed, so that the list keeps the focus and long games stay quick.
function drawMoves(ply) {
  const list = byId("moveList"), rows = list.children;
  const shown = `${ply} of ${state.ply} in ${state.line}`;
  if (list.dataset.shown === shown) return;  // so one can scroll while the state changes
  if (!(list.dataset.shown || "").endsWith(` ${state.line}`)) list.replaceChildren();
  list.dataset.shown = shown;
  while (rows.length > state.ply) rows[rows.length - 1].remove();
  list.append(...state.moves.slice(rows.length).map((move, index) => moveItem(move, rows.length + index)));
  for (const marked of list.querySelectorAll("[aria-current]")) marked.removeAttribute("aria-current");
  if (ply) rows[ply - 1].firstChild.setAttribute("aria-current", "true");
  showCurrentRow();
}

// Scroll only the list, never the page.
function showCurrentRow() {
  const list = byId("moveList"), current = list.querySelector("[aria-current]"), row = current && current.parentElement;
  list.scrollTo(row ? row.offsetLeft - list.clientWidth / 2 : 0, row ? row.offsetTop - list.clientHeight / 2 : 0);
}

function moveItem(move, index) {
  return h("li", {}, h("button", {type: "button", onclick: () => view(index + 1)}, `${index + 1} ${move.text}`));
}

// ---- input ----

function view(ply) {
  viewed = ply >= state.ply ? null : Math.max(ply, 0);
  draw();
}

const step = by => view((viewed === null ? state.ply : viewed) + by);
export let onKey;

async function resign() {
  if (await asked(_("Resign this game?"), _("Resign"))) act("resign");
}

export function start() {
  board = new ShogiBoard(byId("board"), {turned, onMove: move => act("move", {move})});
  clock = new GameClock(board, byId("spoken"));
  clock.receive(state);
  restoreView();
  startTerms(act);
  for (const [id, action] of Object.entries({takeBack: "take_back", hint: "hint", declare: "declare", rematch: "rematch", begin: "begin"}))
    byId(id).onclick = () => act(action);
  byId("resign").onclick = resign;
  byId("analysis").onclick = () => openAnalysis();
  byId("turn").onclick = () => { turned = !turned; draw(); };
  byId("newGame").onclick = () => openTerms(state.terms);
  byId("back").onclick = () => view(state.ply);
  onKey = stepper(byId("steps"), [() => view(0), () => step(-1), () => step(1), () => view(state.ply)]);
  new ResizeObserver(showCurrentRow).observe(byId("moveList"));
  onState("preferences", ({pieces}) => board.setPieces(pieces));
  onState("play", receive);
}

// The form comes up when the place is first seen without a game.
export function setShown(shown) {
  if (shown && !state.started && !offered) openTerms(state.terms);
  offered ||= shown;
}
