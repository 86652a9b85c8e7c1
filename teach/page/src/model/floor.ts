// Which parts a machine has and what belongs to what: nodes, their buses, their caches, the CPUs behind each.
import { Kind, type Endpoint, type RunDocument } from "./document";

export interface CacheUnit {
  agent: number;
  name: string;
  cpus: number[];
}
export interface BusUnit {
  bus: number;
  caches: CacheUnit[];
}
export interface NodeUnit {
  node: number;
  buses: BusUnit[];
}
export interface Floor {
  nodes: NodeUnit[];
  /** One bus and its memory; else directories and a network. */
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
  // A node without CPUs has memory all the same.
  for (const [kind, , , node] of document.endpoints ?? [])
    if (kind === "directory" && !nodes.has(node)) nodes.set(node, new Map());
  const single = (document.tables[2]?.states.length ?? 0) === 0;
  return {
    single,
    nodes: [...nodes.entries()]
      .sort(([a], [b]) => a - b)
      .map(([node, buses]) => ({ node, buses: [...buses.entries()].map(([bus, caches]) => ({ bus, caches })) })),
  };
}

/** Lines by how often a row ran for them, those with the program's words first. */
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
