// The page's frame: its places, and what belongs to all of them.

import * as analyse from "./analyse.js";
import * as games from "./games.js";
import {_, byId, h, nextOf} from "./page.js";
import * as play from "./play.js";
import {PIECE_STYLES} from "./position.js";
import {follow, onState, post, states} from "./program.js";
import {openSetup, startSetup} from "./setup.js";

// A place is a module with `start()`, `sfenShown()` if it has a board, `onKey(event)` and, if it must know whether it is on
// the screen, `setShown(shown)`; the address ends with its name.
const PLACES = {play: [_("Play"), play], analyse: [_("Analyse"), analyse], games: [_("My games"), games]};

const placeShown = () => location.hash.slice(1) in PLACES ? location.hash.slice(1) : "play";

// `again`: the program may have been started anew.
function showPlace(again = false) {
  for (const [name, [, place]] of Object.entries(PLACES)) {
    const hidden = name !== placeShown(), changed = byId(name).hidden !== hidden || (again && !hidden);
    byId(name).hidden = hidden;
    if (changed && place.setShown) place.setShown(!hidden);
  }
  for (const link of byId("places").children) {
    if (link.hash === `#${placeShown()}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

function setOnline(online) {
  byId("offline").hidden = online;
  byId("offline").textContent = online ? "" : _("The program has ended. Start it again with: {command}", {command: "usi_engine play --browser --resume"});
  for (const name of ["analyse", "games"]) byId(name).inert = !online;  // they need the program
  play.setOnline(online);
  if (online) showPlace(true);
}

function showPreferences({pieces, mute}) {
  const label = (id, text, name) => { byId(id).textContent = text; byId(id).title = name; byId(id).setAttribute("aria-label", name); };
  label("mute", "♪", mute ? _("Sound on") : _("Sound off"));
  byId("mute").classList.toggle("off", mute);
  label("pieces", {kanji: "歩", two: "歩兵", letters: "P"}[pieces], _("Pieces with one kanji, two or letters"));
}

function onKey(event) {
  if (document.querySelector("dialog[open]") || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
  if (!byId(placeShown()).inert && PLACES[placeShown()][1].onKey(event)) event.preventDefault();
}

for (const element of document.querySelectorAll("[data-text]")) element.textContent = _(element.textContent);
byId("places").append(...Object.entries(PLACES).map(([name, [text]]) => h("a", {href: `#${name}`}, text)));
for (const [, place] of Object.values(PLACES)) place.start();
startSetup({play: play.playFrom, analyse: analyse.analyseFrom});
for (const button of document.querySelectorAll(".setUp")) button.onclick = () => openSetup(PLACES[placeShown()][1].sfenShown());
onState("preferences", showPreferences);
byId("mute").onclick = () => post("preferences/set", {mute: !states.preferences.mute});
byId("pieces").onclick = () => post("preferences/set", {pieces: nextOf(PIECE_STYLES, states.preferences.pieces)});
window.addEventListener("hashchange", () => showPlace());
document.addEventListener("keydown", onKey);
showPlace();
follow(setOnline);
