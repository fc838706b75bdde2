// A list of games that can be searched.

import {_, h} from "./page.js";

// Return the elements of a list: `card` makes a game's element, `text` the words to find it by.
export function searchList(games, card, text) {
  const list = h("ul", {id: "cards"}), none = h("p", {role: "status"});
  const cards = games.map(game => [list.appendChild(card(game)), text(game).toLowerCase()]);
  const search = h("input", {type: "search", oninput: () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const [one, found] of cards) one.hidden = !words.every(word => found.includes(word));
    none.textContent = cards.every(([one]) => one.hidden) ? _("No game has these words.") : "";
  }});
  return [h("label", {class: "search"}, _("Search"), search), list, none];
}
