// The reader's progress, kept in the browser's storage or, without one, as long as the page is open.
import type { Given } from "./answers";

const kKey = "linebounce-progress";

export interface AnswerKept {
  first: Given;
  right: boolean;
  /** True once the reader has answered correctly. */
  solved: boolean;
}
export interface LessonKept {
  upTo: number;
  done: boolean;
  answers: Record<string, AnswerKept>;
}
export interface TestKept {
  score: number;
  of: number;
  answers: Record<string, { given: Given; right: boolean }>;
}
export type TestName = "pre" | "post";
interface Kept {
  name: string;
  lessons: Record<string, LessonKept>;
  tests: Partial<Record<TestName, TestKept>>;
}

function read(): Kept {
  const empty: Kept = { name: "", lessons: {}, tests: {} };
  try {
    const text = localStorage.getItem(kKey);
    const kept = text ? (JSON.parse(text) as Partial<Kept>) : {};
    return { ...empty, ...kept };
  } catch {
    return empty;
  }
}

export const progress = $state<Kept>(read());

export function keep(): void {
  try {
    localStorage.setItem(kKey, JSON.stringify(progress));
  } catch {
    // without storage, progress lasts as long as the page
  }
}

export function keptLesson(slug: string): LessonKept {
  if (!progress.lessons[slug]) progress.lessons[slug] = { upTo: 0, done: false, answers: {} };
  return progress.lessons[slug]!; // the entry is read again through `progress`, so that Svelte tracks changes
}

export function forgetLesson(slug: string): void {
  progress.lessons[slug] = { upTo: 0, done: false, answers: {} };
  keep();
}

/** Stores an answer; only the first one counts towards the score. */
export function keepAnswer(slug: string, id: string, given: Given, right: boolean): void {
  const { answers } = keptLesson(slug);
  const before = answers[id];
  answers[id] = before ? { ...before, solved: before.solved || right } : { first: given, right, solved: right };
  keep();
}
