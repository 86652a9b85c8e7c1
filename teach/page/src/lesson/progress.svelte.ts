// What a reader has done: kept in the browser's storage where there is one, else as long as the page is open.
import type { Given } from "./answers";

const kKey = "linebounce-progress";

export interface AnswerKept {
  first: Given;
  right: boolean;
  /** Answered rightly in the end. */
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
    // then it lasts as long as the page
  }
}

export function keptLesson(slug: string): LessonKept {
  if (!progress.lessons[slug]) progress.lessons[slug] = { upTo: 0, done: false, answers: {} };
  return progress.lessons[slug]!; // read again: what is kept tells who looks at it of changes
}

export function forgetLesson(slug: string): void {
  progress.lessons[slug] = { upTo: 0, done: false, answers: {} };
  keep();
}

/** The first answer is the one that counts. */
export function keepAnswer(slug: string, id: string, given: Given, right: boolean): void {
  const { answers } = keptLesson(slug);
  const before = answers[id];
  answers[id] = before ? { ...before, solved: before.solved || right } : { first: given, right, solved: right };
  keep();
}
