// The part of the URL after #: which view is open, and where in it the reader is.
import type { Click } from "../edit/clicks";
import { changedLines } from "../edit/protocolText";
import type { Files } from "../engine/files";
import type { Exercise } from "../table/exercise";
import { pack, unpack } from "./pack";

export interface OwnProgram {
  experiment: string;
  program: string;
  clicks: Click[];
  oneLine: boolean;
  mode: "click" | "text";
  files: Files;
}
export interface Broken {
  target: "protocol" | "lock";
  path: string;
  text: string;
}
export type Route =
  | { view: "lessons" }
  | { view: "lesson"; slug: string; part: number; step: number | null }
  | { view: "test"; which: "pre" | "post" }
  | { view: "own"; own: OwnProgram | null; step: number }
  | { view: "break"; broken: Broken | null }
  | { view: "table"; exercise: Exercise | null }
  | { view: "compare"; own: OwnProgram | null; protocols: [string, string] | null; step: number };

const number = (text: string | undefined): number | null => (text !== undefined && /^\d+$/.test(text) ? Number(text) : null);

// For a text that ships with the page, a link holds only the changed lines.
type Patched = { path: string; target: Broken["target"]; text?: string; lines?: Record<number, string> };

function patched(broken: Broken, original: string): Patched {
  const lines = changedLines(original, broken.text);
  const same = broken.text === original;
  if (!same && lines.length === 0) return broken;
  const rows = broken.text.split("\n");
  return { path: broken.path, target: broken.target, lines: Object.fromEntries(lines.map((line) => [line, rows[line - 1]!])) };
}

function unpatched(kept: Patched, original: string): Broken {
  if (kept.text !== undefined) return { path: kept.path, target: kept.target, text: kept.text };
  const rows = original.split("\n");
  for (const [line, text] of Object.entries(kept.lines ?? {})) if (rows[Number(line) - 1] !== undefined) rows[Number(line) - 1] = text;
  return { path: kept.path, target: kept.target, text: rows.join("\n") };
}

function tablePart({ protocol, accesses, caches }: Exercise): string[] {
  return caches.some((value) => value !== "") ? [protocol, accesses, ...caches] : [protocol, accesses];
}
function exerciseOf([protocol, accesses, ...caches]: string[]): Exercise | null {
  if (!protocol || accesses === undefined) return null;
  return { protocol, accesses, caches: [caches[0] ?? "", caches[1] ?? "", caches[2] ?? ""] };
}
/** The text as it is if it is no encoding. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export async function hashOf(route: Route, shipped: Files): Promise<string> {
  switch (route.view) {
    case "lessons": return "#lessons";
    case "lesson": return `#lesson/${encodeURIComponent(route.slug)}/${route.part}${route.step === null ? "" : `/${route.step}`}`;
    case "test": return `#test/${route.which}`;
    case "own": return route.own ? `#own/${route.step}/${await pack(route.own)}` : "#own";
    case "break": return route.broken ? `#break/${await pack(patched(route.broken, shipped[route.broken.path] ?? ""))}` : "#break";
    // Readable, so that a lesson or a teacher can write such a link by hand.
    case "table": return route.exercise ? ["#table", ...tablePart(route.exercise).map(encodeURIComponent)].join("/") : "#table";
    case "compare":
      return route.own ? `#compare/${route.step}/${await pack({ own: route.own, protocols: route.protocols })}` : "#compare";
  }
}

export async function routeOf(hash: string, shipped: Files): Promise<Route> {
  const [view, ...rest] = hash.replace(/^#/, "").split("/");
  switch (view) {
    case "lesson": return { view, slug: decodeURIComponent(rest[0] ?? ""), part: number(rest[1]) ?? 0, step: number(rest[2]) };
    case "test": return { view, which: rest[0] === "post" ? "post" : "pre" };
    case "own": return { view, step: number(rest[0]) ?? 0, own: rest[1] ? await unpack<OwnProgram>(rest[1]) : null };
    case "table": return { view, exercise: exerciseOf(rest.map(decoded)) };
    case "break": {
      const kept = rest[0] ? await unpack<Patched>(rest[0]) : null;
      return { view, broken: kept ? unpatched(kept, shipped[kept.path] ?? "") : null };
    }
    case "compare": {
      const kept = rest[1] ? await unpack<{ own: OwnProgram; protocols: [string, string] | null }>(rest[1]) : null;
      return { view, step: number(rest[0]) ?? 0, own: kept?.own ?? null, protocols: kept?.protocols ?? null };
    }
    default: return { view: "lessons" };
  }
}
