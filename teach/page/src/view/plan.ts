// Lays out the machine's parts in the available width, in pixels, and the path of each message.
import type { Floor, Unit } from "../model/floor";

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
  unit: Unit;
  box: Box | null; // null: the machine has one bus, and no frame
  buses: BusPlan[];
  home: Box | null; // memory; also the directory if there is one
  control: Box | null; // the node controller
  group: Box | null; // a cache that several buses share, and its knowledge of their copies
  port: number; // the network's trunk: its y, or its x if it is upright
  upside: boolean; // the home is at the top, the name at the bottom
}
export type Part = "home" | "control" | "group";
const kParts: Part[] = ["control", "home", "group"];
/** The parts that a unit has. */
export const partsOf = (node: NodePlan): Part[] => kParts.filter((part) => node[part] !== null);

export interface Plan {
  width: number;
  height: number;
  nodes: NodePlan[];
  network: Point[] | null; // the network's trunk, as a line
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
const kOff = 13; // distance of a token from a box
const kTitle = 24;
const kNetwork = 56;

export function planOf(floor: Floor, width: number, sizes: Sizes): Plan {
  return floor.single ? planSingle(floor, width, sizes) : planNodes(floor, width, sizes);
}

function planSingle(floor: Floor, width: number, sizes: Sizes): Plan {
  const node = planNode(floor.units[0]!, { x: 0, y: 0, w: width }, sizes, { bare: true, upright: false });
  return { width, height: node.height, nodes: [node.plan], network: null, upright: false };
}

function planNodes(floor: Floor, width: number, sizes: Sizes): Plan {
  const count = floor.units.length;
  const most = Math.max(1, ...floor.units.map((n) => n.buses.reduce((sum, b) => sum + b.caches.length, 0)));
  const wanted = Math.min(most, 2) * (sizes.cellMin + kGap) + 2 * kPad;
  const buses = floor.units.filter((unit) => unit.buses.length > 0).length;
  const best = buses > 0 && buses < count ? Math.max(buses, count - buses) : count === 4 ? 2 : Math.ceil(count / (count > 3 ? 2 : 1));
  const columns = Math.max(1, Math.min(best, Math.floor((width + kGap) / (wanted + kGap))));
  return columns === 1 ? stacked(floor, width, sizes) : facing(floor, width, sizes, columns);
}

/** Units below each other, the network as a line at their left. */
function stacked(floor: Floor, width: number, sizes: Sizes): Plan {
  const trunk = 12;
  let y = 0;
  const nodes: NodePlan[] = [];
  for (const unit of floor.units) {
    const { plan, height } = planNode(unit, { x: 2 * trunk + 4, y, w: width - 2 * trunk - 4 }, sizes, { bare: false, upright: true });
    plan.port = trunk;
    nodes.push(plan);
    y += height + kGap;
  }
  const ys = nodes.flatMap((node) => partsOf(node).map((part) => dropOf(node, part, true)[1].y));
  const network = [{ x: trunk, y: Math.min(...ys) }, { x: trunk, y: Math.max(...ys) }];
  return { width, height: y - kGap, nodes, network, upright: true };
}

/** Rows of units above and below the network. Each unit has its home on the network's side. */
function facing(floor: Floor, width: number, sizes: Sizes, columns: number): Plan {
  const w = (width - (columns - 1) * kGap) / columns;
  const rows: Unit[][] = [];
  for (let first = 0; first < floor.units.length; first += columns) rows.push(floor.units.slice(first, first + columns));
  const nodes: NodePlan[] = [];
  let trunk = 0;
  let bottom = 0;
  rows.forEach((units, row) => {
    const top = row === 0 ? 0 : row === 1 ? bottom + kNetwork : bottom + kGap;
    const left = (width - units.length * w - (units.length - 1) * kGap) / 2;
    const made = units.map((unit, k) => planNode(unit, { x: left + k * (w + kGap), y: top, w }, sizes, { bare: false, upright: false }));
    const height = Math.max(...made.map((one) => one.height));
    for (const one of made) {
      if (row === 0) shift(one.plan, height - one.height);
      else mirror(one.plan, top, one.height);
      nodes.push(one.plan);
    }
    bottom = top + height;
    if (row === 0) trunk = bottom + kNetwork / 2;
  });
  if (rows.length === 1) bottom = trunk + 8;
  for (const plan of nodes) plan.port = trunk;
  const xs = nodes.flatMap((node) => partsOf(node).map((part) => dropOf(node, part, false)[1].x));
  return { width, height: bottom, nodes, network: [{ x: Math.min(...xs), y: trunk }, { x: Math.max(...xs), y: trunk }], upright: false };
}

function planNode(unit: Unit, at: { x: number; y: number; w: number }, sizes: Sizes,
                  how: { bare: boolean; upright: boolean }): { plan: NodePlan; height: number } {
  const { bare, upright } = how;
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
  const plan: NodePlan = { unit, box: null, buses, home: null, control: null, group: null, port: 0, upside: false };
  const present = kParts.filter((part) => unit[part === "control" ? "controller" : part] !== null);
  const beside = present.length === 2 && w >= 420 && !upright;
  const heightOf = (part: Part) => (part === "home" ? sizes.homeHeight : sizes.controlHeight);
  const highest = Math.max(...present.map(heightOf));
  present.forEach((part, k) => {
    const room = bare ? Math.min(w, 420) : beside ? (w - kGap) / 2 : w;
    const h = beside ? highest : heightOf(part);
    plan[part] = { x: bare ? x + (w - room) / 2 : x + (beside ? k * (room + kGap) : 0), y, w: room, h };
    if (!beside || k === present.length - 1) y += h + kGap;
  });
  const height = y - kGap + pad + (bare ? 0 : 6) - at.y;
  if (!bare) plan.box = { x: at.x + 0.5, y: at.y + 0.5, w: at.w - 1, h: height - 1 };
  return { plan, height };
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
  const boxes = partsOf(plan).map((part) => plan[part]!);
  if (plan.box) boxes.push(plan.box);
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

/** Draws the unit upside down: its home at the top, the frame's title at the bottom. */
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

/** Where an endpoint is: its box, and its node and bus. */
export interface Station {
  node: NodePlan;
  bus: BusPlan | null;
  row: number;
  box: Box;
  kind: "cache" | "bus" | Part;
}

const middle = (box: Box): Point => ({ x: box.x + box.w / 2, y: box.y + box.h / 2 });

/** Where a wire at height `y` meets a box. */
const edge = (box: Box, y: number): Point => ({ x: box.x + box.w / 2, y: y > box.y + box.h / 2 ? box.y + box.h : box.y });

/** The way from a part of a unit to the network: where the wire leaves the part, and where it meets the trunk. */
export function dropOf(node: NodePlan, part: Part, upright: boolean): [Point, Point] {
  const box = node[part] ?? node[partsOf(node)[0]!]!;
  if (upright) {
    const y = box.y + box.h / 2;
    return [{ x: box.x, y }, { x: node.port, y }];
  }
  return [edge(box, node.port), { x: box.x + box.w / 2, y: node.port }];
}

/** The wire between a node's controller and its home. */
export function linkOf(node: NodePlan, upright: boolean): Point[] {
  if (!node.control || !node.home) return [];
  if (node.home.x === node.control.x) {
    const x = node.home.x + node.home.w / 2;
    const [above, below] = node.control.y < node.home.y ? [node.control, node.home] : [node.home, node.control];
    const wire = [{ x, y: above.y + above.h }, { x, y: below.y }];
    return above === node.control ? wire : wire.reverse();
  }
  const [a] = dropOf(node, "control", upright);
  const [b] = dropOf(node, "home", upright);
  const y = a.y + Math.sign(node.port - a.y) * 11;
  const aside = 30; // beside the wires to the network
  return [{ x: a.x + aside, y: a.y }, { x: a.x + aside, y }, { x: b.x - aside, y }, { x: b.x - aside, y: b.y }];
}

/** The path from one station to another along the wires. */
export function route(from: Station, to: Station, upright: boolean): Point[] {
  return trimmed(wires(from, to, upright));
}

/** Moves both ends a little off the boxes, so that a message that waits there hides nothing. */
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
  if (one.kind !== "cache" && one.kind !== "bus") return dropOf(one.node, one.kind, upright);
  const drop = dropOf(one.node, "control", upright);
  return [...toBus(one, { ...one, kind: "control" }), ...drop];
}

/** The path from a station to the nearest point of its bus. */
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

/** The point of a path that a message has reached after a share of it. */
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
