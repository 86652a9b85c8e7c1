// node run.mjs SUITE --browser chromium|firefox --page FOLDER [--axe FILE] [--part K/N] [--expected FILE] [--dark]
import { parseArgs } from "node:util";
import { launch } from "./browser.mjs";
import { kSuites } from "./suites.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { browser: { type: "string" }, page: { type: "string" }, axe: { type: "string" }, part: { type: "string" }, expected: { type: "string" }, dark: { type: "boolean" } },
});
let failed = 0;
for (const suite of positionals) {
  const browser = await launch(values.browser, { theme: values.dark ? "dark" : "light" });
  const began = Date.now();
  try {
    await kSuites[suite]({ browser, name: values.browser, folder: values.page, axe: values.axe, dark: values.dark, expected: values.expected, part: values.part?.split("/").map(Number) });
    console.log(`passed ${suite} in ${values.browser}, ${((Date.now() - began) / 1000).toFixed(1)} s`);
  } catch (error) {
    failed = 1;
    console.log(`FAILED ${suite} in ${values.browser}: ${error.message}`);
  } finally {
    await browser.close().catch(() => {});
  }
}
process.exit(failed);
