// Short texts of steps, for places where the engine's sentence is too long.
import { Kind, type AccessStep, type BufferStep, type ProgramStep, type RunDocument, type Step } from "./document";
import { showValue, toBig, type Names } from "./names";

const kAccesses = ["load", "store", "atomic"];

export function accessName(document: RunDocument, access: number): string {
  return document.accesses?.[access] ?? kAccesses[access] ?? "access";
}
export function operationName(document: RunDocument, operation: number): string {
  return (document.operations?.[operation] ?? "").replaceAll("_", " ");
}

export function accessText(document: RunDocument, names: Names, step: AccessStep): string {
  const [, , , , access, address, bytes, old, fresh] = step;
  const name = accessName(document, access);
  const word = names.word(address);
  const value = showValue(toBig(fresh), bytes);
  if (old === fresh && !/store|write/.test(name)) return `${name} ${word} = ${value}`;
  return `${name} ${word} ← ${value}`;
}

export function programText(document: RunDocument, names: Names, step: ProgramStep): string {
  const [, , , operation, address, bytes, value] = step;
  const name = operationName(document, operation);
  if (!bytes) return name;
  const word = names.word(address);
  return /store|exchange|fetch|add|set/.test(name) ? `${name} ${word}, ${showValue(toBig(value), bytes)}` : `${name} ${word}`;
}

export function bufferText(names: Names, step: BufferStep): string {
  return `${names.word(step[3])}=${showValue(toBig(step[5]), step[4])}`;
}

/** The CPU or cache that a step belongs to, as a key of the views. */
export function actorsOf(step: Step | null): Set<string> {
  const found = new Set<string>();
  if (!step) return found;
  switch (step[1]) {
    case Kind.row: found.add(`${step[2]} ${step[3]}`); break;
    case Kind.access: found.add(`0 ${step[2]}`).add(`cpu ${step[3]}`); break;
    case Kind.message: found.add(`end ${step[2]}`).add(`end ${step[3]}`); break;
    case Kind.program: case Kind.buffer: found.add(`cpu ${step[2]}`); break;
    case Kind.copy: found.add(`end ${step[2]}`); break;
    case Kind.directory: found.add(`2 ${step[2]}`); break;
  }
  return found;
}
