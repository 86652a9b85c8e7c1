// How every view draws a line: its label, and its words with names shortened to fit.
import type { Names } from "../model/names";

export interface WordLook {
  name: string;
  short: string;
  offset: number;
  bytes: number;
}
export interface LineLook {
  line: number;
  /** "" if the line has one word, because its name then says everything. */
  label: string;
  words: WordLook[];
  height: number;
}

export function lookOf(names: Names, line: number): LineLook {
  const label = names.line(line);
  const words = names.wordsOf(line).map(({ name, offset, bytes }) => ({
    name,
    short: name.startsWith(`${label}.`) ? name.slice(label.length + 1) : name.startsWith(`${label}[`) ? name.slice(label.length) : name,
    offset,
    bytes,
  }));
  const alone = words.length === 1 && words[0]!.short === label;
  return { line, label: alone ? "" : label, words, height: alone ? 30 : 42 };
}
