// Where the machine's parts stand in the picture, in pixels of the width that there is, and the way a message takes.
import type { Floor, NodeUnit } from "../model/floor";

export interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}
export interface CachePlan {
  agent: number;
  name: string;
  cpus: number[];
  box: Box; // of the cache
  cpuBoxes: { cpu: number; box: Box }[];
  row: number;
}
export interface BusPlan {
  bus: number;
  segments: { x1: number; x2: number; y: number }[]; // by row
  trunk: { x: number; y1: number; y2: number } | null;
  caches: CachePlan[];
}
export interface NodePlan {
  node: number;
  box: Box | null; // null: the machine has one bus, and no frame
  buses: BusPlan[];
  home: Box; // memory, and the directory where there is one
  control: Box | null; // the node controller
  port: Point; // where the network meets the node
  upside: boolean; // home at the top, the name at the bottom
}
export interface Plan {
  width: number;
  height: number;
  nodes: NodePlan[];
  network: Point[] | null; // the trunk, as a line
  /** The trunk is upright, at the left of the nodes. */
  upright: boolean;
}
export interface Point {
  x: number;
  y: number;
}
export interface Sizes {
  cpuHeight: number;
  cacheHeight: number;
  homeHeight: number;
  controlHeight: number;
  cellMin: number;
}

const kGap = 14;
const kPad = 14;
const kBusRoom = 48;
const kOff = 13; // of a token from a box
const kTitle = 24;
const kNetwork = 56;

export function planOf(floor: Floor, width: number, sizes: Sizes): Plan {
  return floor.single ? planSingle(floor, width, sizes) : planNodes(floor, width, sizes);
}

function planSingle(floor: Floor, width: number, sizes: Sizes): Plan {
  const node = planNode(floor.nodes[0]!, { x: 0, y: 0, w: width }, sizes, true);
  return { width, height: node.height, nodes: [node.plan], network: null, upright: false };
}

function planNodes(floor: Floor, width: number, sizes: Sizes): Plan {
  const count = floor.nodes.length;
  const most = Math.max(1, ...floor.nodes.map((n) => n.buses.reduce((sum, b) => sum + b.caches.length, 0)));
  const wanted = Math.min(most, 2) * (sizes.cellMin + kGap) + 2 * kPad;
  const columns = Math.max(1, Math.min(count, count === 4 ? 2 : Math.ceil(count / (count > 3 ? 2 : 1)), Math.floor(width / wanted)));
  return columns === 1 ? stacked(floor, width, sizes) : facing(floor, width, sizes, columns);
}

/** Nodes below each other, the network as a line at their left. */
function stacked(floor: Floor, width: number, sizes: Sizes): Plan {
  const trunk = 12;
  let y = 0;
  const nodes: NodePlan[] = [];
  for (const unit of floor.nodes) {
    const { plan, height } = planNode(unit, { x: 2 * trunk + 4, y, w: width - 2 * trunk - 4 }, sizes, false, true);
    plan.port = { x: trunk, y: plan.home.y + plan.home.h / 2 };
    nodes.push(plan);
    y += height + kGap;
  }
  const network = [{ x: trunk, y: Math.min(nodes[0]!.port.y, dropOf(nodes[0]!, "control", true)[0]!.y) }, { x: trunk, y: nodes[nodes.length - 1]!.port.y }];
  return { width, height: y - kGap, nodes, network, upright: true };
}

