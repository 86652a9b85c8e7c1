// The bytes of every copy, and how each step changes them, stored so that a step can be undone.
import { Kind, kFar, type AccessStep, type CopyStep, type Num, type RowStep, type RunDocument } from "./document";
import { Numbering } from "./numbering";

export type CopyKind = "cache" | "memory" | "controller" | "group";
export interface CopySlot {
  kind: CopyKind;
  agent: number;
  line: number;
}

function toBytes(value: Num, count: number): Uint8Array {
  const bytes = new Uint8Array(count);
  let rest = BigInt.asUintN(64, BigInt(value));
  for (let b = 0; b < count; ++b) {
    bytes[b] = Number(rest & 255n);
    rest >>= 8n;
  }
  return bytes;
}

/** Bytes that grow. */
class Pool {
  bytes = new Uint8Array(1 << 14);
  size = 0;
  add(more: Uint8Array): number {
    const at = this.size;
    if (at + more.length > this.bytes.length) {
      const larger = new Uint8Array(Math.max(2 * this.bytes.length, at + more.length));
      larger.set(this.bytes.subarray(0, at));
      this.bytes = larger;
    }
    this.bytes.set(more, at);
    this.size = at + more.length;
    return at;
  }
}

export class CopyBytes {
  private readonly copies = new Numbering<CopySlot>();
  private readonly lineBytes: number;
  private bytes: Uint8Array;
  private valid: Uint8Array;
  // The changes of step i have the indices first[i] to first[i + 1] - 1. For each change k, the pool holds from at[k] on: the
  // new bytes, which of them are valid, the old bytes, which of them were valid.
  private readonly first: Int32Array;
  private begin = new Int32Array(0);
  private count = new Int32Array(0);
  private at = new Int32Array(0);
  private pool = new Uint8Array(0);

  constructor(private readonly document: RunDocument) {
    this.lineBytes = document.line_bytes || 1;
    this.number();
    this.bytes = new Uint8Array(this.copies.items.length * this.lineBytes);
    this.valid = new Uint8Array(this.bytes.length);
    this.first = new Int32Array(document.log.length + 1);
    this.setInitialMemory();
    this.record();
  }

  apply(i: number): void {
    for (let k = this.first[i]!; k < this.first[i + 1]!; ++k) this.put(k, 0);
  }
  revert(i: number): void {
    for (let k = this.first[i + 1]! - 1; k >= this.first[i]!; --k) this.put(k, 2);
  }

  value(kind: CopyKind, agent: number, line: number, offset: number, bytes: number): bigint | null {
    const copy = this.copies.find(`${kind} ${agent} ${line}`);
    if (copy < 0) return null;
    const base = copy * this.lineBytes + offset;
    let value = 0n;
    for (let b = bytes - 1; b >= 0; --b) {
      if (!this.valid[base + b]) return null;
      value = (value << 8n) | BigInt(this.bytes[base + b]!);
    }
    return value;
  }

  forEach(mix: (value: number) => void): void {
    this.bytes.forEach(mix);
    this.valid.forEach(mix);
  }
  get memory(): number {
    return this.bytes.length + this.valid.length + this.pool.length + 4 * (this.first.length + 3 * this.begin.length);
  }

  private put(k: number, quarter: 0 | 2): void {
    const begin = this.begin[k]!;
    const count = this.count[k]!;
    const from = this.at[k]! + quarter * count;
    this.bytes.set(this.pool.subarray(from, from + count), begin);
    this.valid.set(this.pool.subarray(from + count, from + 2 * count), begin);
  }

  private copyOf(kind: CopyKind, agent: number, line: number): number {
    return this.copies.of(`${kind} ${agent} ${line}`, () => ({ kind, agent, line }));
  }
  private lineOf(address: Num): number {
    return Math.floor(Number(address) / this.lineBytes);
  }
  /** The copy of a line at an endpoint. Memory is a single copy, whichever directory the line has. */
  private copyAt(endpoint: number, line: number): number {
    const [kind, number] = this.document.endpoints?.[endpoint] ?? ["cache", endpoint];
    if (kind === "cache" || kind === "controller" || kind === "group") return this.copyOf(kind, number, line);
    return this.copyOf("memory", 0, line);
  }

  private number(): void {
    for (const word of this.document.words ?? []) if (word.length >= 5) this.copyOf("memory", 0, this.lineOf(word[0]));
    for (const step of this.document.log) {
      if (step[1] === Kind.row && step[2] === 0) this.copyOf("cache", step[3], Number(step[4]));
      else if (step[1] === Kind.access) this.copyOf("cache", step[2], this.lineOf(step[5]));
      else if (step[1] === Kind.copy) this.copyAt(step[2], this.lineOf(step[3]));
    }
  }

  private setInitialMemory(): void {
    for (const word of this.document.words ?? []) {
      if (word.length < 5) continue; // no initial values in this document
      const line = this.lineOf(word[0]);
      const begin = this.copyOf("memory", 0, line) * this.lineBytes + Number(word[0]) - line * this.lineBytes;
      this.bytes.set(toBytes(word[3], word[1]), begin);
      this.valid.fill(1, begin, begin + word[1]);
    }
  }

  /** Runs once to the end, notes what each step changes, and goes back to the start. */
  private record(): void {
    const { log } = this.document;
    const pool = new Pool();
    const begins: number[] = [];
    const counts: number[] = [];
    const ats: number[] = [];
    const change = (begin: number, fresh: Uint8Array, valid: Uint8Array) => {
      const end = begin + fresh.length;
      begins.push(begin);
      counts.push(fresh.length);
      ats.push(pool.add(fresh));
      pool.add(valid);
      pool.add(this.bytes.slice(begin, end));
      pool.add(this.valid.slice(begin, end));
      this.bytes.set(fresh, begin);
      this.valid.set(valid, begin);
    };
    const written = (copy: number, address: Num, value: Num, size: number) => {
      const offset = Number(address) % this.lineBytes;
      const count = Math.min(size, this.lineBytes - offset);
      change(copy * this.lineBytes + offset, toBytes(value, count), new Uint8Array(count).fill(1));
    };
    log.forEach((step, i) => {
      this.first[i] = begins.length;
      if (step[1] === Kind.access) {
        const [, , agent, , , address, size, , fresh, hit] = step as AccessStep;
        if (hit !== kFar) written(this.copyOf("cache", agent, this.lineOf(address)), address, fresh, size);
      } else if (step[1] === Kind.copy) {
        const [, , endpoint, address, size, , fresh] = step as CopyStep;
        written(this.copyAt(endpoint, this.lineOf(address)), address, fresh, size);
      } else if (step[1] === Kind.row && step[2] === 0 && step[7] === 0) {
        const [, , , agent, line] = step as RowStep; // the copy is gone
        const begin = this.copyOf("cache", agent, Number(line)) * this.lineBytes;
        change(begin, this.bytes.slice(begin, begin + this.lineBytes), new Uint8Array(this.lineBytes));
      }
    });
    this.first[log.length] = begins.length;
    this.begin = Int32Array.from(begins);
    this.count = Int32Array.from(counts);
    this.at = Int32Array.from(ats);
    this.pool = pool.bytes.slice(0, pool.size);
    for (let i = log.length - 1; i >= 0; --i) this.revert(i);
  }
}
