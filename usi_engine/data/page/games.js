// The place My games: the games that the program has saved.

import {openGame as analyse} from "./analyse.js";
import {searchList} from "./list.js";
import {_, asked, h} from "./page.js";
import {openGame} from "./play.js";
import {onState, post} from "./program.js";

const place = () => document.getElementById("gameList");

function draw({games}) {
  const searched = place().querySelector("input");
  place().replaceChildren(...(games.length ? searchList(games, card, game => `${title(game)} ${facts(game)}`)
    : [h("p", {}, _("No games yet. Every game is kept here from its first move on."))]));
  if (searched && games.length) {
    place().querySelector("input").value = searched.value;
    place().querySelector("input").oninput();
  }
}

const title = ({shown}) => `☗ ${shown[0]} - ☖ ${shown[1]}`;
const facts = ({begun, moves, end}) => [begun, _("{count} moves", {count: moves}), end ? end.text : _("not finished")].join(" · ");

function card(game) {
  const {name, end, person} = game, won = end && end.winner !== null && person !== null ? end.winner === person : null;
  const mark = won === null ? null : h("strong", {class: won ? "best" : "mistake"}, ` ${won ? _("You win") : _("You lose")}`);
  return h("li", {class: "panel"}, h("h2", {}, title(game)), h("p", {class: "soft"}, facts(game), mark),
    h("div", {class: "buttons"},
      h("button", {type: "button", class: end ? false : "strong", onclick: () => open(name)}, end ? _("Show") : _("Play on")),
      h("button", {type: "button", onclick: () => analyse(name)}, _("Analyse")),
      h("a", {class: "button", href: `games/file.kifu?${name}`}, _("Save as KIF")),
      h("button", {type: "button", onclick: () => remove(game)}, _("Delete"))));
}

async function open(name) {
  if (!await openGame(name)) location.hash = "#play";
}

async function remove(game) {
  if (await asked(_("Delete this game? {title}", {title: title(game)}), _("Delete"))) await post("games/delete", {name: game.name});
}

export const onKey = () => false;

export function start() {
  onState("games", draw);
  window.addEventListener("hashchange", () => { if (location.hash === "#games") post("games/refresh"); });
}