/** Rows of nodes above and below the network, each with its home towards it. */
function facing(floor: Floor, width: number, sizes: Sizes, columns: number): Plan {
  const w = (width - (columns - 1) * kGap) / columns;
  const above = floor.nodes.slice(0, columns);
  const below = floor.nodes.slice(columns);
  const upper = above.map((unit, k) => planNode(unit, { x: k * (w + kGap), y: 0, w }, sizes, false));
  const height = Math.max(...upper.map((one) => one.height));
  for (const one of upper) shift(one.plan, height - one.height);
  const y = height + kNetwork / 2;
  const rows: NodePlan[] = upper.map((one) => one.plan);
  let bottom = height + kNetwork / 2 + 8;
  for (let first = 0; first < below.length; first += columns) {
    const top = first === 0 ? height + kNetwork : bottom + kGap;
    const lower = below.slice(first, first + columns).map((unit, k) => {
      const one = planNode(unit, { x: k * (w + kGap), y: top, w }, sizes, false);
      mirror(one.plan, top, one.height);
      return one;
    });
    bottom = top + Math.max(...lower.map((one) => one.height));
    rows.push(...lower.map((one) => one.plan));
  }
  for (const plan of rows) plan.port = { x: plan.home.x + plan.home.w / 2, y };
  const xs = rows.flatMap((plan) => [plan.port.x, dropOf(plan, "control", false)[0]!.x]);
  return { width, height: bottom, nodes: rows, network: [{ x: Math.min(...xs), y }, { x: Math.max(...xs), y }], upright: false };
}

function planNode(unit: NodeUnit, at: { x: number; y: number; w: number }, sizes: Sizes, bare: boolean,
                  upright = false): { plan: NodePlan; height: number } {
  const pad = bare ? 2 : kPad;
  const x = at.x + pad;
  const w = at.w - 2 * pad;
  let y = at.y + (bare ? 2 : kTitle + 6);
  const buses: BusPlan[] = [];
  for (const bus of unit.buses) {
    const made = planBus(bus.bus, bus.caches, x, y, w, sizes);
    buses.push(made.plan);
    y = made.bottom;
  }
  const room = Math.min(w, 420);
  let control: Box | null = null;
  if (!bare && sizes.controlHeight > 0) {
    const half = w >= 420 && !upright;
    control = half
      ? { x, y, w: (w - kGap) / 2, h: Math.max(sizes.controlHeight, sizes.homeHeight) }
      : { x, y, w, h: sizes.controlHeight };
    if (!half) y += sizes.controlHeight + kGap;
  }
  const home: Box = control && w >= 420 && !upright
    ? { x: x + (w + kGap) / 2, y, w: (w - kGap) / 2, h: Math.max(sizes.controlHeight, sizes.homeHeight) }
    : { x: bare ? x + (w - room) / 2 : x, y, w: bare ? room : w, h: sizes.homeHeight };
  const height = home.y + home.h + pad + (bare ? 0 : 6) - at.y;
  const box = bare ? null : { x: at.x + 0.5, y: at.y + 0.5, w: at.w - 1, h: height - 1 };
  return { plan: { node: unit.node, box, buses, home, control, port: { x: 0, y: 0 }, upside: false }, height };
}

function planBus(bus: number, caches: BusPlan["caches"] | { agent: number; name: string; cpus: number[] }[], x: number, y: number,
                 w: number, sizes: Sizes): { plan: BusPlan; bottom: number } {
  const count = Math.max(1, caches.length);
  let columns = Math.max(1, Math.min(count, Math.floor((w + kGap) / (sizes.cellMin + kGap))));
  columns = Math.ceil(count / Math.ceil(count / columns)); // rows of the same length
  const rows = Math.ceil(count / columns);
  const trunkRoom = rows > 1 ? 14 : 0;
  const cell = Math.min(260, (w - trunkRoom - (columns - 1) * kGap) / columns);
  const used = columns * cell + (columns - 1) * kGap;
  const left = x + trunkRoom + (w - trunkRoom - used) / 2;
  const plans: CachePlan[] = [];
  const segments: BusPlan["segments"] = [];
  for (let row = 0; row < rows; ++row) {
    const here = caches.slice(row * columns, (row + 1) * columns);
    const most = Math.max(1, ...here.map((c) => Math.ceil(c.cpus.length / 2)));
    const cpuRoom = most * sizes.cpuHeight + (most - 1) * 6;
    here.forEach((cache, k) => {
      const cx = left + k * (cell + kGap);
      const cpuBoxes = cache.cpus.map((cpu, n) => {
        const pair = cache.cpus.length > 1;
        const cw = pair ? (cell - 6) / 2 : cell;
        return { cpu, box: { x: cx + (pair ? (n % 2) * (cw + 6) : 0), y: y + Math.floor(n / 2) * (sizes.cpuHeight + 6), w: cw, h: sizes.cpuHeight } };
      });
      const box = { x: cx, y: y + cpuRoom + 10, w: cell, h: sizes.cacheHeight };
      plans.push({ agent: cache.agent, name: cache.name, cpus: cache.cpus, box, cpuBoxes, row });
    });
    const busY = y + cpuRoom + 10 + sizes.cacheHeight + kBusRoom / 2 + 2;
    segments.push({ x1: rows > 1 ? x + 4 : left, x2: left + used, y: busY });
    y = busY + kBusRoom / 2 + (row + 1 < rows ? 2 : 0);
  }
  const trunk = rows > 1 ? { x: x + 4, y1: segments[0]!.y, y2: segments[rows - 1]!.y } : null;
  return { plan: { bus, segments, trunk, caches: plans }, bottom: y + 2 };
}

