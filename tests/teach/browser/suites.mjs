// What the page must do in every browser. A suite gets {browser, name, folder, axe}, and throws an error if something is
// wrong.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { check, clean, equal, kSizes, open, press, until } from "./browser.mjs";
import { fill, lessonsOf, playLesson, rightAnswer, testsOf, wrongAnswer } from "./lessons.mjs";

const position = (page) => page.evaluate(() => window.linebounce.stage.player?.position ?? -1);
const running = (page) => until(page, "nothing runs", () => window.linebounce.stage.player !== null && !window.linebounce.stage.busy);

/** --part K/N plays a part of the lessons, so that processes can share the work. */
async function lessons({ browser, name, folder, part = [0, 1] }) {
  const opened = await open(browser, folder);
  const all = await lessonsOf(opened.page);
  check(all.length >= 10, `${all.length} lessons`);
  const chosen = all.filter((_, index) => index % part[1] === part[0]);
  const kinds = (some) => [...new Set(some.flatMap(({ parts }) => parts).map((one) => `${one.kind} ${one.type ?? one.target ?? ""}`))].sort();
  if (name === "firefox") equal(kinds(chosen), kinds(all), "kinds of questions and tasks in the lessons that Firefox plays");
  for (const lesson of chosen) {
    await playLesson(opened.page, lesson);
    console.log(`  ${lesson.slug}`);
  }
  clean(opened);
}

/** Goes through every position of every lesson's machines, forward and then back: both ways must give the same states. */
async function back_stepping({ browser, folder }) {
  const opened = await open(browser, folder);
  const scenes = (await lessonsOf(opened.page)).flatMap(({ slug, parts }) =>
    parts.filter(({ kind }) => kind === "scene").map(({ name, experiment, program, files }) => [`${slug} ${name}`, { experiment, program, files }]));
  check(scenes.length >= 10, `${scenes.length} scenes`);
  for (const [name, scene] of scenes) {
    const found = await opened.page.evaluate(async (shown) => {
      const { stage } = window.linebounce;
      if (!(await stage.show(shown, 0))) return { error: stage.error };
      const { history } = stage.player;
      const digests = [];
      for (let at = 0; at <= history.length; ++at) {
        history.jump(at);
        digests.push(history.digest());
      }
      let differ = -1;
      for (let at = history.length; at >= 0; --at) {
        history.jump(at);
        if (history.digest() !== digests[at]) differ = at;
      }
      return { length: history.length, different: new Set(digests).size, differ };
    }, scene);
    check(!found.error, `${name}: ${found.error}`);
    check(found.length > 0 && found.different > found.length / 3, `${name}: ${found.different} different states in ${found.length} steps`);
    equal(found.differ, -1, `${name}: going back shows another state at position`);
  }
  clean(opened);
}

/** Hands in both tests, with all answers right and with all wrong. Checks the gain, and the file for the teacher. */
async function tests({ browser, folder }) {
  const opened = await open(browser, folder);
  const { page } = opened;
  const all = await testsOf(page);
  for (const which of ["pre", "post"]) {
    const questions = all[which];
    equal(questions.length, 10, `questions of the test ${which}`);
    await page.evaluate((to) => (location.hash = `test/${to}`), which);
    await page.waitForSelector(`[data-test-view=${which}] form`);
    await press(page, "form button[type=submit]");
    await until(page, "open questions are not named", () => /10 questions are/.test(document.querySelector("[role=alert]")?.innerText ?? ""));
    for (const question of questions)
      await fill(page, `fieldset[data-question="${question.id}"]`, which === "pre" ? wrongAnswer(question) : rightAnswer(question));
    await press(page, "form button[type=submit]");
    await page.waitForSelector("[data-score]");
    const score = Number(await page.$eval("[data-score]", (said) => said.dataset.score));
    const full = questions.reduce((sum, { points }) => sum + (points ?? 1), 0);
    equal(score, which === "pre" ? 0 : full, `score of the test ${which}`);
  }
  check(/100 %/.test(await page.$eval("[data-score]", (said) => said.innerText)), "the gain is not told");
  const file = JSON.parse(await page.evaluate(() => window.linebounce.answersFile()));
  equal([file.format, file.tests.pre.score, Object.keys(file.tests.post.answers).length], ["linebounce.answers/1", 0, 10], "what a teacher collects");
  clean(opened);
}

