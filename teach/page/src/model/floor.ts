// The parts of a machine: nodes, their buses, their caches, and the CPUs of each cache.
import { Controller, Kind, type Endpoint, type RunDocument } from "./document";

export interface CacheUnit {
  agent: number;
  name: string;
  cpus: number[];
}
export interface BusUnit {
  bus: number;
  caches: CacheUnit[];
}
/** A part that is drawn in a frame: a node; if nodes have several buses, one bus; a group's cache; or a node's home. */
export interface Unit {
  key: string;
  title: string;
  node: number;
  buses: BusUnit[]; // one, or none
  /** The numbers of the parts in this frame; null: it has no such part. */
  controller: number | null;
  group: number | null;
  home: number | null;
}
export interface Floor {
  units: Unit[];
  /** The machine is one bus with its memory; otherwise it has directories and a network. */
  single: boolean;
}

function cachesOf(document: RunDocument): { agent: number; name: string; node: number; bus: number; cpus: number[] }[] {
  if (document.caches)
    return document.caches.map(([name, node, bus, cpus], agent) => ({ agent, name, node, bus, cpus }));
  const found = new Map<string, { agent: number; name: string; node: number; bus: number; cpus: number[] }>();
  document.places.forEach(([node, bus, core], cpu) => {
    const key = `${node} ${bus} ${core}`;
    const there = found.get(key);
    if (there) there.cpus.push(cpu);
    else found.set(key, { agent: found.size, name: `Cache ${found.size}`, node, bus, cpus: [cpu] });
  });
  return [...found.values()];
}

export function floorOf(document: RunDocument): Floor {
  const nodes = new Map<number, Map<number, CacheUnit[]>>();
  for (const { agent, name, node, bus, cpus } of cachesOf(document)) {
    if (cpus.length === 0) continue;
    const buses = nodes.get(node) ?? new Map<number, CacheUnit[]>();
    nodes.set(node, buses);
    buses.set(bus, [...(buses.get(bus) ?? []), { agent, name, cpus }]);
  }
  const single = (document.tables[2]?.states.length ?? 0) === 0;
  const none = { controller: null, group: null, home: null };
  if (single) {
    const buses = [...(nodes.get(0) ?? new Map<number, CacheUnit[]>()).entries()].map(([bus, caches]) => ({ bus, caches }));
    return { single, units: [{ key: "all", title: "", node: 0, buses, ...none, home: 0 }] };
  }
  // Also shows a node that has memory but no CPUs, if the run accessed that memory.
  const used = new Set(document.log.flatMap((step) => (step[1] === Kind.row && step[2] === Controller.directory ? [step[3]] : [])));
  for (const home of used) if (!nodes.has(home)) nodes.set(home, new Map());
  const groups = groupsOf(document);
  const units = [...nodes.entries()].sort(([a], [b]) => a - b)
    .flatMap(([node, buses]) => unitsOf(document, node, buses, groups.get(node) ?? [], nodes.size > 1));
  const rank = (unit: Unit) => (unit.buses.length > 0 ? 0 : unit.group !== null ? 1 : 2);
  return { single, units: units.sort((a, b) => rank(a) - rank(b)) };
}

/** By node: the groups whose rows ran. */
function groupsOf(document: RunDocument): Map<number, number[]> {
  const ran = new Set(document.log.flatMap((step) => (step[1] === Kind.row && step[2] === Controller.group ? [step[3]] : [])));
  const found = new Map<number, number[]>();
  for (const [kind, number, , node] of document.endpoints ?? [])
    if (kind === "group" && ran.has(number)) found.set(node, [...(found.get(node) ?? []), number]);
  return found;
}

function unitsOf(document: RunDocument, node: number, buses: Map<number, CacheUnit[]>, groups: number[], several: boolean): Unit[] {
  const none = { node, buses: [], controller: null, group: null, home: null };
  const all = [...buses.entries()].map(([bus, caches]) => ({ bus, caches }));
  if (all.length <= 1 && groups.length === 0) {
    const own = all[0]?.bus ?? document.endpoints?.find(([kind, , , at]) => kind === "controller" && at === node)?.[1] ?? node;
    return [{ ...none, key: `node ${node}`, title: `Node ${node}`, buses: all, controller: own, home: node }];
  }
  const where = several ? `, node ${node}` : "";
  return [
    ...all.map((bus) => ({ ...none, key: `bus ${bus.bus}`, title: `Bus ${bus.bus}${where}`, buses: [bus], controller: bus.bus })),
    ...groups.map((group) => ({ ...none, key: `group ${group}`, title: `Group ${group}${where}`, group })),
    { ...none, key: `home ${node}`, title: several ? `Memory of node ${node}` : "Memory", home: node },
  ];
}

/** Lines in the order of how often a row ran for them; those with the program's words come first. */
export function linesByInterest(document: RunDocument): number[] {
  const counts = new Map<number, number>();
  for (const step of document.log)
    if (step[1] === Kind.row) counts.set(Number(step[4]), (counts.get(Number(step[4])) ?? 0) + 1);
  const named = new Set((document.words ?? []).filter((w) => w[2]).map((w) => Math.floor(Number(w[0]) / document.line_bytes)));
  return [...counts.entries()]
    .sort(([a, m], [b, n]) => Number(named.has(b)) - Number(named.has(a)) || n - m || a - b)
    .map(([line]) => line);
}

export function endpointOf(document: RunDocument, index: number): Endpoint | null {
  return document.endpoints?.[index] ?? null;
}
