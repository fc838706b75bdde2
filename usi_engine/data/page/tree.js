// A tree of moves: the main line, and each variation in a block below the move that it replaces.

import {MARKS, _, h} from "./page.js";

const MOST_NESTED = 20;  // variations in variations

// Return the elements of a tree. `nodes` are in the order of their lines; `onPick(node)` is called with the node that is
// chosen. `make` makes the element of a move of the main line.
export function treeOf(nodes, onPick, make = chip) {
  const children = new Map(nodes.map(node => [node.id, []]));
  for (const node of nodes) if (node.parent !== null) children.get(node.parent).push(node);
  return lineOf(nodes[0], children, onPick, make, 0);
}

// Return the elements of a line from a node on: each move, then the variations that replace it.
function lineOf(first, children, onPick, make, depth) {
  const parts = [];
  let row = h("div", {class: "chips"});
  const add = part => { parts.push(row, part); row = h("div", {class: "chips"}); };
  for (let node = first; node; node = children.get(node.id).find(one => one.main)) {
    if (node.move || make !== chip) row.append(make(node, onPick));
    if (node.comment) add(h("p", {class: "soft treeComment"}, node.comment));
    const beside = node.main && node.parent !== null ? children.get(node.parent).filter(one => !one.main) : [];
    const after = children.get(node.id).some(one => one.main) ? [] : children.get(node.id);  // alternatives to the end
    for (const other of depth < MOST_NESTED ? [...beside, ...after] : [])
      add(h("div", {class: "variation", role: "group", "aria-label": _("Variation")}, ...lineOf(other, children, onPick, chip, depth + 1)));
  }
  parts.push(row);
  return parts;
}

function chip(node, onPick) {
  return h("button", {type: "button", class: `chip ${node.grade}`, "data-node": node.id, title: `${node.gradeText} ${node.text}`.trim() || false,
                      onclick: () => onPick(node)}, `${node.ply} ${node.move}${MARKS[node.grade] || ""}`);
}

// Mark the element of a node, and let the list, never the page, scroll to it.
export function markCurrent(list, id) {
  for (const marked of list.querySelectorAll("[aria-current]")) marked.removeAttribute("aria-current");
  const current = list.querySelector(`[data-node="${id}"]`);
  if (!current) return;
  current.setAttribute("aria-current", "true");
  const top = current.getBoundingClientRect().top - list.getBoundingClientRect().top;
  if (top < 30 || top > list.clientHeight - 40) list.scrollTop += top - list.clientHeight / 2;
}