/** Changes a cell of a protocol's table in the row of a state and an event. */
async function setCells(page, state, event, cells) {
  const line = await page.evaluate((inState, onEvent) => [...document.querySelectorAll("tr[data-line]")]
    .find((row) => row.cells[0].innerText.trim() === inState && row.cells[1].innerText.trim() === onEvent)?.dataset.line, state, event);
  check(line, `no row for ${state} on ${event}`);
  for (const [column, value] of Object.entries(cells)) {
    await press(page, `[data-cell="${line}.${column}"]`);
    await page.waitForSelector("input.cell");
    await page.keyboard.type(value);
    await page.keyboard.press("Enter");
  }
  return Number(line);
}

async function verdict(page) {
  await press(page, "[data-check]");
  await until(page, "the checker says nothing", () => document.querySelector("[data-check]:not([disabled])") && document.querySelector("[data-workbench] [data-verdict]"));
  return page.$eval("[data-workbench] [data-verdict]", (said) => said.dataset.verdict);
}

/** Plays a counterexample to its end and back; returns its sentences. */
async function playCounterexample(page) {
  const said = [];
  const length = Number((await page.$eval("[data-ce=at]", (at) => at.innerText)).split("/")[1]);
  for (let step = 1; step <= length; ++step) {
    await press(page, "[data-ce=forward]");
    said.push(await page.$eval("[data-counterexample] .sentence", (sentence) => sentence.innerText));
  }
  check(await page.$eval("[data-ce=forward]", (button) => button.disabled), "it goes on behind the end");
  for (let step = length; step > 0; --step) await press(page, "[data-ce=back]");
  return said;
}

/** Breaks a protocol in the page: the mistake must be found and played. Repairs it: it must be proved. Nonsense must be
 *  refused with its line. */
async function break_protocol({ browser, folder }) {
  const opened = await open(browser, folder, { hash: "break" });
  const { page } = opened;
  equal(await verdict(page), "holds", "the protocol as it came");
  const line = await setCells(page, "S", "Other_GetM", { do: "-", then: "=" });
  equal(await verdict(page), "broken", "an invalidation that is ignored");
  equal(await page.$eval("[data-counterexample]", (found) => found.dataset.counterexample), "swmr", "the promise");
  const said = await playCounterexample(page);
  check(said.length >= 4 && said.some((sentence) => /GetM of cache 1 is ordered/.test(sentence)), said.join("\n"));
  check(said.some((sentence) => /goes from I to/.test(sentence)), `states are not told: ${said.join("\n")}`);
  await press(page, "[data-ce=forward]");
  check((await page.$$("tr.now[data-line]")).length > 0, "the rows that ran are not marked");
  const link = await until(page, "the link does not hold the change", () => location.hash.length > 40 && location.hash).then((hash) => hash.jsonValue());
  const again = await open(browser, folder, { hash: link.slice(1) });
  equal(await again.page.$eval(`tr[data-line="${line}"]`, (row) => row.cells[3].innerText.trim()), "=", "the change behind a link");
  clean(again);
  await again.page.close();
  await setCells(page, "S", "Other_GetM", { do: "dance", then: "I" });
  equal(await verdict(page), "refused", "an action that does not exist");
  check((await page.$$("tr.wrong")).length === 1, "the refused row is not marked");
  await setCells(page, "S", "Other_GetM", { do: "free" });
  equal(await verdict(page), "holds", "the row as it was");
  // Does the same with the other kind of checker, for a directory on a network.
  await page.select("[data-choose]", "models/protocols/mesi_directory.md");
  await until(page, "the directory is not shown", () => document.querySelector("[data-workbench]")?.innerText.includes("Fwd"));
  equal(await verdict(page), "holds", "the directory as it came");
  clean(opened);
}

