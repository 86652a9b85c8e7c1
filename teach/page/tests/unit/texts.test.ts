import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { programOf } from "../../src/edit/clicks";
import { chosenProtocol, newExperiment, setting, shippedProtocols, withProtocol, withSetting } from "../../src/edit/experimentText";
import { mistakesIn } from "../../src/edit/mistakes";
import { changedLines, kindOf, withCell, writtenTables } from "../../src/edit/protocolText";
import { hashOf, routeOf, type Route } from "../../src/link/route";

const folder = new URL("../../../../models/protocols/", import.meta.url);
const text = (name: string) => readFileSync(new URL(`${name}.md`, folder), "utf8");
const msi = text("msi_snoop");

describe("a protocol's text", () => {
  it("has the rows of its tables, with their lines", () => {
    const rows = writtenTables(msi).flatMap((table) => table.rows);
    expect(rows.length).toBe(35);
    for (const row of rows) expect(msi.split("\n")[row.line - 1]).toContain(row.cells[4]);
  });
  it("is changed in one cell of one row, and nowhere else", () => {
    const row = writtenTables(msi).flatMap((table) => table.rows).find(({ cells }) => cells[0] === "S" && cells[1] === "Other_GetM")!;
    const changed = withCell(msi, row.line, 3, "S");
    expect(changedLines(msi, changed)).toEqual([row.line]);
    expect(changed.length).toBe(msi.length);
    expect(withCell(changed, row.line, 3, "I")).toBe(msi);
  });
  it("says what it is a protocol of", () => {
    expect(["msi_snoop", "mesi_directory", "mesi_node", "mesi_group"].map((name) => kindOf(text(name)))).toEqual(["bus", "directory", "node", "group"]);
  });
  it("that extends another is of its kind, and inherits what it doesn't name", () => {
    const files = Object.fromEntries(["mesi_snoop", "mesi_node", "mesi_migratory_snoop", "mesi_node_far"].map((name) => [`models/protocols/${name}.md`, text(name)]));
    const found = Object.fromEntries(shippedProtocols(files).map((one) => [one.name, one]));
    expect(found["mesi_migratory_snoop"]!.kind).toBe("bus");
    expect([found["mesi_node_far"]!.kind, found["mesi_node_far"]!.partners]).toEqual(["node", { bus: "mesi_far_snoop", directory: "mesi_directory" }]);
  });
});

describe("an experiment's text", () => {
  const experiment = newExperiment("p3_xeon_4way", 3);
  const shipped = shippedProtocols(Object.fromEntries(["msi_snoop", "mesi_node"].map((name) => [`models/protocols/${name}.md`, text(name)])));
  it("takes a setting, another value for it, and none", () => {
    const two = withSetting(experiment, "machine.cpus", 2);
    expect(setting(two, "machine.cpus")).toBe("2");
    expect(two.match(/machine\.cpus/g)).toHaveLength(1);
    expect(setting(withSetting(two, "machine.cpus", null), "machine.cpus")).toBeNull();
  });
  it("takes a node's protocol with those that stand beside it, and gives the machine its own back", () => {
    const nodes = withProtocol(experiment, shipped.find(({ kind }) => kind === "node")!);
    expect(["machine.node.protocol", "machine.bus.protocol", "machine.directory.protocol"].map((key) => setting(nodes, key)))
      .toEqual(["mesi_node", "mesi_snoop", "mesi_directory"]);
    const bus = withProtocol(nodes, shipped.find(({ kind }) => kind === "bus")!);
    expect([chosenProtocol(bus), setting(bus, "machine.node.protocol")]).toEqual(["msi_snoop", null]);
    expect(chosenProtocol(withProtocol(bus, null))).toBe("");
  });
});

it("a clicked program gives each operation its turn, and a race one turn for two", () => {
  const program = programOf([
    { cpu: 0, operation: "load", word: "x", value: 0 },
    { cpu: 1, operation: "store", word: "x", value: 7 },
    { cpu: 0, operation: "fetch_add", word: "x", value: 1, together: true },
  ], false);
  expect([...program.matchAll(/wait_for_turn\(cpu, (\d)\)/g)].map((match) => match[1])).toEqual(["0", "1", "1"]);
  expect(program).toContain("cpu:store(words.x, 7)");
});

it("the engine's messages are found at their lines", () => {
  expect(mistakesIn("/work/program.lua:14: CPU 3: the word is nil\n/work/msi.md:3:7: no such state"))
    .toEqual([{ file: "program.lua", line: 14, text: "CPU 3: the word is nil" }, { file: "msi.md", line: 3, text: "no such state" }]);
});

describe("a link", () => {
  const shipped = { "models/protocols/msi_snoop.md": msi };
  const back = async (route: Route) => routeOf(await hashOf(route, shipped), shipped);
  it("holds a lesson's moment, and a program with its position", async () => {
    const lesson: Route = { view: "lesson", slug: "msi-by-hand", part: 3, step: 12 };
    expect(await back(lesson)).toEqual(lesson);
    const own: Route = { view: "own", step: 9, own: { experiment: newExperiment("p3_xeon_4way", 2), program: "-- ß ∀\n", clicks: [], oneLine: true, mode: "text", files: {} } };
    expect(await back(own)).toEqual(own);
  });
  it("holds of a changed protocol only what is changed", async () => {
    const changed = withCell(msi, writtenTables(msi)[0]!.rows[0]!.line, 3, "IM_AD");
    const route: Route = { view: "break", broken: { target: "protocol", path: "models/protocols/msi_snoop.md", text: changed } };
    expect(await back(route)).toEqual(route);
    expect((await hashOf(route, shipped)).length).toBeLessThan(400);
  });
  it("that is damaged leads to the view without it", async () => {
    expect(await routeOf("#own/3/@@@", shipped)).toEqual({ view: "own", step: 3, own: null });
    expect(await routeOf("#nonsense", shipped)).toEqual({ view: "lessons" });
  });
});
