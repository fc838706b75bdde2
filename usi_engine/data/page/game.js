"use strict";
// The page of a game. The program keeps the game; the page shows its state, waits for changes and sends actions.

const byId = id => document.getElementById(id);
const RETRY_MILLISECONDS = 1000;

let state = data.state;
let received = performance.now();  // when the state arrived: the clock has run since then
let viewed = null;                 // ply of an earlier position that is shown instead of the present one
let turned = state.side === "w";
let offline = false;

const board = new ShogiBoard(byId("board"), {turned, onMove: move => act("move", {move})});

// ---- messages to and from the program ----

// Draw a state if it is new: drawing an old one again would deselect the chosen piece.
function receive(next) {
  if (next.version <= state.version) return;
  const other = next.line !== state.line || next.ply !== state.ply;
  if (other) say("");
  if (next.side !== state.side) turned = next.side === "w";
  if (next.started && next.line !== state.line && byId("terms").open) byId("terms").close();
  if (other) viewed = null;
  state = next;
  received = performance.now();
  draw();
}

// Send an action for the position that is shown; return the error or "".
async function act(action, values = {}) {
  const body = JSON.stringify({action, line: state.line, ply: state.ply, ...values});
  try {
    const response = await fetch("act", {method: "POST", headers: {"Content-Type": "application/json"}, body});
    const answer = await response.json();
    if (answer.state) receive(answer.state);
    say(answer.error || "");
    if (answer.error) draw();
    return answer.error || "";
  } catch {
    setOffline(true);
    return byId("status").textContent;
  }
}

async function follow() {
  for (;;) {
    try {
      const response = await fetch(`changes?${state.version}`);
      if (!response.ok) throw new Error(response.statusText);
      const next = await response.json();
      setOffline(false);
      receive(next);
    } catch {
      setOffline(true);
      await new Promise(resolve => setTimeout(resolve, RETRY_MILLISECONDS));
    }
  }
}

function setOffline(now) {
  if (offline === now) return;
  offline = now;
  draw();
}

// ---- drawing ----

function say(text) {
  byId("message").textContent = text;
  byId("message").hidden = !text;
}

function nameOf(side) {
  return SIDE_NAMES[side === "b" ? "black" : "white"];
}

function statusText() {
  if (offline) return _("The program has ended. Start it again with: {command}", {command: "usi_engine play --browser"});
  if (viewed !== null) return _("After move {ply} of {count}", {ply: viewed, count: state.ply});
  if (!state.started) return _("Choose the terms of the game");
  if (state.ending) return state.ending;
  if (state.hint) return _("Hint: {move}", {move: state.hint.text});
  if (!personMoves()) return _("{engine} is thinking", {engine: state.players[state.turn]});
  if (state.thinking) return _("Looking for a hint");
  return state.side ? _("Your move") : _("{side} to move", {side: nameOf(state.turn)});
}

function personMoves() {
  return state.legal.length > 0;
}

function draw() {
  const ply = viewed === null ? state.ply : viewed, move = ply ? state.moves[ply - 1] : null, now = viewed === null;
  const arrows = now && state.hint && state.hint.usi ? [{usi: state.hint.usi, kind: "hint"}] : [];
  board.turn(turned);
  board.show(move ? move.sfen : state.start, {last: move && move.usi, arrows, check: now && state.check});
  board.setLegal(now && !offline && personMoves() ? state.legal : null);
  if (byId("status").textContent !== statusText()) byId("status").textContent = statusText();  // screen readers read each change
  byId("status").classList.toggle("busy", now && state.thinking);
  document.title = state.started ? `${statusText()} - Komadori` : `Komadori - ${_("A game of shogi")}`;
  drawButtons();
  drawMoves(ply);
  drawReview();
  drawClocks();
}

function drawButtons() {
  byId("takeBack").disabled = offline || !state.started || !state.ply;
  byId("hint").disabled = offline || !personMoves() || state.thinking;
  byId("resign").disabled = offline || !personMoves();
  byId("declare").hidden = !state.canDeclare;
  byId("newGame").disabled = offline;
  byId("newGame").classList.toggle("strong", Boolean(state.ending) || !state.started);
  byId("back").hidden = viewed === null;
}

