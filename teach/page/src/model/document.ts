// The engine's document: one run, with every step of it. `linebounce steps` and the engine in the page write the same bytes.
// The page derives nothing here.

/** A number. A number beyond 2^53 is a string of hexadecimal digits, "0x...". */
export type Num = number | string;

/** What ran a row: an index into `tables`. */
export const Controller = { cache: 0, memory: 1, directory: 2, node: 3, group: 4 } as const;

export const Kind = { row: 0, access: 1, message: 2, program: 3, buffer: 4, directory: 5, copy: 6 } as const;

/** A row of a protocol's table ran. */
export type RowStep = [
  tick: number, kind: 0, controller: number, agent: number, line: Num, state: number, event: number, next: number];
/** the `hit` of an AccessStep for an atomic operation that memory runs: the cache has no copy of the result */
export const kFar = 2;
/** A CPU accesses its cache: it hits, or its miss has been served. */
export type AccessStep = [
  tick: number, kind: 1, agent: number, cpu: number, access: number, address: Num, bytes: number, old: Num, fresh: Num,
  hit?: number];
/** A message leaves; `from` and `to` are indexes into `endpoints`. A broadcast goes to the bus. Arrives at -1: never. */
export type MessageStep = [
  tick: number, kind: 2, from: number, to: number, message: number, line: Num, arrives: number, data: number];
/** A program's operation begins. */
export type ProgramStep = [
  tick: number, kind: 3, cpu: number, operation: number, address: Num, bytes: number, value: Num, line: number,
  func?: number, expected?: Num];
/** What happens to a store in a CPU's store buffer: it leaves (0), enters (1), or the CPU reads it there (2). */
export type BufferStep = [
  tick: number, kind: 4, cpu: number, address: Num, bytes: number, value: Num, move: number];
/** A directory's entry for a line, as indexes into `endpoints`; owner -1 means no owner. */
export type DirectoryStep = [tick: number, kind: 5, agent: number, line: Num, owner: number, sharers: number[]];
/** A copy takes data that no access wrote: a fill, a writeback. `old` is -1 where there was no copy. */
export type CopyStep = [
  tick: number, kind: 6, endpoint: number, address: Num, bytes: number, old: Num, fresh: Num];
export type Step = RowStep | AccessStep | MessageStep | ProgramStep | BufferStep | CopyStep | DirectoryStep;

/** A row as the protocol's file has it: its line there, the states, the events, the actions, the next state, the reason. */
export type WrittenRow = [line: number, states: string, events: string, actions: string, then: string, why: string];
export type BaseEvent = [name: string, meaning: string, first: number, count: number];

export interface Table {
  name: string;
  protocol: string;
  states: string[];
  events: string[];
  /** For each cell, by state and then event: its line in the protocol's file; 0: the file declares it impossible. */
  lines: number[];
  rows?: WrittenRow[];
  /** The textbook's word for a state: "Modified". */
  plain?: string[];
  /** What a state means, in the protocol file's words. */
  meanings?: string[];
  stable?: boolean[];
  base_events?: BaseEvent[];
}

/** For each CPU: its node, its bus, its core, and its thread in the core. */
export type Place = [node: number, bus: number, core: number, thread: number];
export type CachePlace = [name: string, node: number, bus: number, cpus: number[]];
export type EndpointKind = "cache" | "bus" | "memory" | "controller" | "directory" | "group";
export type Endpoint = [kind: EndpointKind, number: number, label: string, node: number];
export type ObjectPlace = [name: string, layout: string, address: Num, bytes: number];
/** The present form has no initial value: [address, bytes, name, last]. */
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