/** Checks a lock without its fence. */
async function break_lock({ browser, folder }) {
  const opened = await open(browser, folder, { hash: "break" });
  const { page } = opened;
  await page.select("[data-choose]", "programs/locks/peterson.lua");
  await page.waitForSelector("[data-workbench=lock] .cm-content");
  equal(await verdict(page), "holds", "Peterson's lock as it came");
  await deleteLine(page, "cpu:fence()");
  equal(await verdict(page), "broken", "Peterson's lock without its fence");
  const said = await playCounterexample(page);
  check(said.some((sentence) => /leaves the store buffer/.test(sentence)), said.join("\n"));
  await press(page, "[data-ce=forward]");
  check(await page.$eval("[data-counterexample=lock]", (found) => /lock\.wants\[0\] = 1/.test(found.querySelector("ol").innerText)), "the store buffer is not shown");
  clean(opened);
}

async function deleteLine(page, text) {
  await page.focus(".cm-content");
  await page.evaluate((wanted) => {
    const line = [...document.querySelectorAll(".cm-line")].find((one) => one.innerText.includes(wanted));
    const range = document.createRange();
    range.selectNodeContents(line);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
  }, text);
  await new Promise((done) => setTimeout(done, 100));
  await page.keyboard.press("Delete");
  await until(page, `the line ${text} stays`, (wanted) => ![...document.querySelectorAll(".cm-line")].some((line) => line.innerText.includes(wanted)), text);
}

/** Makes programs by clicking and as text. Checks that an error names its line, that a link restores everything, and the
 *  files for the command line. */
