// The form of a new game.

import {_, byId, h} from "./page.js";

const TIMES = {minutes: [_("Minutes"), 1440], byoyomi: [_("Byoyomi (seconds)"), 86400], increment: [_("Seconds added a move"), 86400]};
const input = (name, side) => byId("times").querySelector(`[name="${name}${side}"]`);

// `act` sends an action and returns why it was refused.
export function startTerms(act) {
  for (const [name, [text, max]] of Object.entries(TIMES))
    byId("times").append(h("span", {}, text), ...[0, 1].map(side => h("input", {type: "number", name: `${name}${side}`, min: 0, max, step: "any", required: true,
      "aria-label": `${text}, ${side ? _("White") : _("Black")}`, oninput: () => { if (!side) input(name, 1).value = input(name, 0).value; }})));
  byId("start").setAttribute("aria-label", byId("start").placeholder = _("SFEN, KIF, KI2, CSA or USI moves"));
  byId("level").oninput = () => { byId("levelShown").value = byId("level").value; };
  byId("preset").onchange = showTimes;
  byId("sideChosen").onchange = showNames;
  byId("cancel").onclick = () => byId("terms").close();
  byId("terms").querySelector("form").onsubmit = event => submit(event, act);
}

export function openTerms(terms) {
  for (const name of ["level", "handicap"]) byId(name).value = terms[name];
  byId("sideChosen").value = terms.side;
  byId("levelShown").value = terms.level;
  [byId("name").value, byId("otherName").value] = terms.names;
  for (const name of Object.keys(TIMES)) for (const side of [0, 1]) input(name, side).value = terms[name][side];
  const equal = Object.keys(TIMES).every(name => terms[name][0] === terms[name][1]);
  byId("preset").value = equal ? Object.keys(TIMES).map(name => terms[name][0]).join() : "";
  if (byId("preset").selectedIndex < 0) byId("preset").value = "";
  byId("start").value = "";
  byId("termsFault").hidden = true;
  showTimes();
  showNames();
  byId("terms").showModal();
}

// A preset fills in the times, which are shown for others only.
function showTimes() {
  const {value} = byId("preset");
  byId("times").hidden = value !== "";
  if (value) Object.keys(TIMES).forEach((name, index) => { for (const side of [0, 1]) input(name, side).value = value.split(",")[index]; });
}

function showNames() {
  const both = byId("sideChosen").value === "both";
  byId("name").labels[0].textContent = both ? _("Black's name") : _("Your name");
  byId("otherName").hidden = byId("otherName").labels[0].hidden = !both;
}

async function submit(event, act) {
  event.preventDefault();
  const values = {side: byId("sideChosen").value, handicap: byId("handicap").value, level: byId("level").valueAsNumber,
                  names: [byId("name").value, byId("otherName").value], start: byId("start").value};
  for (const name of Object.keys(TIMES)) values[name] = [0, 1].map(side => input(name, side).valueAsNumber);
  const fault = await act("new", values);
  byId("termsFault").textContent = fault;
  byId("termsFault").hidden = !fault;
  if (!fault && byId("terms").open) byId("terms").close();
}
