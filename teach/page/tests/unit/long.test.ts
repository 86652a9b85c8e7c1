// Tests a long history: its memory, and how long its steps take. The limit is the issue's: 10^5 steps below 200 MB.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { History } from "../../src/model/History";
import type { RunDocument, Step } from "../../src/model/document";

const kSteps = 100_000;
const kMost = 200 * 2 ** 20;

setFlagsFromString("--expose_gc");
const collect = runInNewContext("gc") as () => void;
function held(): number {
  collect();
  const now = process.memoryUsage();
  return now.heapUsed + now.arrayBuffers;
}

it("holds 10^5 steps of a machine with four nodes in less than 200 MB, document and all", () => {
  const short = JSON.parse(readFileSync(join(import.meta.dirname, "../documents/four_nodes.json"), "utf8")) as RunDocument;
  const before = held();
  const log: Step[] = [];
  const sentences: string[] = [];
  const last = short.log[short.log.length - 1]![0];
  for (let round = 0; log.length < kSteps; ++round)
    short.log.forEach((step, i) => {
      if (log.length >= kSteps) return;
      const later = [...step] as Step;
      later[0] += round * (last + 1);
      if (later[1] === 2 && later[6] >= 0) later[6] += round * (last + 1);
      log.push(later);
      sentences.push(Buffer.from(`${short.sentences![i]} (${round})`).toString()); // a different text for each round
    });
  const document = { ...short, log, sentences };
  const begun = performance.now();
  const history = new History(document);
  const made = performance.now();
  history.jump(history.length);
  const forward = performance.now();
  history.jump(0);
  const back = performance.now();
  const all = held() - before;
  console.log(`${history.length} steps: history ${(history.memory / 2 ** 20).toFixed(1)} MB of typed arrays, all with the document ` +
    `${(all / 2 ** 20).toFixed(1)} MB; made in ${(made - begun).toFixed(0)} ms, forward ${(forward - made).toFixed(0)} ms, ` +
    `back ${(back - forward).toFixed(0)} ms`);
  expect(all).toBeLessThan(kMost);
  expect(back - forward).toBeLessThan(3 * (forward - made) + 200); // a step back costs as much as a step forward
}, 120_000);
