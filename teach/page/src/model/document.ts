// The engine's document: one run, every step of it. Written by `linebounce steps` and by the engine in the page, byte for
// byte the same. Nothing here is worked out by the page.

/** A number; beyond 2^53 a string of hexadecimal digits, "0x...". */
export type Num = number | string;

/** What ran a row: an index into `tables`. */
export const Controller = { cache: 0, memory: 1, directory: 2, node: 3, group: 4 } as const;

export const Kind = { row: 0, access: 1, message: 2, program: 3, buffer: 4, directory: 5, copy: 6 } as const;

/** A row of a protocol's table ran. */
export type RowStep = [
  tick: number, kind: 0, controller: number, agent: number, line: Num, state: number, event: number, next: number];
/** AccessStep's `hit` of an atomic operation that memory runs: the cache has no copy of the result. */
export const kFar = 2;
/** A CPU's access to its cache: a hit, or the moment a miss is served. */
export type AccessStep = [
  tick: number, kind: 1, agent: number, cpu: number, access: number, address: Num, bytes: number, old: Num, fresh: Num,
  hit?: number];
/** A message leaves; `from` and `to` are indexes into `endpoints`. A broadcast goes to the bus. Arrives at -1: never. */
export type MessageStep = [
  tick: number, kind: 2, from: number, to: number, message: number, line: Num, arrives: number, data: number];
/** An operation of a program begins. */
export type ProgramStep = [
  tick: number, kind: 3, cpu: number, operation: number, address: Num, bytes: number, value: Num, line: number,
  func?: number, expected?: Num];
/** A store leaves (0) or enters (1) a CPU's store buffer, or is read in it (2). */
export type BufferStep = [
  tick: number, kind: 4, cpu: number, address: Num, bytes: number, value: Num, move: number];
/** A directory's entry for a line, as indexes into `endpoints`; owner -1 means no owner. */
export type DirectoryStep = [tick: number, kind: 5, agent: number, line: Num, owner: number, sharers: number[]];
/** A copy takes data that no access wrote: a fill, a writeback. `old` is -1 where there was no copy. */
export type CopyStep = [
  tick: number, kind: 6, endpoint: number, address: Num, bytes: number, old: Num, fresh: Num];
export type Step = RowStep | AccessStep | MessageStep | ProgramStep | BufferStep | CopyStep | DirectoryStep;

/** A row as the protocol's file has it: its line there, the states, the events, what is done, the next state, why. */
export type WrittenRow = [line: number, states: string, events: string, actions: string, then: string, why: string];
export type BaseEvent = [name: string, meaning: string, first: number, count: number];

export interface Table {
  name: string;
  protocol: string;
  states: string[];
  events: string[];
  /** The protocol file's line of each cell, by state, then event; 0: declared impossible. */
  lines: number[];
  rows?: WrittenRow[];
  /** The textbook's word for a state: "Modified". */
  plain?: string[];
  /** What a state means, in the protocol file's words. */
  meanings?: string[];
  stable?: boolean[];
  base_events?: BaseEvent[];
}

/** CPU: its node, its bus, its core, its thread in the core. */
export type Place = [node: number, bus: number, core: number, thread: number];
export type CachePlace = [name: string, node: number, bus: number, cpus: number[]];
export type EndpointKind = "cache" | "bus" | "memory" | "controller" | "directory" | "group";
export type Endpoint = [kind: EndpointKind, number: number, label: string, node: number];
export type ObjectPlace = [name: string, layout: string, address: Num, bytes: number];
/** Today's form has no initial value: [address, bytes, name, last]. */
export type Word = [address: Num, bytes: number, name: string, initial: Num, last?: Num];

export interface RunDocument {
  exit: number;
  error: string;
  format?: number;
  /** "p/q" nanoseconds. */
  tick_ns: string;
  line_bytes: number;
  cpus: number;
  places: Place[];
  caches?: CachePlace[];
  nodes?: number;
  buses?: number;
  groups?: number;
  tables: Table[];
  functions: string[];
  objects: ObjectPlace[];
  words: Word[];
  metrics?: Record<string, [value: number, unit: string]>;
  files?: Record<string, string>;
  messages?: string[];
  operations?: string[];
  accesses?: string[];
  program?: { name?: string; text: string; functions: Record<string, number> };
  log: Step[];
  sentences?: string[];
  endpoints?: Endpoint[];
  cut?: boolean;
}