function boxesOf(plan: NodePlan): Box[] {
  const boxes = [plan.home];
  if (plan.box) boxes.push(plan.box);
  if (plan.control) boxes.push(plan.control);
  for (const bus of plan.buses)
    for (const cache of bus.caches) boxes.push(cache.box, ...cache.cpuBoxes.map((one) => one.box));
  return boxes;
}

function shift(plan: NodePlan, dy: number): void {
  for (const box of boxesOf(plan)) box.y += dy;
  for (const bus of plan.buses) {
    for (const segment of bus.segments) segment.y += dy;
    if (bus.trunk) {
      bus.trunk.y1 += dy;
      bus.trunk.y2 += dy;
    }
  }
}

/** Upside down: the home at the top, the frame's title at the bottom. */
function mirror(plan: NodePlan, top: number, height: number): void {
  plan.upside = true;
  const flip = (y: number) => top + height - (y - top);
  for (const box of boxesOf(plan)) {
    if (box === plan.box) continue;
    box.y = flip(box.y + box.h);
  }
  for (const bus of plan.buses) {
    for (const segment of bus.segments) segment.y = flip(segment.y);
    if (bus.trunk) [bus.trunk.y1, bus.trunk.y2] = [flip(bus.trunk.y2), flip(bus.trunk.y1)];
  }
}

/** Where an endpoint stands: its box, and its node and bus. */
export interface Station {
  node: NodePlan;
  bus: BusPlan | null;
  row: number;
  box: Box;
  kind: "cache" | "home" | "control" | "bus";
}

const middle = (box: Box): Point => ({ x: box.x + box.w / 2, y: box.y + box.h / 2 });

/** Where a wire at height `y` meets a box. */
const edge = (box: Box, y: number): Point => ({ x: box.x + box.w / 2, y: y > box.y + box.h / 2 ? box.y + box.h : box.y });

/** From a part of a node to the network: where the wire leaves it, and where it meets the trunk. */
export function dropOf(node: NodePlan, part: "home" | "control", upright: boolean): [Point, Point] {
  const box = part === "control" ? (node.control ?? node.home) : node.home;
  if (upright) {
    const y = box.y + box.h / 2;
    return [{ x: box.x, y }, { x: node.port.x, y }];
  }
  return [edge(box, node.port.y), { x: box.x + box.w / 2, y: node.port.y }];
}

