// The page of a match: standings, the score with its interval after each pair of games, results of each two engines, games.

import {_, data, h, svg} from "./page.js";

const COLOURS = ["#2f7bc4", "#d2691e", "#2e8b57", "#a0459b", "#b8860b", "#c0392b", "#16808a", "#6b6f76"];
const LEFT = 44, RIGHT = 10, TOP = 10, BOTTOM = 22;

const colour = index => COLOURS[index % COLOURS.length];

function table(head, rows, className) {
  const row = (cells, tag) => h("tr", {}, ...cells.map(cell => h(tag, {}, cell)));
  return h("table", {class: className || ""}, h("thead", {}, row(head, "th")), h("tbody", {}, ...rows.map(cells => row(cells, "td"))));
}

const panel = (name, ...children) => h("section", {class: "panel"}, h("h2", {}, name), ...children);

// Draw each engine's score in percent over the number of its games; the band of one is its 95 % interval.
function drawChart(chart) {
  const {width, height} = chart.getBoundingClientRect();
  const most = Math.max(...data.curves.flatMap(({points}) => points.map(([games]) => games)), 1);
  const x = games => LEFT + games / most * (width - LEFT - RIGHT);
  const y = percent => TOP + (100 - percent) / 100 * (height - TOP - BOTTOM);
  const path = (points, part) => points.map(point => `${x(point[0]).toFixed(1)},${y(point[part]).toFixed(1)}`);
  chart.setAttribute("viewBox", `0 0 ${width} ${height}`);
  chart.replaceChildren();
  for (const percent of [0, 25, 50, 75, 100]) {
    chart.append(svg("path", {class: percent === 50 ? "middle" : "grid", d: `M${LEFT} ${y(percent)}H${width - RIGHT}`}),
                 svg("text", {x: LEFT - 6, y: y(percent) + 4, "text-anchor": "end"}, `${percent} %`));
  }
  chart.append(svg("text", {x: LEFT, y: height - 5}, "0"),
               svg("text", {x: width - RIGHT, y: height - 5, "text-anchor": "end"}, _("{count} games", {count: most})));
  data.curves.forEach(({points}, index) => {
    const band = data.curves.length === 1 ? [...path(points, 3), ...path(points, 2).reverse()] : [];
    chart.append(svg("polygon", {points: band.join(" "), fill: colour(index)}),
                 svg("polyline", {points: path(points, 1).join(" "), stroke: colour(index)}));
  });
}

function chartPanel() {
  const chart = svg("svg", {class: "chart", role: "img", "aria-label": _("Score")});
  const keys = data.curves.map(({name}, index) => h("span", {}, h("i", {style: `background: ${colour(index)}`}), name));
  new ResizeObserver(() => drawChart(chart)).observe(chart);
  return panel(_("Score after each pair of games"), chart, h("p", {class: "keys"}, ...keys));
}

function crossTable() {
  const names = data.rows.map(([name]) => name);
  return table(["", ...names], data.cross.map((row, index) => [names[index], ...row]));
}

function gameRow({number, players, result, end, moves, fault, file}) {
  const shown = file ? h("a", {href: file}, String(number)) : String(number);
  return [shown, players, result, h("span", {}, end, fault ? h("div", {class: "fault"}, fault) : null), _("{count} moves", {count: moves})];
}

function build() {
  const lines = data.lines.map(line => h("p", {}, line));
  const games = table([_("Game"), _("Black - White"), _("Result"), _("End"), ""], data.games.map(gameRow), "games");
  document.querySelector("main").append(
    panel(_("Results"), table(data.titles, data.rows), ...lines), ...(data.curves.some(({points}) => points.length) ? [chartPanel()] : []),
    ...(data.rows.length > 2 ? [panel(_("Against each other"), crossTable())] : []), panel(_("Games"), games));
}

document.title = document.getElementById("title").textContent = data.title;
build();
