// The program behind the page: its places' states as they come, and actions sent to it.

import {data} from "./page.js";

export const states = data.states;  // by place
const listeners = [], latest = {};

// Call a function with the state of a place now and whenever it changes.
export function onState(place, listener) {
  listeners.push([place, listener]);
  listener(states[place]);
}

// Send an action, "play/move"; return why it was refused, or "".
export async function post(action, values = {}) {
  try {
    const response = await fetch(action, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(values)});
    return response.ok ? (await response.json()).error : await response.text();
  } catch {
    return "";  // the stream of events tells that the program has ended
  }
}

// Follow the events; onOnline(online) is called when the connection is lost or comes back.
export function follow(onOnline) {
  const source = new EventSource("events");
  source.onopen = () => onOnline(true);
  source.onerror = () => onOnline(false);
  for (const place of Object.keys(states)) source.addEventListener(place, event => {
    if (latest[place] === event.data) return;  // a new connection sends all states; drawing again would deselect the chosen piece
    latest[place] = event.data;
    states[place] = JSON.parse(event.data);
    for (const [name, listener] of listeners) if (name === place) listener(states[place]);
  });
}