/** The wire between a node's controller and its home. */
export function linkOf(node: NodePlan, upright: boolean): Point[] {
  if (!node.control) return [];
  if (upright) {
    const x = node.home.x + node.home.w / 2;
    return [{ x, y: node.control.y + node.control.h }, { x, y: node.home.y }];
  }
  const [a] = dropOf(node, "control", false);
  const [b] = dropOf(node, "home", false);
  const y = a.y + Math.sign(node.port.y - a.y) * 11;
  const aside = 30; // beside the wires to the network
  return [{ x: a.x + aside, y: a.y }, { x: a.x + aside, y }, { x: b.x - aside, y }, { x: b.x - aside, y: b.y }];
}

/** From one station to another along the wires. */
export function route(from: Station, to: Station, upright: boolean): Point[] {
  return trimmed(wires(from, to, upright));
}

/** Both ends a little off the boxes, so that what waits there hides nothing. */
function trimmed(points: Point[]): Point[] {
  const towards = (a: Point, b: Point): Point => {
    const long = Math.hypot(b.x - a.x, b.y - a.y);
    const share = Math.min(kOff, long * 0.45) / (long || 1);
    return { x: a.x + (b.x - a.x) * share, y: a.y + (b.y - a.y) * share };
  };
  if (points.length < 2) return points;
  const last = points.length - 1;
  const ends = { first: towards(points[0]!, points[1]!), last: towards(points[last]!, points[last - 1]!) };
  return points.map((point, k) => (k === 0 ? ends.first : k === last ? ends.last : point));
}

function wires(from: Station, to: Station, upright: boolean): Point[] {
  if (from.node === to.node) {
    if (from.kind === "control" && to.kind === "home") return linkOf(from.node, upright);
    if (from.kind === "home" && to.kind === "control") return linkOf(from.node, upright).reverse();
    return tidy([...toBus(from, to), ...toBus(to, from).reverse()]);
  }
  return tidy([...toNetwork(from, upright), ...toNetwork(to, upright).reverse()]);
}

function toNetwork(one: Station, upright: boolean): Point[] {
  const part = one.kind === "home" ? "home" : "control";
  const drop = dropOf(one.node, part, upright);
  if (one.kind !== "cache") return drop;
  return [...toBus(one, { ...one, kind: "control", box: one.node.control ?? one.node.home }), ...drop];
}

/** From a station to the point of its bus that faces the other. */
function toBus(one: Station, other: Station): Point[] {
  const bus = one.bus ?? other.bus;
  if (!bus || bus.segments.length === 0) return [middle(one.box)];
  const last = bus.segments[bus.segments.length - 1]!;
  const segment = one.kind === "cache" || one.kind === "bus" ? bus.segments[one.row]! : last;
  const points: Point[] = [];
  if (one.kind === "bus") points.push({ x: (segment.x1 + segment.x2) / 2, y: segment.y });
  else points.push(edge(one.box, segment.y), { x: middle(one.box).x, y: segment.y });
  const otherRow = other.kind === "cache" ? other.row : other.kind === "bus" ? one.row : bus.segments.length - 1;
  const row = bus.segments.indexOf(segment);
  if (bus.trunk && row !== otherRow) points.push({ x: bus.trunk.x, y: segment.y });
  return points;
}

function tidy(points: Point[]): Point[] {
  return points.filter((p, k) => k === 0 || Math.hypot(p.x - points[k - 1]!.x, p.y - points[k - 1]!.y) > 0.5);
}

/** A point of a way, by the share of it that is done. */
export function along(points: Point[], share: number): Point {
  let total = 0;
  for (let k = 1; k < points.length; ++k) total += Math.hypot(points[k]!.x - points[k - 1]!.x, points[k]!.y - points[k - 1]!.y);
  let rest = Math.max(0, Math.min(1, share)) * total;
  for (let k = 1; k < points.length; ++k) {
    const a = points[k - 1]!;
    const b = points[k]!;
    const part = Math.hypot(b.x - a.x, b.y - a.y);
    if (rest <= part && part > 0) return { x: a.x + ((b.x - a.x) * rest) / part, y: a.y + ((b.y - a.y) * rest) / part };
    rest -= part;
  }
  return points[points.length - 1] ?? { x: 0, y: 0 };
}
