// Reads records with tsshogi (T) and json-kifu-format (J). Each line of standard input is a case {kind, text}; each line
// of output has what they read, {start, nodes, details} or {error}, and T's own texts of the record.
import readline from "node:readline";
import { createRequire } from "node:module";

const require = createRequire(process.argv[2] + "/");
const T = require("tsshogi");
const { JKFPlayer, Parsers, Normalizer } = require("json-kifu-format");
const LETTERS = { FU: "P", KY: "L", KE: "N", GI: "S", KI: "G", KA: "B", HI: "R" };
const ENDS = {
  interrupt: "CHUDAN", resign: "TORYO", impass: "JISHOGI", repetitionDraw: "SENNICHITE", mate: "TSUMI", timeout: "TIME_UP",
  foulLose: "ILLEGAL_MOVE", enteringOfKing: "KACHI", draw: "HIKIWAKE", noMate: "FUZUMI",
};
const READ = { kif: T.importKIF, ki2: T.importKI2, csa: T.importCSA, jkf: T.importJKFString, usi: (text) => T.Record.newByUSI(text.trim()) };
const PARSE = {
  kif: Parsers.parseKIF, ki2: Parsers.parseKI2, csa: Parsers.parseCSA,
  jkf: (text) => Normalizer.normalizeMinimal(JSON.parse(text)),
};
const WRITE = { kif: T.exportKIF, ki2: T.exportKI2, csa: T.exportCSA, jkf: T.exportJKFString };

function tsshogi(kind, text) {
  const record = READ[kind](text);
  if (record instanceof Error) return { error: `${record.name}: ${record.message}` };
  const nodes = [], details = [];
  record.forEach((node) => {
    if (node.move instanceof T.Move) nodes.push([node.ply, node.move.usi]);
  });
  let end = null;
  for (const node of record.moves) {
    const time = Math.floor(node.elapsedMs / 1000), comment = node.comment.replace(/\n$/, "");
    if (node.ply > 0 && !(node.move instanceof T.Move)) end = [ENDS[node.move.type] ?? node.move.name ?? node.move.type, time];
    else details.push([time, comment]);
  }
  const written = Object.fromEntries(Object.entries(WRITE).map(([name, write]) => [name, write(record)]));
  return { start: record.initialPosition.sfen, nodes, details, end, written };
}

function square(place) {
  return place.x + "abcdefghi"[place.y - 1];
}

function usi(move) {
  return move.from ? square(move.from) + square(move.to) + (move.promote ? "+" : "") : `${LETTERS[move.piece]}*${square(move.to)}`;
}

// The nodes of a line from a ply, then those of its variations, last first.
function nodesOf(moves, ply, nodes) {
  moves.forEach((entry, index) => entry.move && nodes.push([ply + index, usi(entry.move)]));
  for (let index = moves.length - 1; index >= 0; index--) {
    for (const fork of moves[index].forks ?? []) nodesOf(fork, ply + index, nodes);
  }
  return nodes;
}

function jsonKifuFormat(kind, text) {
  const jkf = PARSE[kind](text), player = new JKFPlayer(jkf), start = player.shogi.toSFENString();
  player.goto(Infinity);
  player.goto(0);
  if (player.shogi.toSFENString() !== start) return { error: "another start after the game was played and taken back" };
  const details = [];
  let end = null;
  for (const { move, special, time, comments } of jkf.moves) {
    const seconds = time ? (time.now.h ?? 0) * 3600 + time.now.m * 60 + time.now.s : 0;
    if (special) end = [special, seconds];
    else details.push([seconds, (comments ?? []).join("\n")]);
  }
  return { start, nodes: nodesOf(jkf.moves.slice(1), 1, []), details, end };
}

function attempt(read) {
  try {
    return read();
  } catch (error) {
    return { error: String(error.message ?? error).split("\n")[0].slice(0, 200) };
  }
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const { kind, text } = JSON.parse(line);
  const found = { T: attempt(() => tsshogi(kind, text)) };
  if (kind in PARSE) found.J = attempt(() => jsonKifuFormat(kind, text));
  console.log(JSON.stringify(found));
}
