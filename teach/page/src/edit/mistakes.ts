// Where the engine's messages point: "program.lua:14: CPU 3: the word is nil".
export interface Mistake {
  file: string;
  line: number;
  text: string;
}

export function mistakesIn(message: string): Mistake[] {
  const found: Mistake[] = [];
  for (const match of message.matchAll(/([\w./-]+\.(?:lua|md|toml)):(\d+):(?:\d+:)?\s*([^\n]*)/g))
    found.push({ file: match[1]!.replace(/^.*\//, ""), line: Number(match[2]), text: match[3]! });
  return found;
}
