// node pictures.mjs --page FOLDER --out FOLDER [--only TEXT] [--browser NAME]: every view and lesson at three widths, in both
// themes, for a person to look at.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { kSizes, launch, open } from "./browser.mjs";
import { lessonsOf } from "./lessons.mjs";

const { values } = parseArgs({
  options: { page: { type: "string" }, out: { type: "string" }, only: { type: "string" }, browser: { type: "string", default: "chromium" } },
});
mkdirSync(values.out, { recursive: true });
for (const theme of ["light", "dark"]) {
  const browser = await launch(values.browser, { theme });
  for (const size of Object.keys(kSizes)) {
    const { page } = await open(browser, values.page, { size });
    const views = ["lessons", "own", "break", "compare", "test/pre"];
    for (const { slug, parts } of await lessonsOf(page)) {
      const question = parts.findLastIndex(({ kind }) => kind === "question");
      views.push(`lesson/${slug}/${question}/${parts[question].then_step ?? parts[question].step ?? 0}`);
    }
    for (const view of views) {
      if (values.only && !view.includes(values.only)) continue;
      await page.evaluate((to) => (location.hash = to), view);
      await new Promise((done) => setTimeout(done, 1800));
      await page.evaluate(() => document.querySelector("section.now")?.scrollIntoView());
      await page.screenshot({ path: join(values.out, `${view.replaceAll("/", "_")}-${size}-${theme}.png`) });
    }
    await page.close();
  }
  await browser.close();
}