async function own_program({ browser, folder }) {
  const opened = await open(browser, folder, { hash: "own" });
  const { page } = opened;
  await running(page);
  await press(page, '[data-click="0.load.x"]');
  await running(page);
  await press(page, '[data-click="2.store.x"]');
  await until(page, "the clicked program does not run to its end", () => {
    const { player } = window.linebounce.stage;
    return player && player.run.scene.program.includes("cpu.id == 2") && player.position === player.length;
  });
  const state = (cpu) => page.evaluate((agent) => {
    const { player } = window.linebounce.stage;
    const word = player.names.words.find((one) => /x$/.test(one.name));
    return player.document.tables[0].states[player.history.state(0, agent, word.line)];
  }, cpu);
  equal([await state(0), await state(2)], ["I", "M"], "states after CPU 0 has read x and CPU 2 has written it");
  await page.select("[data-protocol]", "dragon_snoop");
  await running(page);
  await until(page, "Dragon does not keep the copy", () => {
    const { player } = window.linebounce.stage;
    return player.document.tables[0].protocol === "dragon_snoop";
  });
  await page.evaluate(() => window.linebounce.stage.player.jump(7));
  const link = await until(page, "the link does not tell the position", () => /^#own\/7\/./.test(location.hash) && location.hash).then((hash) => hash.jsonValue());
  const again = await open(browser, folder, { hash: link.slice(1) });
  await running(again.page);
  await until(again.page, "the link leads elsewhere", () => window.linebounce.stage.player.position === 7);
  equal(await again.page.evaluate(() => window.linebounce.stage.player.document.tables[0].protocol), "dragon_snoop", "the protocol behind a link");
  clean(again);
  await again.page.close();

  await press(page, "[data-mode=text]");
  await page.waitForSelector(".cm-content");
  await page.focus(".cm-content");
  await page.keyboard.down("Control");
  await page.keyboard.press("Home");
  await page.keyboard.up("Control");
  await page.keyboard.type("this is no Lua\n");
  await press(page, "[data-run]");
  await until(page, "the engine's error is not shown", () => /program\.lua:1/.test(document.querySelector("[data-error]")?.innerText ?? ""));
  await until(page, "the error is not marked at its line", () => document.querySelector(".cm-lint-marker-error"));
  clean(opened);
}

/** Shows two protocols side by side, at the same time. */
async function compare({ browser, folder }) {
  const opened = await open(browser, folder, { hash: "compare" });
  const { page } = opened;
  await until(page, "two machines are not shown", () => document.querySelectorAll('svg[data-export="machine"]').length === 2);
  const figures = () => page.$$eval("[data-costs] tbody tr", (rows) => Object.fromEntries(rows.map((row) => [row.cells[0].innerText, [...row.cells].slice(1).map((cell) => cell.innerText)])));
  const { messages } = await figures();
  const number = (text) => Number(text.replaceAll(",", ""));
  equal([messages[0], messages[2]], ["0", "0"], "messages before the first step");
  check(number(messages[1]) > number(messages[3]), `MSI needs more messages than MESI for what one CPU reads and then writes: ${messages}`);
  await page.focus("[data-ce=forward]");
  await page.keyboard.press("End");
  await until(page, "both do not come to their end", () => /^(\d+) \/ \1$/.test(document.querySelector("[data-ce=at]").innerText));
  const end = await figures();
  equal([end.messages[0], end.messages[2]], [end.messages[1], end.messages[3]], "messages of the whole run");
  clean(opened);
}

/** Makes an SVG, a GIF and files, and checks what they contain. */
async function exported({ browser, folder }) {
  const opened = await open(browser, folder, { hash: "own" });
  const { page } = opened;
  await running(page);
  await page.evaluate(() => {
    window.saved = [];
    const make = URL.createObjectURL;
    URL.createObjectURL = (blob) => {
      if (blob instanceof Blob && !/javascript/.test(blob.type)) window.saved.push(blob);
      return make.call(URL, blob);
    };
    HTMLAnchorElement.prototype.click = function () {}; // the page must not write a file here
    document.querySelector("[data-export]").open = true;
  });
  const saved = async (count) => {
    await until(page, `${count} files are not made`, (wanted) => window.saved.length >= wanted, count);
    return page.evaluate(() => Promise.all(window.saved.map(async (blob) => [...new Uint8Array(await blob.slice(0, 300000).arrayBuffer())])));
  };
  await press(page, "[data-export-svg]");
  const [svg] = await saved(1);
  const text = Buffer.from(svg).toString("utf8");
  check(text.startsWith("<svg") && /CPU 0/.test(text) && !/var\(--/.test(text), `not a picture of its own: ${text.slice(0, 200)}`);
  await press(page, "[data-export-files]");
  const files = (await saved(3)).slice(1).map((bytes) => Buffer.from(bytes).toString("utf8"));
  check(/^name\s*=/m.test(files[0]) && /function run/.test(files[1]), "the files for the command line");
  await page.evaluate(() => window.linebounce.stage.player.jump(window.linebounce.stage.player.length - 3));
  await press(page, "[data-export-gif]");
  const gif = Buffer.from((await saved(4))[3]);
  equal(gif.subarray(0, 6).toString(), "GIF89a", "a GIF's first bytes");
  check(gif.length > 2000, `a GIF of ${gif.length} bytes`);
  clean(opened);
}

/** Uses only the keyboard: goes to a lesson, through its first question, through steps, and out of the editor. */
async function keyboard({ browser, folder }) {
  const opened = await open(browser, folder);
  const { page } = opened;
  const tabTo = async (selector, most = 80) => {
    for (let k = 0; k < most; ++k) {
      if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) ?? false, selector)) return;
      await page.keyboard.press("Tab");
    }
    throw new Error(`Tab does not lead to ${selector}`);
  };
  await tabTo("[data-open]");
  await page.keyboard.press("Enter");
  await page.waitForSelector("[data-lesson]");
  const first = (await lessonsOf(page))[0];
  for (let guard = 0; guard < first.parts.length; ++guard) {
    if (await page.$("form[data-question][data-verdict=open]")) break;
    await tabTo("[data-continue]");
    const before = await page.$eval("[data-lesson]", (lesson) => Number(lesson.dataset.at));
    await page.keyboard.press("Enter");
    await until(page, "Enter does not go on", (at) => Number(document.querySelector("[data-lesson]").dataset.at) > at &&
      document.activeElement?.dataset.part === document.querySelector("[data-lesson]").dataset.at, before);
  }
  await tabTo("form[data-question] input");
  await page.keyboard.press(" ");
  await tabTo("form[data-question] button[type=submit]");
  await page.keyboard.press("Enter");
  await until(page, "an answer by the keyboard is not taken", () => document.querySelector("form[data-question]").dataset.verdict !== "open");
  await running(page);
  // Until the answer is known, nothing may step beyond the question's position.
  if (await page.$("form[data-question][data-verdict=wrong]")) {
    await tabTo("form[data-question] button[type=button]");
    await page.keyboard.press("Enter");
  }
  const { then_step } = first.parts.find(({ kind }) => kind === "question");
  await until(page, "the machine does not show the answer", (step) => window.linebounce.stage.player.position === step, then_step);
  await page.evaluate(() => document.getElementById("main").focus());
  await page.keyboard.press("Home");
  equal(await position(page), 0, "Home");
  await page.keyboard.press("ArrowRight");
  check((await position(page)) > 0, "the right arrow does not step");
  const said = await page.evaluate(() => [...document.querySelectorAll("[aria-live]")].map((live) => live.innerText).join(" ").trim());
  check(said.length > 10, "no sentence for a screen reader");
  await page.keyboard.press("ArrowLeft");
  equal(await position(page), 0, "the left arrow");
  await page.evaluate(() => (location.hash = "own"));
  await page.waitForSelector("[data-mode=text]");
  await press(page, "[data-mode=text]");
  await page.focus(".cm-content");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Tab");
  check(await page.evaluate(() => !document.activeElement?.closest(".cm-editor") ), "the editor holds the keyboard");
  clean(opened);
}

