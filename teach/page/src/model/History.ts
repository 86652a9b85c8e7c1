// The machine's state at any position of a run, from the run's log alone. Each entry of the log has the state before and
// after it. So a step back costs as much as a step forward, and nothing is simulated again.
//
// Position p: the steps 0 .. p-1 have happened. Some steps change one cell: a line's state, a CPU's operation, what a
// directory knows, bytes of a copy. These are applied and undone. Things that last for a while (messages, buffered stores)
// are looked up.
import { CopyBytes, type CopyKind } from "./bytes";
import { Kind, type AccessStep, type BufferStep, type DirectoryStep, type MessageStep, type ProgramStep, type RowStep,
  type RunDocument, type Step } from "./document";
import { Intervals } from "./intervals";
import { waits } from "./names";
import { Numbering } from "./numbering";

/** The length of a step. */
export type Stride = "step" | "message" | "transaction" | "instruction";

/** A line at a controller: a cache's copy, a directory's entry. */
export interface LineSlot {
  controller: number;
  agent: number;
  line: number;
}
export class History {
  readonly length: number;
  readonly time: Float64Array;
  readonly kind: Uint8Array;
  readonly tickNs: number;
  readonly lines = new Numbering<LineSlot>();
  readonly directories = new Numbering<{ agent: number; line: number }>();

  private at = 0;
  private readonly slot: Int32Array; // for each step: the line, CPU or directory entry that it changes
  private readonly undo: Int32Array; // for each step: the value that it replaces there
  private readonly next: Uint8Array; // for a step that runs a row: the new state
  private readonly states: Uint8Array;
  private readonly copies: CopyBytes;
  private readonly operation: Int32Array; // by CPU: the step that began its operation, or -1
  private readonly accessed: Int32Array; // by CPU: its latest access, or -1
  private readonly known: Int32Array; // by directory entry: the step that says what it knows, or -1
  private readonly messages: { steps: Int32Array; spans: Intervals };
  private readonly buffered: { steps: Int32Array; spans: Intervals };
  private readonly stopsOf: Record<Stride, Int32Array | null>;

  constructor(readonly document: RunDocument) {
    const log = document.log;
    const n = (this.length = log.length);
    const [p, q] = document.tick_ns.split("/").map(Number);
    this.tickNs = p! / (q || 1);
    this.time = Float64Array.from(log, (step) => step[0]);
    this.kind = Uint8Array.from(log, (step) => step[1]);
    this.slot = new Int32Array(n);
    this.undo = new Int32Array(n).fill(-1);
    this.next = new Uint8Array(n);
    this.number(log);
    const cpus = Math.max(document.cpus, 1);
    this.states = new Uint8Array(this.lines.items.length);
    this.operation = new Int32Array(cpus).fill(-1);
    this.accessed = new Int32Array(cpus).fill(-1);
    this.known = new Int32Array(this.directories.items.length).fill(-1);
    this.copies = new CopyBytes(document);
    this.messages = this.findMessages(log);
    this.buffered = this.findBuffered(log);
    this.stopsOf = this.findStops(log);
    this.record();
  }

  get position(): number {
    return this.at;
  }
  /** The step that just ran. */
  get last(): Step | null {
    return this.at > 0 ? this.document.log[this.at - 1]! : null;
  }
  /** Ticks. */
  get now(): number {
    return this.at > 0 ? this.time[this.at - 1]! : 0;
  }
  ns(ticks: number): number {
    return ticks * this.tickNs;
  }

  jump(to: number): void {
    const target = Math.max(0, Math.min(this.length, Math.trunc(to)));
    while (this.at < target) this.apply(this.at++);
    while (this.at > target) this.revert(--this.at);
  }

