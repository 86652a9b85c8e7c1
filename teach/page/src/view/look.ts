// How a line is drawn everywhere: its label and its words with names that are short within it.
import type { Names } from "../model/names";

export interface WordLook {
  name: string;
  short: string;
  offset: number;
  bytes: number;
}
export interface LineLook {
  line: number;
  /** "" where the one word's name says it. */
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
