// A tree of moves as text: the main line, and each variation in a block below the move that it replaces.

import {h} from "./page.js";

const MARKS = {inaccuracy: "•", dubious: "?!", mistake: "?", blunder: "??"};

// `nodes` are in the order of their lines; `onPick(id)` is called with the node that is chosen.
export function drawTree(element, nodes, here, onPick) {
  const children = new Map(nodes.map(node => [node.id, []]));
  for (const node of nodes) if (node.parent !== null) children.get(node.parent).push(node);
  const focused = element.contains(document.activeElement);
  element.replaceChildren(...lineOf(nodes[0], children, here, onPick));
  const current = element.querySelector("[aria-current]");
  if (focused && current) current.focus();
  if (!current) return;
  const top = current.getBoundingClientRect().top - element.getBoundingClientRect().top;  // only the list scrolls
  if (top < 20 || top > element.clientHeight - 40) element.scrollTop += top - element.clientHeight / 2;
}

// Return the elements of a line from a node on: each move, then the variations that replace it.
function lineOf(first, children, here, onPick) {
  const parts = [];
  let row = h("div", {class: "chips"});
  const add = part => { parts.push(row, part); row = h("div", {class: "chips"}); };
  for (let node = first; node; node = children.get(node.id).find(one => one.main)) {
    if (node.move) row.append(chip(node, here, onPick));
    if (node.comment) add(h("p", {class: "soft treeComment"}, node.comment));
    const beside = node.main && node.parent !== null ? children.get(node.parent).filter(one => !one.main) : [];
    const after = children.get(node.id).some(one => one.main) ? [] : children.get(node.id);  // alternatives to the end
    for (const other of [...beside, ...after]) add(h("div", {class: "variation"}, ...lineOf(other, children, here, onPick)));
  }
  parts.push(row);
  return parts;
}

function chip(node, here, onPick) {
  return h("button", {type: "button", class: `chip ${node.grade}`, "aria-current": node.id === here && "true", title: node.gradeText || false,
                      onclick: () => onPick(node.id)}, `${node.ply} ${node.move}${MARKS[node.grade] || ""}`);
}
