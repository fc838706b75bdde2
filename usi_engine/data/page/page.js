// Helpers of all pages.

export const data = JSON.parse(document.getElementById("data").textContent);

// Return a text in the language of the page, with the words in braces filled in. The program finds the texts in these
// files as arguments of this function and, in HTML, in elements with `data-text`.
export const _ = (text, values = {}) => (data.texts[text] || text).replace(/\{(\w+)\}/g, (all, name) => name in values ? values[name] : all);

export const byId = id => document.getElementById(id);

export const SIDE_NAMES = {black: _("Black"), white: _("White")};
export const MARKS = {inaccuracy: "•", dubious: "?!", mistake: "?", blunder: "??"};
export const GRADE_NAMES = {blunder: _("Blunders"), mistake: _("Mistakes"), dubious: _("Dubious moves"), inaccuracy: _("Inaccuracies")};

// Make an element of HTML or SVG. Attributes that begin with "on" are listeners; false, null and undefined leave an attribute out.
export const h = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) => filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made[name] = value;
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter(child => child !== null && child !== undefined));
  return made;
}

export function clockText(seconds) {
  const whole = Math.floor(seconds), two = number => String(number).padStart(2, "0");
  const minutes = Math.floor(whole / 60) % 60, hours = Math.floor(whole / 3600);
  return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

export const nextOf = (all, one) => all[(all.indexOf(one) + 1) % all.length];

// Add the buttons that step through a game: `steps` are the functions for the first, previous, next and last position.
// Return a listener of keys, which returns whether the key was one of them.
export function stepper(element, steps) {
  const keys = ["Home", "ArrowLeft", "ArrowRight", "End"], names = [_("First position"), _("Previous move"), _("Next move"), _("Last position")];
  element.append(...steps.map((onclick, index) =>
    h("button", {type: "button", class: "step", "aria-label": names[index], title: names[index], onclick}, "«‹›»"[index])));
  return event => {
    if (keys.includes(event.key)) steps[keys.indexOf(event.key)]();
    return keys.includes(event.key);
  };
}

// Ask a question in the dialog of the page; return whether the answer is `yes`, the text of its button.
export function asked(question, yes) {
  const dialog = document.getElementById("question");
  document.getElementById("questionText").textContent = question;
  document.getElementById("yes").textContent = yes;
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise(resolve => { dialog.onclose = () => resolve(dialog.returnValue === "yes"); });
}

// Pages opened as files may lack navigator.clipboard.
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.body.appendChild(h("textarea", {class: "hidden"}));
    area.value = text;
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

export function saveText(name, text) {
  const link = h("a", {download: name, href: URL.createObjectURL(new Blob([text], {type: "text/plain;charset=utf-8"}))});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
