// The checkers, run in the page: `check` for protocols, `check-lock` for locks, with the arguments of the command line.
import { engine, type Printed } from "../engine/engine";
import type { Files } from "../engine/files";
import { kindOf } from "./protocolText";

/** The row's line in the file; "mesi_snoop.md:57" if the row is inherited from another file. */
type Line = number | string;
const ownLines = (rows: Line[][] | undefined): number[][] =>
  (rows ?? []).map((lines) => lines.filter((line): line is number => typeof line === "number"));

/** One step of a counterexample, as the checker saw it; columns are caches, controllers and memory. */
export interface ShownStep {
  title: string;
  /** Columns: which sends, and which is reached; null if the step happens at one place. */
  from: number;
  to: number[];
  states: string[];
  /** What a load would find in each column. -1 or missing: nothing, or the step doesn't say. */
  values: number[] | null;
  notes: string[][];
  /** Numbers of lines in the protocol's file. */
  rows: number[][];
}
export interface Counterexample {
  promise: string;
  text: string;
  columns: string[];
  start: string[];
  steps: ShownStep[];
}
export interface ProtocolVerdict {
  kind: "proved" | "broken" | "unreached" | "refused";
  /** The engine's message if the file is no protocol. */
  error: string;
  states: number;
  unreached: { line: Line; state: string; event: string }[];
  counterexample: Counterexample | null;
}

interface BusStep {
  step: string;
  cache: number;
  value?: number;
  message?: string;
  from?: number;
  data?: number;
  states: string[];
  values?: number[];
  notes?: string[][];
  rows?: Line[][];
}
interface NetworkStep {
  step: string;
  from: string;
  to?: string;
  all_between?: boolean;
  what: string;
  states: string[];
  notes?: string[][];
  rows?: Line[][];
}
interface Violation {
  promise: string;
  text: string;
  columns?: string[];
  start?: string[];
  steps?: (BusStep | NetworkStep)[];
}

const isNetwork = (step: BusStep | NetworkStep): step is NetworkStep => "what" in step;

function busStep(step: BusStep, columns: string[]): ShownStep {
  const who = columns[step.cache]!;
  const memory = columns.length - 1;
  const rest = { states: step.states, values: step.values ?? null, notes: step.notes ?? [], rows: ownLines(step.rows) };
  switch (step.step) {
    case "order":
      return { title: `${step.message} of ${who} is ordered`, from: step.cache, to: columns.map((_, c) => c).filter((c) => c !== step.cache), ...rest };
    case "data":
      return { title: step.from === undefined ? `${who} goes on` : `data ${step.data} from ${columns[step.from] ?? "?"} to ${who}`,
        from: step.from ?? memory, to: [step.cache], ...rest };
    case "atomic": return { title: `${who}: Atomic ${step.value}`, from: step.cache, to: [], ...rest };
    case "store": return { title: `${who}: Store ${step.value}`, from: step.cache, to: [], ...rest };
    case "load": return { title: `${who}: Load`, from: step.cache, to: [], ...rest };
    default: return { title: `${who}: Evict`, from: step.cache, to: [], ...rest };
  }
}

function networkStep(step: NetworkStep, columns: string[]): ShownStep {
  const from = columns.indexOf(step.from);
  const end = columns.indexOf(step.to ?? step.from);
  let to = end === from ? [] : [end];
  // A message on a node's bus reaches everybody on it: the caches, and the controller.
  if (step.all_between) {
    const node = /(\d+)(\.\d+)?$/.exec(step.from)?.[1];
    to = columns.map((_, c) => c).filter((c) => c !== from && /(\d+)(\.\d+)?$/.exec(columns[c]!)?.[1] === node);
  }
  return { title: `${step.from}: ${step.what}${to.length === 1 ? ` to ${columns[to[0]!]}` : ""}`, from, to, states: step.states,
    values: null, notes: step.notes ?? [], rows: ownLines(step.rows) };
}

