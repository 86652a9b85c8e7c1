// Plays lessons as a reader does. Each question is answered wrongly first, then rightly.
import { check, equal, press, until } from "./browser.mjs";

export const lessonsOf = (page) =>
  page.evaluate(() => window.LINEBOUNCE_LESSONS.lessons.map(({ slug, parts }) => ({ slug, parts })));
export const testsOf = (page) => page.evaluate(() => window.LINEBOUNCE_LESSONS.tests);

/** Returns a wrong answer; null if every answer would be right. */
export function wrongAnswer(question) {
  const { answer, choices } = question;
  const plain = (text) => String(text).trim().toLowerCase();
  if (question.type === "multiple") {
    const wanted = new Set(answer.map(plain));
    const one = choices.find((choice) => !wanted.has(plain(choice)));
    return one !== undefined ? [one] : choices.slice(1);
  }
  if (choices?.length) return choices.find((choice) => plain(choice) !== plain(answer)) ?? null;
  if (question.type === "number") return String(Number(answer) + 2 * (question.within ?? 0) + 1);
  if (question.type === "state") return "ZZ";
  return `not ${Array.isArray(answer) ? answer[0] : answer}`;
}
export const rightAnswer = ({ answer, type }) =>
  type === "multiple" ? answer : String(Array.isArray(answer) ? answer[0] : answer);

/** Puts an answer into a question's form, as a reader does by pressing its parts. */
export async function fill(page, form, given) {
  await page.evaluate((selector, wanted) => {
    const plain = (text) => text.trim().toLowerCase();
    const root = document.querySelector(selector);
    const boxes = [...root.querySelectorAll("input[type=checkbox], input[type=radio]")];
    const list = (Array.isArray(wanted) ? wanted : [wanted]).map(plain);
    if (boxes.length > 0) {
      for (const box of boxes) {
        const on = list.includes(plain(box.value));
        if (box.type === "checkbox" ? box.checked !== on : on && !box.checked) box.click();
      }
    } else {
      const input = root.querySelector("input[type=text]");
      input.value = wanted;
      input.dispatchEvent(new Event("input", { bubbles: true }));
    }
  }, form, given);
}

async function answer(page, question) {
  const form = `form[data-question="${question.id}"]`;
  await page.waitForSelector(form);
  check(await page.$eval("[data-continue]", (button) => button.disabled).catch(() => true), `${question.id}: one can go on without an answer`);
  const wrong = wrongAnswer(question);
  if (wrong !== null) {
    await fill(page, form, wrong);
    await press(page, `${form} button[type=submit]`);
    await until(page, `${question.id}: a wrong answer is not told from a right one`,
      (selector) => document.querySelector(selector)?.dataset.verdict === "wrong", form);
    check((await page.$eval(`${form} [role=status]`, (said) => said.innerText)).trim().length > 5, `${question.id}: nothing is said of a wrong answer`);
  }
  await fill(page, form, rightAnswer(question));
  await press(page, `${form} button[type=submit]`);
  await until(page, `${question.id}: the right answer (${rightAnswer(question)}) is not taken`,
    (selector) => document.querySelector(selector)?.dataset.verdict === "closed", form);
  if (question.then_step !== undefined && question.scene)
    await until(page, `${question.id}: the machine does not go on to step ${question.then_step}`, (step) => window.linebounce.stage.player?.position === step, question.then_step);
}

async function doBreak(page, task) {
  const root = `section[data-question="${task.id}"]`;
  await page.waitForSelector(root);
  // First checks the unchanged text. That doesn't solve the task, unless the text of the task is broken already.
  await press(page, `${root} [data-check]`);
  await until(page, `${task.id}: the checker says nothing`, (selector) => document.querySelector(`${selector} [data-verdict]`), root);
  if (await page.$eval(root, (section) => section.dataset.verdict) === "closed") return;
  await press(page, `${root} [data-tell]`);
  await press(page, `${root} [data-check]`);
  if (task.solution)
    await until(page, `${task.id}: the lesson's own solution is not what the checker wants`, (selector) => document.querySelector(selector)?.dataset.verdict === "closed", root);
  if (task.until === "broken") {
    await press(page, `${root} [data-ce=forward]`);
    equal(await page.$eval(`${root} [data-ce=at]`, (at) => at.innerText.split(" ")[0]), "1", `${task.id}: the counterexample is not played`);
  }
}

/** Plays one lesson from its beginning to its end. */
export async function playLesson(page, lesson) {
  await page.evaluate((slug) => (location.hash = `lesson/${slug}`), lesson.slug);
  await until(page, `${lesson.slug} does not open`, (slug) => document.querySelector("[data-lesson]")?.dataset.lesson === slug, lesson.slug);
  const last = lesson.parts.length - 1;
  for (let guard = 0; guard <= last + 1; ++guard) {
    const at = Number(await page.$eval("[data-lesson]", (article) => article.dataset.at));
    const part = lesson.parts[at];
    if (part.kind === "moment" && part.step !== undefined)
      await until(page, `${lesson.slug}: the moment “${part.at}” is not shown`, (step) => window.linebounce.stage.player?.position === step, part.step);
    if (part.kind === "question") {
      if (part.scene && part.step !== undefined)
        await until(page, `${part.id}: the machine does not stand at step ${part.step}`, (step) => window.linebounce.stage.player?.position === step, part.step);
      if (part.scene && part.step !== undefined)
        equal(await page.evaluate(() => {
          const { player } = window.linebounce.stage;
          player.go(player.length);
          return player.position;
        }), part.step, `${part.id}: one can step behind a question that is open`);
      await answer(page, part);
    }
    if (part.kind === "break") await doBreak(page, part);
    if (at >= last) break;
    await until(page, `${lesson.slug}: one cannot go on from part ${at} (${part.kind})`, () => document.querySelector("[data-continue]")?.disabled === false);
    await press(page, "[data-continue]");
    await until(page, `${lesson.slug}: part ${at} is the last one that is shown`, (before) => Number(document.querySelector("[data-lesson]").dataset.at) > before, at);
  }
  await until(page, `${lesson.slug} does not end`, () => document.querySelector("[data-end]"));
  check(!/<\/?(p|em|code)>/.test(await page.$eval("[data-end]", (end) => end.innerText)), `${lesson.slug}: tags are shown as text at the end`);
}
