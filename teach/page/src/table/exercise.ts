// An exercise for the exam table: what a reader types and chooses, and the engine's table of it.
import { property, protocolTitle, withExtended } from "../edit/protocolText";
import { engine } from "../engine/engine";
import type { Files } from "../engine/files";

export interface Exercise {
  accesses: string;
  protocol: string;
  /** Each cache's size, associativity and line size in digits; "" is the machine's own. */
  caches: [string, string, string];
}
export const kCacheOptions = ["--cache-bytes", "--ways", "--line-bytes"] as const;

export interface Filled {
  /** The columns' titles, then a row for each access. */
  cells: string[][];
  markdown: string;
  csv: string;
  /** There were more accesses than the page shows. */
  cut: boolean;
}

export const kFirstExercise: Exercise = { accesses: "P1 R x; P2 W x; P1 R x", protocol: "mesi", caches: ["", "", ""] };

export const kExamples: { title: string; accesses: string; caches?: Exercise["caches"] }[] = [
  { title: "Read, write, read", accesses: kFirstExercise.accesses },
  { title: "Read, then write", accesses: "P1 R x; P1 W x; P2 R x; P2 W x" },
  { title: "False sharing", accesses: "P1 W a[0]; P2 W a[1]; P1 R a[0]; P2 R a[1]" },
  { title: "Evictions", accesses: "P1 W 0x0; P1 R 0x40; P1 R 0x80; P2 R 0x0; P1 R 0x0", caches: ["128", "1", "64"] },
];

const kOrder = ["msi", "mesi", "moesi", "mosi", "moesif", "dragon", "firefly"];

/** The shipped protocols of an atomic bus, by the short names that the command line takes. */
export function tableProtocols(files: Files | undefined): { name: string; title: string }[] {
  const rank = (name: string) => (kOrder.includes(name) ? kOrder.indexOf(name) : kOrder.length);
  return Object.entries(files ?? {})
    .map(([path, own]) => ({ file: path.replace(/^.*\//, "").replace(/\.md$/, ""), text: withExtended(own, files) }))
    .filter(({ text }) => property(text, "bus") === "atomic")
    .map(({ file, text }) => ({ name: file.replace(/_atomic$/, ""), title: protocolTitle(text).replace(/ on an atomic bus.*/, "") }))
    .sort((a, b) => rank(a.name) - rank(b.name) || a.name.localeCompare(b.name));
}

export function argumentsOf({ accesses, protocol, caches }: Exercise): string[] {
  const chosen = kCacheOptions.flatMap((option, index) => (caches[index] ? [option, caches[index]] : []));
  return ["steps", "--accesses", accesses, "--protocol", protocol, ...chosen];
}

/** What to type into a shell for the same table. */
export function commandOf(exercise: Exercise): string {
  return ["linebounce", ...argumentsOf(exercise).map(shellWord)].join(" ");
}
function shellWord(word: string): string {
  if (/^[\w.,:=-]+$/.test(word)) return word;
  return /["$`\\!]/.test(word) ? `'${word.replaceAll("'", `'\\''`)}'` : `"${word}"`;
}

/** The table, or the program's own words about what it can't read. */
export async function fillIn(exercise: Exercise): Promise<Filled | string> {
  const { exit, text } = await engine().command(argumentsOf(exercise));
  if (exit === 0) return JSON.parse(text) as Filled;
  const said = text.trim();
  return said.startsWith("linebounce: ") ? said : `linebounce: ${said}`;
}
