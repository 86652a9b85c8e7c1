import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { History } from "../../src/model/History";
import { Intervals } from "../../src/model/intervals";
import type { RunDocument } from "../../src/model/document";

const kFolder = join(import.meta.dirname, "../documents");
const documents = [
  ...readdirSync(kFolder).map((name) => join(kFolder, name)),
  ...(process.env.LINEBOUNCE_TEACH_DOCUMENTS?.split(":").filter(Boolean) ?? []),
].filter((name) => name.endsWith(".json"));

describe.each(documents)("%s", (file) => {
  const document = JSON.parse(readFileSync(file, "utf8")) as RunDocument;

  it("has the same state at each position, forward and back", () => {
    const history = new History(document);
    const forward = [history.digest()];
    for (let p = 1; p <= history.length; ++p) {
      history.jump(p);
      forward.push(history.digest());
    }
    for (let p = history.length - 1; p >= 0; --p) {
      history.jump(p);
      expect(history.digest(), `position ${p}`).toBe(forward[p]);
    }
    for (let k = 0; k < 50; ++k) {
      const p = (k * 7919) % (history.length + 1);
      history.jump(p);
      expect(history.digest(), `jump to ${p}`).toBe(forward[p]);
    }
    expect(new Set(forward).size, "states differ along the run").toBeGreaterThan(history.length / 10);
  });

  it("begins each row in the state that the row before it left", () => {
    const history = new History(document);
    document.log.forEach((step, i) => {
      history.jump(i);
      if (step[1] === 0) expect(history.state(step[2], step[3], Number(step[4])), `step ${i}`).toBe(step[5]);
    });
  });

  it("shows in a cache what the engine's next access finds there", () => {
    const history = new History(document);
    const lineBytes = BigInt(document.line_bytes);
    document.log.forEach((step, i) => {
      if (step[1] !== 1) return;
      history.jump(i);
      const line = BigInt(step[5]) / lineBytes;
      const found = history.value("cache", step[2], Number(line), Number(BigInt(step[5]) - line * lineBytes), step[6]);
      expect(found, `step ${i}`).toBe(BigInt(step[7]));
    });
  });

  it("stops at the same positions forward and back", () => {
    const history = new History(document);
    for (const stride of ["step", "message", "transaction", "instruction"] as const) {
      const stops = [];
      for (let p = 0; p < history.length; ) stops.push((p = history.stop(stride, 1, p)));
      const back = [];
      for (let p = history.length; p > 0; ) back.push((p = history.stop(stride, -1, p)));
      expect([0, ...stops].slice(0, -1).reverse()).toEqual(back);
    }
  });
});

describe("Intervals", () => {
  it("finds what a search through all finds", () => {
    const from = Int32Array.from({ length: 900 }, (_, k) => k * 3);
    const to = from.map((f, k) => f + ((k * 37) % 700));
    const spans = new Intervals(from, to, 3000);
    for (let p = 0; p <= 3000; p += 7) {
      const all = [...from.keys()].filter((k) => from[k]! <= p && to[k]! >= p);
      expect(spans.at(p)).toEqual(all);
    }
  });
});