/** axe-core must find nothing serious in any view, nor at the end of any lesson, where all of the lesson is shown.
 *  The dark theme differs only in colours, so one lesson is enough for it. */
async function accessible({ browser, folder, axe, dark }) {
  const rules = readFileSync(axe, "utf8");
  const views = ["lessons", "table", "own", "break", "compare", "test/pre", "test/post"];
  const opened = await open(browser, folder);
  const ends = (await lessonsOf(opened.page)).map(({ slug, parts }) => `lesson/${slug}/${parts.length - 1}`);
  views.push(...(dark ? ends.slice(0, 1) : ends));
  await opened.page.evaluate(rules);
  for (const view of views) {
    await opened.page.evaluate((to) => (location.hash = to), view);
    await new Promise((done) => setTimeout(done, 900));
    // The page around a lesson is always the same, so it is checked once.
    const place = ends.indexOf(view) > 0 ? "[data-lesson]" : "html";
    const found = await opened.page.evaluate(async (within) => {
      const { violations } = await window.axe.run(document.querySelector(within), { resultTypes: ["violations"], preload: false });
      return violations.filter(({ impact }) => impact === "serious" || impact === "critical")
        .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ target }) => target.join(" ")).join("; ")}`);
    }, place);
    equal(found, [], `axe-core on ${view}`);
  }
  clean(opened);
}

/** At a phone's width nothing may be wider than the screen. */
async function narrow({ browser, folder }) {
  const opened = await open(browser, folder, { size: "phone" });
  const { page } = opened;
  const slugs = (await lessonsOf(page)).map(({ slug }) => slug);
  for (const view of ["lessons", "table", "own", "break", "compare", "test/pre", ...slugs.map((slug) => `lesson/${slug}/5`)]) {
    await page.evaluate((to) => (location.hash = to), view);
    await new Promise((done) => setTimeout(done, 350));
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    check(wide <= 1, `${view} is ${wide} pixels wider than a phone of ${kSizes.phone[0]}`);
  }
  clean(opened);
}

/** On paper every lesson is whole: its questions and its code are there, nothing is cut off, and there is nothing to press. */
async function printed({ browser, folder }) {
  const opened = await open(browser, folder);
  const { page } = opened;
  await page.setViewport({ width: 794, height: 1123 });
  await page.emulateMediaType("print");
  for (const { slug, parts } of await lessonsOf(page)) {
    await page.evaluate((to) => (location.hash = to), `lesson/${slug}/${parts.length - 1}`);
    await until(page, `${slug} is not shown`, (wanted) => document.querySelectorAll("form[data-question]").length === wanted,
      parts.filter(({ kind }) => kind === "question").length);
    const found = await page.evaluate(() => {
      const shown = (one) => one.checkVisibility();
      return {
        wide: document.documentElement.scrollWidth > innerWidth + 1,
        titled: shown(document.querySelector("[data-lesson] h2")),
        pressed: [...document.querySelectorAll("button")].filter(shown).length,
        cut: [...document.querySelectorAll("pre, table, .cm-scroller")].filter(shown)
          .filter((one) => one.getBoundingClientRect().right > innerWidth + 1 || one.scrollWidth > one.clientWidth + 1 && one.tagName === "PRE").length,
        hidden: [...document.querySelectorAll("form[data-question]")].filter((one) => !shown(one)).length,
      };
    });
    equal(found, { wide: false, titled: true, pressed: 0, cut: 0, hidden: 0 }, `${slug} on paper`);
  }
  clean(opened);
}

/** The storage refuses everything, as in some browsers if the page is a file. A lesson must still begin, and the theme must
 *  change. */
async function no_storage({ browser, folder }) {
  const page = await browser.newPage();
  await page.evaluateOnNewDocument(() => {
    Object.defineProperty(window, "localStorage", { get() { throw new DOMException("refused", "SecurityError"); } });
  });
  const problems = [];
  page.on("pageerror", (error) => problems.push(error.message));
  await page.goto(`${pathToFileURL(folder).href}/index.html`);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "yes", { timeout: 60_000 });
  await press(page, "[data-theme-button]");
  await press(page, "[data-open]");
  await press(page, "[data-continue]");
  await until(page, "a lesson does not go on without storage", () => Number(document.querySelector("[data-lesson]")?.dataset.at) > 0);
  equal(problems, [], "errors without storage");
}

const shownCells = (page) => page.$$eval("[data-table] tr", (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
const kWide = [1400, 900];

/** Types accesses as a reader does: over the old ones, by keyboard. */
async function typeAccesses(page, accesses) {
  await page.focus("[data-accesses]");
  await page.keyboard.down("Control");
  await page.keyboard.press("a");
  await page.keyboard.up("Control");
  await page.keyboard.type(accesses);
}
const shows = (page, cells, what) => until(page, what, (wanted) =>
  JSON.stringify([...document.querySelectorAll("[data-table] tr")].map((row) => [...row.cells].map((cell) => cell.textContent))) === wanted, JSON.stringify(cells));

/** Nothing of the table is outside its frame or the screen. */
async function nothingCut(page, what) {
  const found = await page.evaluate(() => {
    const frame = document.querySelector("[data-frame]");
    const cut = [...frame.querySelectorAll("td")].filter((cell) => {
      const { left, right } = cell.getBoundingClientRect();
      return left < 0 || right > innerWidth || cell.scrollWidth > cell.clientWidth + 1;
    });
    return { page: document.documentElement.scrollWidth > innerWidth, frame: frame.scrollWidth > frame.clientWidth + 1, cut: cut.map((cell) => cell.textContent) };
  });
  equal(found, { page: false, frame: false, cut: [] }, what);
}

/** The exam table is the command line's, under each protocol, and so is what its buttons copy. `expected`: what the program
 *  printed. */
async function exam_table({ browser, folder, expected }) {
  const { tables, refused } = JSON.parse(readFileSync(expected, "utf8"));
  const opened = await open(browser, folder, { hash: "table" });
  const { page } = opened;
  await page.waitForSelector("[data-table]");
  await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => void (window.copied = text) } }));
  const copied = async (which) => {
    await page.evaluate(() => (window.copied = null));
    await press(page, `[data-copy=${which}]`);
    return until(page, `${which} is not copied`, () => window.copied !== null && window.copied).then((text) => text.jsonValue());
  };
  for (const { protocol, accesses, cells, markdown, csv } of tables) {
    await page.select("[data-table-protocol]", protocol);
    await typeAccesses(page, accesses);
    await shows(page, cells, `the command line's table of ${accesses} under ${protocol}`);
    equal(await copied("markdown"), `${markdown.trim()}\n`, `${protocol} in Markdown`);
    equal(await copied("csv"), csv, `${protocol} as CSV`);
    equal(await copied("command"), `linebounce steps --accesses "${accesses}" --protocol ${protocol}`, "the command");
    check(/is copied/.test(await page.$eval("[data-said]", (said) => said.innerText)), "nothing says that it is copied");
    for (const [width, height] of [kSizes.phone, kWide]) {
      await page.setViewport({ width, height });
      await until(page, "the table does not settle", (cards) => document.querySelector("[data-frame]").classList.contains("cards") === cards, width === kSizes.phone[0]);
      await nothingCut(page, `${accesses} at ${width} pixels`);
    }
  }
  const last = tables.at(-1);
  await until(page, "the link does not hold the exercise", (protocol) => location.hash.startsWith(`#table/${protocol}/`), last.protocol);
  const link = await copied("link");
  const again = await open(browser, folder, { hash: link.slice(link.indexOf("#") + 1) });
  await shows(again.page, last.cells, "the table behind a link");
  clean(again);
  await again.page.close();
  await typeAccesses(page, refused.accesses);
  await until(page, "the program's error is not shown", () => document.querySelector("[data-refused]").textContent !== "");
  equal(await page.$eval("[data-refused]", (said) => said.textContent), refused.says, "the error");
  check(await page.$eval("[data-copy=csv]", (button) => button.disabled), "a table that is not of these accesses can be copied");
  clean(opened);
}

