// The index of analysed games: a list that can be searched.

import {searchList} from "./list.js";
import {GRADE_NAMES, _, data, h} from "./page.js";

const {games} = data;

function sideLine(mark, side) {
  const accuracy = side.accuracy === null ? "" : `${Math.round(side.accuracy)} %`;
  const grades = Object.keys(GRADE_NAMES).filter(grade => side[grade]).map(grade =>
    h("span", {class: grade}, `${GRADE_NAMES[grade]} ${side[grade]}`));
  return h("p", {class: "side"}, h("strong", {}, `${mark} ${_("Accuracy")} ${accuracy}`), ...grades);
}

function gameCard(game) {
  const facts = [game.date, game.event, _("{count} moves", {count: game.moves}), game.end].filter(Boolean);
  return h("li", {class: "panel"}, h("a", {href: game.href}, game.title), h("p", {class: "soft"}, facts.join(" · ")),
           sideLine("☗", game.black), sideLine("☖", game.white));
}

document.title = document.getElementById("title").textContent = data.title;
document.querySelector("main").append(...searchList(games, gameCard, game => `${game.title} ${game.date} ${game.event} ${game.end}`));
