// The space-time diagram of one line: its lifelines and events, without their layout.
import { Kind, type RunDocument } from "../model/document";
import type { Floor } from "../model/floor";
import type { Names } from "../model/names";

export interface Lifeline {
  key: string; // a name like those of endpoints: "cache 1", "directory 0", "bus 0", "memory 0"
  label: string;
  short: string;
  unit: number;
  /** Which controller's rows give the states: a table's number and an agent. */
  controller: number;
  agent: number;
}
export interface Bar {
  column: number;
  from: number; // rows of the diagram
  to: number;
  state: number;
  /** The step that began it; -1: it has been so from the start. */
  step: number;
}
export interface Arrow {
  step: number;
  from: number; // columns
  to: number;
  begins: number; // rows of the diagram
  ends: number;
  name: string;
  data: boolean;
}
export interface Mark {
  step: number;
  column: number;
  row: number;
  hit: boolean;
}
export interface Diagram {
  lifelines: Lifeline[];
  /** The time of each row, in rising order. */
  ticks: number[];
  bars: Bar[];
  arrows: Arrow[];
  marks: Mark[];
  /** The steps that concern the line, and each one's row. */
  steps: Int32Array;
  rows: Int32Array;
}

export function lifelinesOf(document: RunDocument, floor: Floor): Lifeline[] {
  const lines: Lifeline[] = [];
  const usesBus = new Set<string>();
  for (const step of document.log)
    if (step[1] === Kind.message)
      for (const end of [step[2], step[3]]) {
        const endpoint = document.endpoints?.[end];
        if (endpoint?.[0] === "bus") usesBus.add(`bus ${endpoint[1]}`);
      }
  floor.units.forEach(({ buses, controller, group, home }, unit) => {
    for (const bus of buses) {
      for (const cache of bus.caches)
        lines.push({ key: `cache ${cache.agent}`, label: `CPU ${cache.cpus.join(", ")}`, short: cache.cpus.join("+"),
          unit, controller: 0, agent: cache.agent });
      if (usesBus.has(`bus ${bus.bus}`))
        lines.push({ key: `bus ${bus.bus}`, label: floor.single ? "bus" : `bus ${bus.bus}`, short: "bus", unit, controller: -1, agent: bus.bus });
    }
    if (floor.single) lines.push({ key: "memory 0", label: "memory", short: "mem", unit, controller: -1, agent: 0 });
    if (controller !== null)
      lines.push({ key: `controller ${controller}`, label: `ctrl ${controller}`, short: `c${controller}`, unit, controller: 3, agent: controller });
    if (group !== null) lines.push({ key: `group ${group}`, label: `group ${group}`, short: `g${group}`, unit, controller: 4, agent: group });
    if (home !== null && !floor.single)
      lines.push({ key: `directory ${home}`, label: `home ${home}`, short: `h${home}`, unit, controller: 2, agent: home });
  });
  return lines;
}

export function diagramOf(document: RunDocument, lifelines: Lifeline[], names: Names, line: number): Diagram {
  const steps: number[] = [];
  const times = new Set<number>([0]);
  document.log.forEach((step, i) => {
    if (lineOf(step, names) !== line) return;
    steps.push(i);
    times.add(step[0]);
    if (step[1] === Kind.message && step[6] >= 0) times.add(step[6]);
  });
  const ticks = [...times].sort((a, b) => a - b);
  const rowOf = new Map(ticks.map((tick, row) => [tick, row]));
  const columnOf = new Map(lifelines.map((one, column) => [one.key, column]));
  const byController = new Map(lifelines.map((one, column) => [`${one.controller} ${one.agent}`, column]));
  const columnOfEnd = (end: number): number => {
    const endpoint = document.endpoints?.[end];
    if (!endpoint) return -1;
    return columnOf.get(`${endpoint[0]} ${endpoint[1]}`) ?? -1;
  };
  const bars: Bar[] = [];
  const open = new Map<number, Bar>();
  const arrows: Arrow[] = [];
  const marks: Mark[] = [];
  for (const i of steps) {
    const step = document.log[i]!;
    const row = rowOf.get(step[0])!;
    if (step[1] === Kind.row) {
      const column = byController.get(`${step[2]} ${step[3]}`);
      if (column === undefined) continue;
      const bar = open.get(column) ?? { column, from: 0, to: 0, state: step[5], step: -1 };
      if (step[7] === bar.state) continue;
      bar.to = row;
      if (bar.to > bar.from) bars.push(bar);
      open.set(column, { column, from: row, to: row, state: step[7], step: i });
    } else if (step[1] === Kind.message) {
      const from = columnOfEnd(step[2]);
      const to = columnOfEnd(step[3]);
      if (from < 0 || to < 0) continue;
      const ends = step[6] < 0 ? ticks.length : rowOf.get(step[6])!;
      arrows.push({ step: i, from, to, begins: row, ends, name: document.messages?.[step[4]] ?? "", data: !!step[7] });
    } else if (step[1] === Kind.access) {
      const column = columnOf.get(`cache ${step[2]}`);
      if (column !== undefined) marks.push({ step: i, column, row, hit: step[9] === 1 });
    }
  }
  for (const [column, bar] of open) bars.push({ ...bar, column, to: ticks.length });
  lifelines.forEach((one, column) => {
    if (one.controller >= 0 && !open.has(column)) bars.push({ column, from: 0, to: ticks.length, state: 0, step: -1 });
  });
  return {
    lifelines, ticks, bars, arrows, marks,
    steps: Int32Array.from(steps),
    rows: Int32Array.from(steps, (i) => rowOf.get(document.log[i]![0])!),
  };
}

function lineOf(step: RunDocument["log"][number], names: Names): number {
  switch (step[1]) {
    case Kind.row: return Number(step[4]);
    case Kind.message: return Number(step[5]);
    case Kind.access: return names.lineOf(step[5]);
    case Kind.directory: return Number(step[3]);
    default: return -1;
  }
}
