// What the exam table asks the engine, and how lines of code are wrapped in the picture of the machine.
import { expect, test } from "vitest";
import { hashOf, routeOf } from "../../src/link/route";
import { argumentsOf, commandOf, tableProtocols, type Exercise } from "../../src/table/exercise";
import { codeRows } from "../../src/view/codeRows";

const exercise: Exercise = { accesses: "P1 R x; P2 W x", protocol: "msi", caches: ["", "", ""] };

test("the command has the accesses as one word, and only the options that were chosen", () => {
  expect(commandOf(exercise)).toBe('linebounce steps --accesses "P1 R x; P2 W x" --protocol msi');
  expect(argumentsOf({ ...exercise, caches: ["128", "", "64"] }).slice(5)).toEqual(["--cache-bytes", "128", "--line-bytes", "64"]);
});

test("what a shell would change is quoted", () => {
  expect(commandOf({ ...exercise, accesses: `P1 R $x "it's"` })).toContain(`--accesses 'P1 R $x "it'\\''s"'`);
});

test("a link holds the exercise in words", async () => {
  const hash = await hashOf({ view: "table", exercise }, {});
  expect(hash).toBe("#table/msi/P1%20R%20x%3B%20P2%20W%20x");
  expect(await routeOf(hash, {})).toEqual({ view: "table", exercise });
  const small: Exercise = { accesses: "1 R 50%\n2 W a/b", protocol: "mesi", caches: ["128", "1", ""] };
  expect(await routeOf(await hashOf({ view: "table", exercise: small }, {}), {})).toEqual({ view: "table", exercise: small });
  expect(await routeOf("#table/mesi/P1 R 50%", {})).toEqual({ view: "table", exercise: { ...exercise, accesses: "P1 R 50%", protocol: "mesi" } });
  expect(await routeOf("#table", {})).toEqual({ view: "table", exercise: null });
});

test("the protocols are those of an atomic bus, also one that extends another", () => {
  const files = {
    "models/protocols/msi_snoop.md": "# MSI\n\n| bus | split |\n",
    "models/protocols/mesi_atomic.md": "# MESI on an atomic bus\n\n| bus | atomic |\n",
    "models/protocols/mine_atomic.md": "# Mine\n\n| extends | mesi_atomic |\n",
    "models/protocols/msi_atomic.md": "# MSI on an atomic bus\n\n| bus | atomic |\n",
  };
  expect(tableProtocols(files)).toEqual([{ name: "msi", title: "MSI" }, { name: "mesi", title: "MESI" }, { name: "mine", title: "Mine" }]);
});

test("rows of code hold the whole line, each within its width", () => {
  const line = "local counters = place(structure { name = 'counters', 'a', 'b' }, 'counters')";
  for (const most of [8, 12, 18, 30, 60, 200]) {
    const rows = codeRows(line, most);
    expect(Math.max(...rows.map((row) => row.length))).toBeLessThanOrEqual(most);
    expect(rows.join("").replace(/\s/g, "")).toBe(line.replace(/\s/g, ""));
  }
  expect(codeRows("cpu:store(mine[cpu.id], round)", 30)).toHaveLength(1);
  expect(codeRows("cpu:store(mine[cpu.id], round)", 24)).toEqual(["cpu:store(mine[cpu.id],", "  round)"]);
  expect(codeRows("averyveryverylongname", 10)).toEqual(["averyveryv", "  erylongn", "  ame"]);
});