function counterexample(violation: Violation | null | undefined, caches: number): Counterexample | null {
  if (!violation) return null;
  const columns = violation.columns ?? [...Array.from({ length: caches }, (_, c) => `cache ${c}`), "memory"];
  const steps = (violation.steps ?? []).map((step) => (isNetwork(step) ? networkStep(step, columns) : busStep(step, columns)));
  return { promise: violation.promise, text: violation.text, columns, start: violation.start ?? columns.map(() => "?"), steps };
}

const kFolder = "/work/";

/** The file's name without folder and ending. */
export const nameOf = (path: string): string => path.replace(/^.*\//, "").replace(/\.\w+$/, "");

export async function checkProtocol(path: string, text: string, small: boolean): Promise<ProtocolVerdict> {
  const file = `${kFolder}${nameOf(path)}.md`;
  const options = kindOf(text) === "node" && small ? ["--nodes", "2", "--caches", "1"] : [];
  const printed = await engine().command(["check", file, ...options, "--json"], { [file]: text });
  return readVerdict(printed);
}

/** What the checker printed instead of a verdict, without the page's own folder. */
const said = (printed: Printed): string => printed.text.trim().replaceAll(kFolder, "");

export function readVerdict(printed: Printed): ProtocolVerdict {
  const none = { error: "", states: 0, unreached: [], counterexample: null };
  if (!printed.text.trimStart().startsWith("{")) return { ...none, kind: "refused", error: said(printed) };
  const found = JSON.parse(printed.text) as {
    proved: boolean; caches?: number; states?: number; violation?: Violation | null;
    systems?: { states?: number; violation?: Violation | null }[]; unreached_rows?: ProtocolVerdict["unreached"];
  };
  const violation = found.violation ?? found.systems?.map((system) => system.violation).find((one) => one);
  const states = found.states ?? found.systems?.reduce((sum, system) => sum + (system.states ?? 0), 0) ?? 0;
  const unreached = found.unreached_rows ?? [];
  const kind = found.proved ? "proved" : violation ? "broken" : "unreached";
  return { ...none, kind, states, unreached, counterexample: counterexample(violation, found.caches ?? 0) };
}

export interface LockStep {
  cpu: number;
  text: string;
  memory?: [word: string, value: string][];
  buffers?: string[][];
  inside?: number[];
}
export interface LockVerdict {
  kind: "holds" | "broken" | "incomplete" | "not_checkable" | "refused";
  error: string;
  states: number;
  cpus: number;
  consistency: string;
  violation: string;
  steps: LockStep[];
}

export async function checkLock(path: string, text: string, consistency: string[], files: Files = {}): Promise<LockVerdict> {
  const file = `${kFolder}${nameOf(path)}.lua`;
  const models = consistency.flatMap((model) => ["--consistency", model]);
  // Left out in the page: runs on whole machines take long, and the page shows only the order of operations.
  const args = ["check-lock", file, ...models, "--cpus", "2", "--acquisitions", "1", "--machines", "0", "--json"];
  return readLockVerdict(await engine().command(args, { ...files, [file]: text }));
}

export function readLockVerdict(printed: Printed): LockVerdict {
  const none = { error: "", states: 0, cpus: 0, consistency: "", violation: "", steps: [] };
  if (!printed.text.trimStart().startsWith("[")) return { ...none, kind: "refused", error: said(printed) };
  const [found] = JSON.parse(printed.text) as {
    verdict: string; not_checkable: string;
    cases: { cpus: number; consistency: string; states: number; violation: string; steps: LockStep[] }[];
  }[];
  if (!found) return { ...none, kind: "refused", error: "The checker printed no verdict." };
  const broken = found.cases.find((one) => one.violation);
  const states = found.cases.reduce((sum, one) => sum + one.states, 0);
  return { kind: found.verdict as LockVerdict["kind"], error: found.not_checkable, states, cpus: broken?.cpus ?? 2,
    consistency: broken?.consistency ?? "", violation: broken?.violation ?? "", steps: broken?.steps ?? [] };
}
