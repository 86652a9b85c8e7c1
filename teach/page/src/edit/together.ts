// Two runs on one clock: at each time, every run shows all steps that have happened in it by then.
import type { History } from "../model/History";

/** The times of all steps of both runs, in nanoseconds. */
export function moments(a: History, b: History): Float64Array {
  const times = new Set<number>();
  for (const history of [a, b]) for (const tick of history.time) times.add(history.ns(tick));
  return Float64Array.from(times).sort();
}

/** The number of steps that have happened by a time. */
export function positionAt(history: History, ns: number): number {
  let low = 0;
  let high = history.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (history.ns(history.time[middle]!) <= ns) low = middle + 1;
    else high = middle;
  }
  return low;
}

export interface Costs {
  ns: number;
  /** Cycles of the CPUs' clock; null if no row of the run gives a latency. */
  cycles: number | null;
  messages: number;
  withData: number;
  bytes: number;
}

/** Counts what happened in a run up to its position. */
export function costsOf(history: History, position: number): Costs {
  const { log, line_bytes, files } = history.document;
  let messages = 0;
  let withData = 0;
  for (let k = 0; k < position; ++k) {
    const step = log[k]!;
    if (step[1] !== 2) continue;
    ++messages;
    if (step[7]) ++withData;
  }
  const ns = position > 0 ? history.ns(history.time[position - 1]!) : 0;
  const perNs = cyclesPerNs(files?.["latency.csv"]);
  return { ns, cycles: perNs === null ? null : Math.round(ns * perNs), messages, withData, bytes: withData * line_bytes };
}

/** The CPUs' clock, from a row that gives a latency in cycles and in nanoseconds. */
function cyclesPerNs(latencies: string | undefined): number | null {
  for (const row of latencies?.split("\n").slice(1) ?? []) {
    const [, , , cycles, ns] = row.split(",").map(Number);
    if (cycles && ns) return cycles / ns;
  }
  return null;
}
