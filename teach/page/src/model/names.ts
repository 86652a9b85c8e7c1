// Names of addresses, lines and states.
import type { Num, RunDocument, Table } from "./document";

export function toBig(value: Num): bigint {
  return BigInt(value);
}

/** Formats a value for people: small numbers in decimal and signed, large ones in hexadecimal. */
export function showValue(value: bigint, bytes = 8): string {
  const bits = BigInt(8 * bytes);
  const half = 1n << (bits - 1n);
  const signed = value >= half ? value - (1n << bits) : value;
  if (signed > -100_000n && signed < 10_000_000n) return signed.toString();
  return `0x${value.toString(16)}`;
}

export interface WordPlace {
  address: bigint;
  bytes: number;
  /** Such as "own[0].a"; the address if it has no name. */
  name: string;
  line: number;
  offset: number;
}

export class Names {
  readonly words: WordPlace[];
  private readonly byLine = new Map<number, WordPlace[]>();
  private readonly labels = new Map<number, string>();
  private readonly lineBytes: bigint;

  constructor(private readonly document: RunDocument) {
    this.lineBytes = BigInt(document.line_bytes || 1);
    this.words = (document.words ?? []).map((word) => {
      const address = toBig(word[0]);
      const line = this.lineOf(address);
      const offset = Number(address - BigInt(line) * this.lineBytes);
      return { address, bytes: word[1], name: word[2] || `0x${address.toString(16)}`, line, offset };
    });
    for (const word of this.words) {
      const there = this.byLine.get(word.line);
      if (there) there.push(word);
      else this.byLine.set(word.line, [word]);
    }
  }

  lineOf(address: Num | bigint): number {
    return Number(BigInt(address) / this.lineBytes);
  }

  wordsOf(line: number): WordPlace[] {
    return this.byLine.get(line) ?? [];
  }

  /** The name of the word at an address; the address itself if the word has no name. */
  word(address: Num): string {
    const at = toBig(address);
    const found = this.wordsOf(this.lineOf(at)).find((w) => w.address <= at && at < w.address + BigInt(w.bytes));
    return found?.name ?? `0x${at.toString(16)}`;
  }

  /** The objects on a line: "lock", or "count[0], count[1] ...". */
  line(line: number): string {
    let label = this.labels.get(line);
    if (label === undefined) {
      label = this.makeLabel(line);
      this.labels.set(line, label);
    }
    return label;
  }

  private makeLabel(line: number): string {
    const begin = BigInt(line) * this.lineBytes;
    const end = begin + this.lineBytes;
    const here = this.document.objects
      .filter(([, , address, bytes]) => toBig(address) < end && toBig(address) + BigInt(bytes) > begin)
      .map(([name]) => name);
    if (here.length === 0) return `0x${begin.toString(16)}`;
    return here.length <= 2 ? here.join(", ") : `${here[0]} … ${here[here.length - 1]}`;
  }
}

/** Such as "IS_AD": the name of a waiting state says that it waits. */
export const isWaiting = (state: string): boolean => state.includes("_");

/** Whether a state of a table waits for something. */
export function waits(table: Table, state: number): boolean {
  return table.stable ? !table.stable[state] : isWaiting(table.states[state] ?? "");
}

export type StateColour = "M" | "O" | "E" | "S" | "F" | "I" | "other";

/** Which of the six colours a state has; a waiting state has that of the copy it waits for. */
export function stateColour(state: string): StateColour {
  const stable = isWaiting(state) ? (/^[A-Z]*?([MOESFI])_/.exec(state)?.[1] ?? state[0]) : state;
  switch (stable) {
    case "M": case "EM": return "M";
    case "O": case "Sm": case "OM": return "O";
    case "E": return "E";
    case "S": case "Sc": return "S";
    case "F": return "F";
    case "I": return "I";
    default: return "other";
  }
}
