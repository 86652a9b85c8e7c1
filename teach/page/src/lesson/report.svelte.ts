// The file of answers that a reader hands to a teacher.
import { gain } from "./answers";
import { progress } from "./progress.svelte";

/** The file's text, in the format that `linebounce teach --grade` reads. */
export function answersFile(): string {
  const { name, tests, lessons } = progress;
  const done = Object.fromEntries(
    Object.entries(lessons).map(([slug, kept]) => [slug, { done: kept.done, answers: $state.snapshot(kept.answers) }]));
  return `${JSON.stringify({ format: "linebounce.answers/1", name, tests: $state.snapshot(tests), lessons: done }, null, 1)}\n`;
}

export function answersText(): string {
  const { name, tests } = progress;
  const lines = [`Linebounce: ${name || "no name given"}`];
  const score = (title: string, test: (typeof tests)["pre"]) =>
    lines.push(test ? `${title}: ${test.score} of ${test.of}` : `${title}: not taken`);
  score("First test", tests.pre);
  score("Last test", tests.post);
  if (tests.pre && tests.post) {
    const gained = gain(tests.pre.score / tests.pre.of, tests.post.score / tests.post.of, 1);
    lines.push(gained === null ? "Gain: nothing was left to gain" : `Gain: ${Math.round(100 * gained)} % of what was left to learn`);
  }
  const done = Object.values(progress.lessons).filter((lesson) => lesson.done).length;
  const first = Object.values(progress.lessons).flatMap((lesson) => Object.values(lesson.answers));
  lines.push(`Lessons finished: ${done}`, `Predictions right at the first try: ${first.filter((a) => a.right).length} of ${first.length}`);
  return `${lines.join("\n")}\n`;
}
