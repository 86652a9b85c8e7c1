// Finds and changes the rows of a protocol's tables in its Markdown. The engine alone knows what they mean.

export interface WrittenRow {
  /** line number in the file, from 1 */
  line: number;
  /** the cells: in, on, do, then, why */
  cells: string[];
}
export interface WrittenTable {
  heading: string;
  rows: WrittenRow[];
}

export const kColumns = ["in", "on", "do", "then", "why"] as const;

const kBar = /(?<!\\)\|/;
const cellsOf = (line: string): string[] => line.split(kBar).slice(1, -1).map((cell) => cell.trim());
const isTableLine = (line: string): boolean => line.startsWith("|");

export function writtenTables(text: string): WrittenTable[] {
  const found: WrittenTable[] = [];
  let controller = "";
  let heading = "";
  let open: WrittenTable | null = null;
  text.split("\n").forEach((line, index) => {
    const title = /^(#{2,3})\s+(.*)/.exec(line);
    if (title) {
      if (title[1] === "##") controller = title[2]!;
      heading = title[1] === "##" ? title[2]! : `${controller}: ${title[2]!}`;
    }
    if (!isTableLine(line)) {
      open = null;
      return;
    }
    const cells = cellsOf(line);
    if (cells.join("|").toLowerCase() === kColumns.join("|")) {
      open = { heading, rows: [] };
      found.push(open);
    } else if (open && !/^\|[\s:|-]+\|$/.test(line) && cells.length === kColumns.length) {
      open.rows.push({ line: index + 1, cells });
    }
  });
  return found;
}

/** The text with one cell changed. The column keeps its width if the new text fits. */
export function withCell(text: string, line: number, column: number, value: string): string {
  const lines = text.split("\n");
  const row = lines[line - 1];
  if (row === undefined || !isTableLine(row)) return text;
  const parts = row.split(kBar);
  const old = parts[column + 1];
  if (old === undefined) return text;
  const clean = value.replace(/\s*\n\s*/g, " ").trim();
  parts[column + 1] = ` ${clean} `.padEnd(old.length);
  lines[line - 1] = parts.join("|");
  return lines.join("\n");
}

/** The lines that differ between two texts with equal numbers of lines; empty if lines were added or removed. */
export function changedLines(before: string, after: string): number[] {
  const a = before.split("\n");
  const b = after.split("\n");
  if (a.length !== b.length) return [];
  return b.flatMap((line, index) => (line === a[index] ? [] : [index + 1]));
}

export function protocolTitle(text: string): string {
  return /^#\s+(.*)/m.exec(text)?.[1] ?? "";
}

/** A property of the table at the top: "bus", "directory". */
export function property(text: string, name: string): string | null {
  return new RegExp(`^\\|\\s*${name}\\s*\\|\\s*([^|]*?)\\s*\\|`, "m").exec(text)?.[1] ?? null;
}

/** The text, followed by the shipped protocols that it extends, the nearest first. The first that states a thing decides. */
export function withExtended(text: string, files: Record<string, string> | undefined): string {
  const base = files?.[`models/protocols/${property(text, "extends")}.md`];
  return base === undefined ? text : `${text}\n${withExtended(base, files)}`;
}

export type ProtocolKind = "bus" | "node" | "directory" | "group";

/** The kind that the file states, also a file that extends another. The engine decides for itself. */
export function kindOf(text: string): ProtocolKind {
  if (/^## group$/m.test(text)) return "group";
  if (/^## node$/m.test(text)) return "node";
  return /^## directory$/m.test(text) ? "directory" : "bus";
}
