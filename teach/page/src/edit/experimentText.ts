// An experiment's text, and the lines of it that the page's controls change. The text is authoritative; the engine reads it.
import type { Files } from "../engine/files";
import { kindOf, property, protocolTitle, withExtended, type ProtocolKind } from "./protocolText";

export interface ShippedMachine {
  name: string;
  title: string;
  cpus: number;
  hasNodes: boolean;
}
export interface ShippedProtocol {
  name: string;
  path: string;
  title: string;
  kind: ProtocolKind;
  /** For a node's protocol: the protocols that it joins. */
  partners: { bus: string | null; directory: string | null };
}

const baseName = (path: string): string => path.replace(/^.*\//, "").replace(/\.\w+$/, "");

export function shippedMachines(files: Files | undefined): ShippedMachine[] {
  return Object.entries(files ?? {})
    .map(([path, text]) => ({
      name: baseName(path),
      title: /^title\s*=\s*"([^"]*)"/m.exec(text)?.[1] ?? baseName(path),
      cpus: Number(/^cpus\s*=\s*(\d+)/m.exec(text)?.[1] ?? 0),
      hasNodes: /^\[node\]/m.test(text),
    }))
    .sort((a, b) => Number(a.hasNodes) - Number(b.hasNodes) || a.cpus - b.cpus || a.name.localeCompare(b.name));
}

const kOrder = ["msi_snoop", "mesi_snoop", "mesif_snoop", "moesi_snoop", "dragon_snoop", "mesi_far_snoop"];

export function shippedProtocols(files: Files | undefined): ShippedProtocol[] {
  const rank = (name: string) => (kOrder.includes(name) ? kOrder.indexOf(name) : kOrder.length);
  return Object.entries(files ?? {})
    .map(([path, own]) => {
      const text = withExtended(own, files);
      const partners = { bus: property(text, "bus"), directory: property(text, "directory") };
      return { name: baseName(path), path, title: protocolTitle(text), kind: kindOf(text), partners };
    })
    .sort((a, b) => rank(a.name) - rank(b.name) || a.name.localeCompare(b.name));
}

const quoted = (value: string | number): string => (typeof value === "number" ? String(value) : JSON.stringify(value));

export function machineOf(experiment: string): string {
  return /^machine\s*=\s*["']([^"']*)["']/m.exec(experiment)?.[1] ?? "";
}
export function withMachine(experiment: string, name: string): string {
  const line = `machine = ${quoted(name)}`;
  return /^machine\s*=.*$/m.test(experiment) ? experiment.replace(/^machine\s*=.*$/m, line) : `${line}\n${experiment}`;
}

/** A value below [set]. */
export function setting(experiment: string, key: string): string | null {
  const line = new RegExp(`^"?${key.replaceAll(".", "\\.")}"?\\s*=\\s*(.*)$`, "m").exec(experiment)?.[1];
  return line === undefined ? null : line.trim().replace(/^["']|["']$/g, "");
}

/** The text with another value below [set]; null removes the line. */
export function withSetting(experiment: string, key: string, value: string | number | null): string {
  const line = new RegExp(`^"?${key.replaceAll(".", "\\.")}"?\\s*=.*\\n?`, "m");
  const without = experiment.replace(line, "");
  if (value === null) return without;
  const entry = `"${key}" = ${quoted(value)}\n`;
  if (/^\[set\]\s*$/m.test(without)) return without.replace(/^\[set\][^\n]*\n?/m, `[set]\n${entry}`);
  return `${without.trimEnd()}\n\n[set]\n${entry}`;
}

const kBus = "machine.bus.protocol";
const kNode = "machine.node.protocol";
const kDirectory = "machine.directory.protocol";

/** The protocol that the experiment chooses; "" if it keeps the machine's own. */
export function chosenProtocol(experiment: string): string {
  return setting(experiment, kNode) ?? setting(experiment, kBus) ?? "";
}

/** Chooses a bus's protocol, or a node controller's with those that its file names. "" restores the machine's own. */
export function withProtocol(experiment: string, protocol: ShippedProtocol | null): string {
  let text = experiment;
  for (const key of [kBus, kNode, kDirectory]) text = withSetting(text, key, null);
  if (!protocol) return text;
  if (protocol.kind === "bus") return withSetting(text, kBus, protocol.name);
  text = withSetting(text, kDirectory, protocol.partners.directory);
  text = withSetting(text, kBus, protocol.partners.bus);
  return withSetting(text, kNode, protocol.name);
}

/** Chooses a protocol of the reader's own, from a file beside the experiment. */
export function withOwnProtocol(experiment: string, kind: ProtocolKind, file: string): string {
  const key = kind === "node" ? kNode : kind === "directory" ? kDirectory : kBus;
  return withSetting(experiment, key, file);
}

export const protocolsFor = (machine: ShippedMachine | undefined, all: ShippedProtocol[]): ShippedProtocol[] =>
  all.filter((protocol) => protocol.kind === (machine?.hasNodes ? "node" : "bus"));

export function newExperiment(machine: string, cpus: number): string {
  return `name    = "own_program"
title   = "A program of my own"
machine = "${machine}"

[workload]
name    = "program"
program = "program.lua"

[run]
warmup_us  = 0
measure_us = 0

[set]
"machine.cpus" = ${cpus}
`;
}
