"use strict";
// The index of analysed games: a list that can be searched.

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

function build() {
  const list = h("ul", {id: "games"}), none = h("p", {role: "status"});
  const cards = games.map(game => [list.appendChild(gameCard(game)), `${game.title} ${game.date} ${game.event} ${game.end}`.toLowerCase()]);
  const search = h("input", {type: "search", oninput: () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const [card, text] of cards) card.hidden = !words.every(word => text.includes(word));
    none.textContent = cards.every(([card]) => card.hidden) ? _("No game has these words.") : "";
  }});
  document.querySelector("main").append(h("label", {class: "search"}, _("Search"), search), list, none);
}

document.title = document.getElementById("title").textContent = data.title;
build();