/** Each example fills in another table; caches that are smaller evict; all of it by keyboard. */
async function exam_keyboard({ browser, folder }) {
  const opened = await open(browser, folder, { hash: "table" });
  const { page } = opened;
  await page.waitForSelector("[data-table]");
  await page.focus("[data-accesses]");
  const seen = [JSON.stringify(await shownCells(page))];
  const reached = [];
  const tab = async () => {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => JSON.stringify({ ...document.activeElement?.dataset }));
    reached.push(at);
    return JSON.parse(at);
  };
  equal(await tab(), { tableProtocol: "" }, "Tab from the accesses");
  for (const index of [0, 1, 2, 3]) {
    equal((await tab()).example, String(index), "Tab to the examples");
    await page.keyboard.press("Enter");
    if (index === 0) continue; // it is there already
    await until(page, `example ${index} shows no table of its own`, (before) => {
      const now = JSON.stringify([...document.querySelectorAll("[data-table] tr")].map((row) => [...row.cells].map((cell) => cell.textContent)));
      return !before.includes(now) && document.querySelector("[data-refused]").textContent === "";
    }, seen);
    seen.push(JSON.stringify(await shownCells(page)));
  }
  check(/evicts/.test(seen.at(-1)), "the example of evictions has none");
  await page.focus("[data-cache='--ways']");
  await page.keyboard.press("End");
  await page.keyboard.type("0");
  await until(page, "10 ways are not refused", () => document.querySelector("[data-refused]").textContent.includes("linebounce: "));
  await page.keyboard.press("Backspace");
  await until(page, "1 way is refused", () => document.querySelector("[data-refused]").textContent === "");
  for (const which of ["markdown", "csv", "link", "command"]) {
    for (let guard = 0; guard < 8 && (await tab()).copy !== which; ++guard);
    equal(JSON.parse(reached.at(-1)).copy, which, "Tab to the buttons that copy");
  }
  clean(opened);
}

