// What copies hold, byte by byte, and how each step changes that: kept so that a step can be undone.
import { Kind, type AccessStep, type CopyStep, type MessageStep, type Num, type RowStep, type RunDocument } from "./document";
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

interface Flight {
  from: number;
  to: number; // -1: all copies on the bus
  line: number;
  bytes: Uint8Array;
  known: Uint8Array;
}

export class CopyBytes {
  private readonly copies = new Numbering<CopySlot>();
  private readonly lineBytes: number;
  private bytes: Uint8Array;
  private valid: Uint8Array;
  // The changes of step i: first[i] to first[i + 1]. Each has its new bytes, which of them count, and the same of before.
  private readonly first: Int32Array;
  private begin = new Int32Array(0);
  private count = new Int32Array(0);
  private at = new Int32Array(0);
  private pool = new Uint8Array(0);

  /** `landing` says at which step a message has arrived. */
  constructor(private readonly document: RunDocument, landing: (step: MessageStep, i: number) => number) {
    this.lineBytes = document.line_bytes || 1;
    this.number();
    this.bytes = new Uint8Array(this.copies.items.length * this.lineBytes);
    this.valid = new Uint8Array(this.bytes.length);
    this.first = new Int32Array(document.log.length + 1);
    this.setInitialMemory();
    // What messages carry is followed only where it agrees with every access: machines may hand data on before their bus has
    // shown it. Of other lines a copy shows what accesses have found there, and nothing beyond.
    const doubted = new Set<number>();
    for (let before = -1; doubted.size > before; ) {
      before = doubted.size;
      this.record(landing, doubted);
    }
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
  /** The copy of a line at an endpoint: memory is one, whichever directory is before it. */
  private copyAt(endpoint: number, line: number): number {
    const [kind, number] = this.document.endpoints?.[endpoint] ?? ["cache", endpoint];
    if (kind === "bus") return -1;
    if (kind === "memory" || kind === "directory") return this.copyOf("memory", 0, line);
    return this.copyOf(kind, number, line);
  }

  private number(): void {
    for (const word of this.document.words ?? []) if (word.length >= 5) this.copyOf("memory", 0, this.lineOf(word[0]));
    for (const step of this.document.log) {
      if (step[1] === Kind.row && step[2] === 0) this.copyOf("cache", step[3], Number(step[4]));
      else if (step[1] === Kind.access) this.copyOf("cache", step[2], this.lineOf(step[5]));
      else if (step[1] === Kind.copy) this.copyAt(step[2], this.lineOf(step[3]));
      else if (step[1] === Kind.message && step[7]) {
        this.copyAt(step[2], Number(step[5]));
        this.copyAt(step[3], Number(step[5]));
      }
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
  private record(landing: (step: MessageStep, i: number) => number, doubted: Set<number>): void {
    const { log } = this.document;
    // The engine's word for what a copy takes, where the document has it; else what the messages carry.
    const told = log.some((step) => step[1] === Kind.copy);
    const pool = new Pool();
    const begins: number[] = [];
    const counts: number[] = [];
    const ats: number[] = [];
    const flights = new Map<number, Flight[]>();
    const known = this.valid.slice(); // bytes that a copy has or had: it may still have to send them
    const change = (begin: number, fresh: Uint8Array, valid: Uint8Array) => {
      const count = fresh.length;
      const old = this.bytes.slice(begin, begin + count);
      const oldValid = this.valid.slice(begin, begin + count);
      begins.push(begin);
      counts.push(count);
      ats.push(pool.add(fresh));
      pool.add(valid);
      pool.add(old);
      pool.add(oldValid);
      this.bytes.set(fresh, begin);
      this.valid.set(valid, begin);
      for (let b = 0; b < count; ++b) if (valid[b]) known[begin + b] = 1;
    };
    const land = (flight: Flight) => {
      const word = flight.to < 0; // for all who have a copy, as its writer has it now
      const from = flight.from * this.lineBytes;
      const source = word ? this.bytes.slice(from, from + this.lineBytes) : flight.bytes;
      for (const copy of word ? this.othersOf(flight) : [flight.to]) {
        const begin = copy * this.lineBytes;
        const bytes = this.bytes.slice(begin, begin + this.lineBytes);
        const valid = this.valid.slice(begin, begin + this.lineBytes);
        flight.known.forEach((is, b) => {
          if (!is || (word && !valid[b])) return;
          bytes[b] = source[b]!;
          valid[b] = 1;
        });
        change(begin, bytes, valid);
      }
    };
    const forget = (copy: number) => {
      const begin = copy * this.lineBytes;
      change(begin, this.bytes.slice(begin, begin + this.lineBytes), new Uint8Array(this.lineBytes));
    };
    const written = (copy: number, address: Num, value: Num, size: number) => {
      const offset = Number(address) % this.lineBytes;
      const count = Math.min(size, this.lineBytes - offset);
      change(copy * this.lineBytes + offset, toBytes(value, count), new Uint8Array(count).fill(1));
    };
    log.forEach((step, i) => {
      this.first[i] = begins.length;
      flights.get(i)?.forEach(land);
      flights.delete(i);
      if (step[1] === Kind.access) {
        const [, , agent, , , address, size, old, fresh] = step as AccessStep;
        const line = this.lineOf(address);
        const found = this.value("cache", agent, line, Number(address) % this.lineBytes, size);
        if (found !== null && found !== BigInt(old) && !told) doubted.add(line);
        written(this.copyOf("cache", agent, line), address, fresh, size);
      } else if (step[1] === Kind.copy) {
        const [, , endpoint, address, size, , fresh] = step as CopyStep;
        written(this.copyAt(endpoint, this.lineOf(address)), address, fresh, size);
      } else if (step[1] === Kind.row && step[2] === 0) {
        const [, , , agent, line, , , next] = step as RowStep;
        if (next === 0 || doubted.has(Number(line))) forget(this.copyOf("cache", agent, Number(line))); // 0: the copy is gone
      } else if (step[1] === Kind.message && step[7] && !told) {
        const flight = this.flightOf(step as MessageStep, known);
        const at = landing(step as MessageStep, i);
        if (flight && doubted.has(flight.line)) {
          if (flight.to >= 0 && this.copies.items[flight.to]!.kind !== "cache") forget(flight.to);
        } else if (flight && at > i && at < log.length) {
          flights.set(at, [...(flights.get(at) ?? []), flight]);
        }
      }
    });
    this.first[log.length] = begins.length;
    this.begin = Int32Array.from(begins);
    this.count = Int32Array.from(counts);
    this.at = Int32Array.from(ats);
    this.pool = pool.bytes.slice(0, pool.size);
    for (let i = log.length - 1; i >= 0; --i) this.revert(i);
  }

  private flightOf(step: MessageStep, known: Uint8Array): Flight | null {
    const line = Number(step[5]);
    const from = this.copyAt(step[2], line);
    if (from < 0) return null;
    const begin = from * this.lineBytes;
    const end = begin + this.lineBytes;
    return { from, to: this.copyAt(step[3], line), line, bytes: this.bytes.slice(begin, end), known: known.slice(begin, end) };
  }

  private othersOf(flight: Flight): number[] {
    return this.copies.items.flatMap((copy, k) => (copy.kind === "cache" && copy.line === flight.line && k !== flight.from ? [k] : []));
  }
}
