// Parts of the pages that analyse: what is said of a move, the bar, the summary, the record.

import {GRADE_NAMES, MARKS, SIDE_NAMES, _, copyText, h, saveText} from "./page.js";
import {Position} from "./position.js";

// Return the elements that tell of a move: its name and value, its grade and why.
export function explanationOf(node) {
  const quality = node.best ? _("best move") : node.book ? _("book move") : "";
  const parts = [h("h2", {}, node.move ? `${node.number} ${node.move}` : _("Start"),
    node.text ? h("span", {class: "soft"}, node.text) : null,
    node.grade ? h("span", {class: `mark ${node.grade}`}, `${node.gradeText} ${MARKS[node.grade]}`) : null,
    quality ? h("span", {class: "mark best"}, quality) : null)];
  if (node.grade) parts.push(h("p", {class: "soft"}, _("{points} points of winning chance lost", {points: Math.round(node.loss)})));
  if (node.why.length) parts.push(h("ul", {}, ...node.why.map(text => h("li", {}, text))));
  return parts;
}

// In the order in which they are shown.
export const LINE_NAMES = {better: _("Better"), refutation: _("Refutation"), best: _("Best line"), candidate: _("Other move")};
const LINE_ORDER = Object.keys(LINE_NAMES);

export const sortedLines = lines => [...lines].sort((first, second) => LINE_ORDER.indexOf(first.kind) - LINE_ORDER.indexOf(second.kind));

// Return the element of a line. `current` is the index of its move that is on the board; onPick(index) is called.
export function lineRow({kind, text, names, name = LINE_NAMES[kind]}, onPick, current = null) {
  const chips = names.map((move, index) => h("button", {type: "button", class: "chip", "aria-current": index === current && "true", onclick: () => onPick(index)}, move));
  return h("div", {class: "line"}, h("span", {class: `name line_${kind}`}, name), h("span", {class: "text"}, text), h("div", {class: "chips"}, ...chips));
}

// Return the steps of a line of USI moves from a position.
export function stepsOf(sfen, moves, names) {
  let position = new Position(sfen);
  return moves.map((usi, index) => {
    position = position.apply(usi);
    return {sfen: position.sfen(), usi, name: names[index]};
  });
}

// Show Black's chance of winning in percent as a bar.
export function drawBar(bar, win, turned) {
  bar.hidden = win === null;
  if (bar.hidden) return;
  const black = Math.round(win), white = 100 - black;
  bar.setAttribute("aria-label", _("Black {black} %, White {white} %", {black, white}));
  if (!bar.firstChild) bar.append(h("span", {class: "black"}), h("span", {class: "white"}));
  bar.style.flexDirection = turned ? "row-reverse" : "row";
  for (const [side, share] of [["black", black], ["white", white]]) {
    const part = bar.querySelector(`.${side}`);
    part.style.flexGrow = Math.max(share, 0.01);
    part.style.padding = share < 12 ? "0" : "";
    part.style.textAlign = (side === "black") === turned ? "right" : "left";
    part.textContent = share < 12 ? "" : `${side === "black" ? "☗" : "☖"} ${share} %`;
  }
}

// Draw both sides' totals; onGrade(side, grade) is called to go to the next move of a grade.
export function drawSummary(element, game, onGrade) {
  const sides = ["black", "white"], {summary} = game;
  const row = (name, cell, kind = "") => h("tr", {class: kind}, h("th", {scope: "row"}, name), ...sides.map(side => h("td", {}, cell(side))));
  const counted = grade => side => {
    const count = summary[side][grade];
    if (!count) return "0";
    return h("button", {type: "button", class: grade, "aria-label": _("{count}, go to the next", {count}), onclick: () => onGrade(side, grade)}, count);
  };
  const grades = Object.keys(MARKS).filter(grade => grade in summary.black);
  element.append(h("h2", {}, _("Summary")), h("table", {},
    h("thead", {}, h("tr", {}, h("td", {}), ...sides.map(side => h("th", {scope: "col"}, `${side === "black" ? "☗" : "☖"} ${game.players[side] || SIDE_NAMES[side]}`)))),
    h("tbody", {}, row(_("Accuracy"), side => summary[side].accuracy === null ? "" : `${Math.round(summary[side].accuracy)} %`, "accuracy"),
      row(_("Mean loss, points"), side => summary[side].loss.toFixed(1)),
      row(_("Best moves"), side => summary[side].best),
      ...grades.map(grade => row(GRADE_NAMES[grade], counted(grade))))));
}

// Draw the header and the buttons that copy and save; here() returns the ply and the position that are shown.
export function drawRecord(element, game, here) {
  const items = [...game.headers, [_("Engine"), game.engine]].filter(([, value]) => value);
  const status = h("p", {class: "status", role: "status"});
  const copier = (label, text) => h("button", {type: "button", onclick: async () => { await copyText(text()); status.textContent = _("Copied."); }}, label);
  const name = `${game.title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "") || "game"}.kif`;
  element.append(h("h2", {}, _("Record")),
    h("dl", {}, ...items.flatMap(([key, value]) => [h("dt", {}, key), h("dd", {}, value)])),
    h("div", {class: "buttons"}, copier(_("Copy SFEN"), () => here().sfen), copier(_("Copy KIF"), () => game.kif),
      h("button", {type: "button", onclick: () => saveText(name, game.kif)}, _("Save KIF")), copier(_("Copy link to this move"), () => new URL(`#${here().ply}`, location.href).href)),
    status);
}