/** Lines of code are whole: in the text, and in the boxes of the CPUs, which wrap them. */
async function whole_lines({ browser, folder }) {
  const opened = await open(browser, folder);
  const { page } = opened;
  let lines = 0;
  for (const [width, height] of [kSizes.phone, kWide]) {
    await page.setViewport({ width, height });
    for (const { slug, parts } of await lessonsOf(page)) {
      const question = parts.findLastIndex(({ kind, step }) => kind === "question" && step !== undefined);
      await page.evaluate((to) => (location.hash = to), `lesson/${slug}/${parts.length - 1}`);
      await until(page, `${slug} is not shown`, (wanted) => document.querySelector("[data-lesson]")?.dataset.lesson === wanted, slug);
      if (question < 0) continue;
      await running(page);
      const found = await page.evaluate(async () => {
        const { player } = window.linebounce.stage;
        const source = player.document.program?.text.split("\n").map((line) => line.replace(/\s+/g, "")) ?? [];
        const bad = [...document.querySelectorAll("pre")].filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent);
        let seen = 0;
        for (let at = 0; at <= player.length; at += Math.max(1, Math.floor(player.length / 12))) {
          player.jump(at);
          await new Promise(requestAnimationFrame);
          for (const cpu of document.querySelectorAll('svg[data-export="machine"] .cpu')) {
            const box = cpu.querySelector(".box").getBoundingClientRect();
            const rows = [...cpu.querySelectorAll("text.code")];
            for (const row of rows) {
              const { right, bottom } = row.getBoundingClientRect();
              if (right > box.right + 1 || bottom > box.bottom + 1 || row.textContent.includes("…")) bad.push(row.textContent);
            }
            const now = cpu.querySelector("rect.now");
            if (!now || source.length === 0) continue;
            const { top, bottom } = now.getBoundingClientRect();
            const line = rows.filter((row) => { const one = row.getBoundingClientRect(); return (one.top + one.bottom) / 2 > top && (one.top + one.bottom) / 2 < bottom; })
              .map((row) => row.textContent.replace(/\s+/g, "")).join("");
            if (source.includes(line)) ++seen;
            else bad.push(`not a line of the program: ${line}`);
          }
        }
        return { bad: [...new Set(bad)], seen };
      });
      equal(found.bad, [], `${slug} at ${width} pixels: cut`);
      lines += found.seen;
    }
  }
  check(lines > 200, `${lines} lines of programs`);
  clean(opened);
}