  /** Where the next stride forward or back would end. */
  stop(stride: Stride, direction: 1 | -1, from = this.at): number {
    const stops = this.stopsOf[stride];
    if (!stops) return Math.max(0, Math.min(this.length, from + direction));
    let low = 0;
    let high = stops.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (direction > 0 ? stops[middle]! <= from : stops[middle]! < from) low = middle + 1;
      else high = middle;
    }
    return direction > 0 ? (stops[low] ?? this.length) : (stops[low - 1] ?? 0);
  }

  /** The index of a line's state at a controller; 0 (no copy) if nothing has happened there. */
  state(controller: number, agent: number, line: number): number {
    const slot = this.lines.find(`${controller} ${agent} ${line}`);
    return slot < 0 ? 0 : this.states[slot]!;
  }
  stateOfSlot(slot: number): number {
    return this.states[slot]!;
  }

  /** The value of a word in a copy; null if the log does not say it. */
  value(kind: CopyKind, agent: number, line: number, offset: number, bytes: number): bigint | null {
    return this.copies.value(kind, agent, line, offset, bytes);
  }

  /** The operation that a CPU is running. */
  programOf(cpu: number): ProgramStep | null {
    const at = this.operation[cpu] ?? -1;
    return at < 0 ? null : (this.document.log[at] as ProgramStep);
  }
  accessOf(cpu: number): AccessStep | null {
    const at = this.accessed[cpu] ?? -1;
    return at < 0 ? null : (this.document.log[at] as AccessStep);
  }
  directoryOf(agent: number, line: number): DirectoryStep | null {
    const entry = this.directories.find(`${agent} ${line}`);
    const at = entry < 0 ? -1 : this.known[entry]!;
    return at < 0 ? null : (this.document.log[at] as DirectoryStep);
  }
  /** The steps that sent the messages that are under way. */
  messagesUnderWay(): number[] {
    return this.messages.spans.at(this.at).map((k) => this.messages.steps[k]!);
  }
  /** A CPU's buffered stores, the oldest first. */
  storeBuffer(cpu: number): BufferStep[] {
    return this.buffered.spans
      .at(this.at)
      .map((k) => this.document.log[this.buffered.steps[k]!] as BufferStep)
      .filter((step) => step[2] === cpu);
  }

  /** A digest of the whole state: equal states have equal digests. */
  digest(): string {
    let a = 0x811c9dc5;
    let b = 0x1234567;
    const mix = (value: number) => {
      a = Math.imul(a ^ value, 0x01000193);
      b = Math.imul(b ^ (value + 0x9e37), 0x85ebca6b) ^ (b >>> 13);
    };
    for (const cells of [this.states, this.operation, this.accessed, this.known]) cells.forEach(mix);
    this.copies.forEach(mix);
    this.messagesUnderWay().forEach(mix);
    this.buffered.spans.at(this.at).forEach(mix);
    return `${(a >>> 0).toString(16)}-${(b >>> 0).toString(16)}`;
  }

  /** How many bytes the typed arrays take: the cost of a long history besides the document itself. */
  get memory(): number {
    const all = [this.time, this.kind, this.slot, this.undo, this.next, this.states];
    return all.reduce((sum, one) => sum + one.byteLength, this.copies.memory);
  }

  private apply(i: number): void {
    const slot = this.slot[i]!;
    switch (this.kind[i]) {
      case Kind.row: this.states[slot] = this.next[i]!; break;
      case Kind.access: this.accessed[slot] = i; break;
      case Kind.program: this.operation[slot] = i; break;
      case Kind.directory: this.known[slot] = i; break;
    }
    this.copies.apply(i);
  }

  private revert(i: number): void {
    this.copies.revert(i);
    const slot = this.slot[i]!;
    const old = this.undo[i]!;
    switch (this.kind[i]) {
      case Kind.row: this.states[slot] = old; break;
      case Kind.access: this.accessed[slot] = old; break;
      case Kind.program: this.operation[slot] = old; break;
      case Kind.directory: this.known[slot] = old; break;
    }
  }

  /** Gives every step its place in the history. */
  private number(log: Step[]): void {
    log.forEach((step, i) => {
      switch (step[1]) {
        case Kind.row: {
          const [, , controller, agent, wide, , , next] = step as RowStep;
          const line = Number(wide);
          this.slot[i] = this.lines.of(`${controller} ${agent} ${line}`, () => ({ controller, agent, line }));
          this.next[i] = next;
          break;
        }
        case Kind.access: this.slot[i] = step[3]; break;
        case Kind.program: this.slot[i] = step[2]; break;
        case Kind.directory: {
          const [, , agent, wide] = step as DirectoryStep;
          const line = Number(wide);
          this.slot[i] = this.directories.of(`${agent} ${line}`, () => ({ agent, line }));
          break;
        }
      }
    });
  }

  /** Runs once to the end and notes what each step replaces. */
  private record(): void {
    for (let i = 0; i < this.length; ++i) {
      const slot = this.slot[i]!;
      switch (this.kind[i]) {
        case Kind.row: this.undo[i] = this.states[slot]!; break;
        case Kind.access: this.undo[i] = this.accessed[slot]!; break;
        case Kind.program: this.undo[i] = this.operation[slot]!; break;
        case Kind.directory: this.undo[i] = this.known[slot]!; break;
      }
      this.apply(i);
    }
    this.at = this.length;
    this.jump(0);
  }

  private findMessages(log: Step[]): { steps: Int32Array; spans: Intervals } {
    const steps: number[] = [];
    const to: number[] = [];
    log.forEach((step, i) => {
      if (step[1] !== Kind.message) return;
      steps.push(i);
      to.push(this.landing(step as MessageStep, i));
    });
    const from = Int32Array.from(steps, (i) => i + 1);
    return { steps: Int32Array.from(steps), spans: new Intervals(from, Int32Array.from(to), this.length) };
  }

  private findBuffered(log: Step[]): { steps: Int32Array; spans: Intervals } {
    const steps: number[] = [];
    const to: number[] = [];
    const open = new Map<string, number[]>(); // by CPU and address: the stores in the buffer, oldest first
    log.forEach((step, i) => {
      if (step[1] !== Kind.buffer) return;
      const [, , cpu, address, , , move] = step as BufferStep;
      const key = `${cpu} ${address}`;
      const inside = open.get(key) ?? [];
      if (move === 1) {
        inside.push(steps.length);
        steps.push(i);
        to.push(this.length);
      } else if (move === 0 && inside.length > 0) {
        to[inside.shift()!] = i;
      }
      open.set(key, inside);
    });
    const from = Int32Array.from(steps, (i) => i + 1);
    return { steps: Int32Array.from(steps), spans: new Intervals(from, Int32Array.from(to), this.length) };
  }

  private findStops(log: Step[]): Record<Stride, Int32Array | null> {
    const message: number[] = [];
    const transaction: number[] = [];
    const program: number[] = [];
    const access: number[] = [];
    log.forEach((step, i) => {
      if (step[1] === Kind.message) message.push(i + 1);
      else if (step[1] === Kind.program) program.push(i + 1);
      else if (step[1] === Kind.access) access.push(i + 1);
      else if (this.endsTransaction(step)) transaction.push(this.withItsAccess(log, i));
    });
    return {
      step: null,
      message: message.length > 0 ? Int32Array.from(message) : null,
      transaction: Int32Array.from(transaction),
      instruction: Int32Array.from(program.length > 0 ? program : access),
    };
  }

  /** A line in a cache stops waiting. */
  private endsTransaction(step: Step): boolean {
    if (step[1] !== Kind.row || step[2] !== 0) return false;
    const table = this.document.tables[0];
    return table !== undefined && waits(table, step[5]) && !waits(table, step[7]);
  }

  /** The last step of a transaction, including the data that it brought and the access that it served. */
  private withItsAccess(log: Step[], i: number): number {
    let end = i + 1;
    const row = log[i] as RowStep;
    while (end < log.length && log[end]![0] === row[0] &&
      (log[end]![1] === Kind.copy || (log[end]![1] === Kind.access && log[end]![2] === row[3]))) ++end;
    return end;
  }

  /** The step at which message i has arrived. */
  private landing(step: MessageStep, i: number): number {
    return step[6] < 0 ? this.length : Math.max(i + 1, this.firstAt(step[6]));
  }

  /** The first step at or after a time. */
  private firstAt(time: number): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.time[middle]! < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