// Rebuild the list only if the moves have changed, so that it keeps the focus.
function drawMoves(ply) {
  const list = byId("moveList"), key = `${state.line} ${state.ply}`;
  if (list.dataset.moves !== key) {
    list.dataset.moves = key;
    list.replaceChildren(...state.moves.map(moveItem));
    if (!state.ply) list.append(h("li", {class: "soft"}, _("No moves yet")));
  }
  for (const [index, button] of list.querySelectorAll("button").entries()) {
    if (index + 1 === ply) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
    if (index + 1 === ply) list.scrollTop = button.offsetTop - list.clientHeight / 2;
  }
}

function moveItem(move, index) {
  return h("li", {}, h("button", {type: "button", onclick: () => view(index + 1)}, `${index + 1} ${move.text}`));
}

function drawReview() {
  const review = state.review;
  byId("review").hidden = !review;
  if (!review) return;
  byId("reviewing").textContent = review.fault || _("Analysing the game: {done} of {count} positions", review);
  byId("reviewing").hidden = byId("progress").hidden = review.ready;
  byId("progress").max = review.count;
  byId("progress").value = review.done;
  byId("open").hidden = !review.ready;
}

function drawClocks() {
  for (const side of "bw") board.setName(side === "b" ? "black" : "white", state.players[side], timeText(side));
}

// Return a side's main time, or what is left of the byoyomi.
function timeText(side) {
  const clock = state.clock;
  if (!clock) return "";
  const spent = clock.running === side ? clock.spent + performance.now() - received : 0, left = clock[side] - spent;
  if (left <= 0 && clock.byoyomi) return _("{seconds} s", {seconds: wholeSeconds(left + clock.byoyomi)});
  return clockText(wholeSeconds(left));
}

function wholeSeconds(milliseconds) {
  return Math.max(Math.ceil(milliseconds / 1000), 0);
}

// ---- input ----

function view(ply) {
  viewed = ply >= state.ply ? null : Math.max(ply, 0);
  draw();
}

function openTerms() {
  const terms = state.terms;
  for (const name of ["level", "handicap", "minutes", "byoyomi", "increment"]) byId(name).value = terms[name];
  byId("sideChosen").value = terms.side;
  byId("levelShown").value = terms.level;
  byId("termsFault").hidden = true;
  byId("terms").showModal();
}

async function startGame(event) {
  event.preventDefault();
  const values = {side: byId("sideChosen").value, handicap: byId("handicap").value};
  for (const name of ["level", "minutes", "byoyomi", "increment"]) values[name] = byId(name).valueAsNumber;
  const fault = await act("new", values);
  byId("termsFault").textContent = fault;
  byId("termsFault").hidden = !fault;
  if (!fault && byId("terms").open) byId("terms").close();
}

function onKey(event) {
  if (byId("terms").open || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
  const ply = viewed === null ? state.ply : viewed;
  const plies = {ArrowLeft: ply - 1, ArrowRight: ply + 1, Home: 0, End: state.ply};
  if (!(event.key in plies)) return;
  view(plies[event.key]);
  event.preventDefault();
}

function listen() {
  const actions = {takeBack: "take_back", hint: "hint", resign: "resign", declare: "declare"};
  for (const [id, action] of Object.entries(actions)) byId(id).addEventListener("click", () => act(action));
  byId("turn").addEventListener("click", () => { turned = !turned; draw(); });
  byId("newGame").addEventListener("click", openTerms);
  byId("back").addEventListener("click", () => view(state.ply));
  byId("cancel").addEventListener("click", () => byId("terms").close());
  byId("level").addEventListener("input", () => { byId("levelShown").value = byId("level").value; });
  byId("terms").querySelector("form").addEventListener("submit", startGame);
  document.addEventListener("keydown", onKey);
  setInterval(() => { if (state.clock && state.clock.running) drawClocks(); }, 200);
}

for (const element of document.querySelectorAll("[data-text]")) element.textContent = _(element.textContent);
listen();
draw();
if (!state.started) openTerms();
follow();