/** A history of 10^5 steps must take less than 200 MB, and a step in it less than a frame's time. */
async function long_history({ browser, folder, name }) {
  const opened = await open(browser, folder);
  const { page } = opened;
  const found = await page.evaluate(async () => {
    const { stage } = window.linebounce;
    const program = `title = "Two CPUs and a counter"\nends = true\nfunction setup()\n  shared = place(structure { name = "shared", "x", align = "line" }, "shared")\nend\n
function run(cpu)\n  for round = 1, 6000 do cpu:fetch_add(shared.x, 1) cpu:compute_about(50) end\nend\n`;
    const experiment = `name = "long"\ntitle = "A long run"\nmachine = "p3_xeon_4way"\n[workload]\nname = "program"\nprogram = "program.lua"\n[run]\nwarmup_us = 0\nmeasure_us = 0\n[set]\n"machine.cpus" = 4\n`;
    if (!(await stage.show({ experiment, program }))) return { error: stage.error };
    const { player } = stage;
    const { history } = player;
    const times = [];
    for (let k = 0; k < 200; ++k) {
      const began = performance.now();
      player.jump(Math.floor((k * history.length) / 200) + 1);
      await new Promise(requestAnimationFrame);
      times.push(performance.now() - began);
    }
    const heap = performance.memory?.usedJSHeapSize ?? null;
    times.sort((a, b) => a - b);
    return { length: history.length, arrays: history.memory, text: player.run.text.byteLength, heap, middle: times[100] };
  });
  check(!found.error, found.error);
  console.log(`  ${name}: ${found.length} steps, arrays ${found.arrays} bytes, document ${found.text} bytes, heap ${found.heap ?? "not told"}, a jump and its picture ${found.middle.toFixed(1)} ms`);
  check(found.length >= 100_000, `${found.length} steps`);
  const bytes = found.heap ?? found.arrays + found.text;
  check((bytes / found.length) * 100_000 < 200e6, `${bytes} bytes for ${found.length} steps`);
  clean(opened);
}

export const kSuites = { lessons, back_stepping, tests, break_protocol, break_lock, own_program, compare, exported, keyboard, accessible, narrow, printed,
  no_storage, long_history, exam_table, exam_keyboard, whole_lines };
