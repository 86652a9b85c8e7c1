// The compiled lessons, as `linebounce teach` writes them into lessons.js.
import type { Files, Scene, ShippedFiles } from "../engine/files";

export interface ProsePart {
  kind: "prose";
  html: string;
}
export interface ScenePart {
  kind: "scene";
  name: string;
  experiment: string;
  program?: string;
  files?: Files;
}
export interface MomentPart {
  kind: "moment";
  scene: string;
  at: string;
  step?: number;
  say: string;
}
export interface Question {
  kind?: "question";
  id: string;
  scene?: string;
  at?: string;
  step?: number;
  ask: string;
  type: "choice" | "state" | "number" | "text" | "multiple";
  choices?: string[];
  answer: string | number | string[];
  /** The tolerance of a numeric answer. */
  within?: number;
  unit?: string;
  points?: number;
  right?: string;
  /** The reason why each choice is wrong; "else" is for all other answers. */
  wrong?: Record<string, string>;
  then?: string;
  then_step?: number;
}
export type QuestionPart = Question & { kind: "question" };
export interface BreakPart {
  kind: "break";
  id: string;
  target: "protocol" | "lock";
  name: string;
  path: string;
  text: string;
  ask: string;
  hint?: string;
  /** The verdict that solves the task. */
  until: "broken" | "holds";
  finds?: string;
  right?: string;
  wrong?: string;
  solution?: string;
}
export type Part = ProsePart | ScenePart | MomentPart | QuestionPart | BreakPart;

export interface Lesson {
  number: number;
  slug: string;
  title: string;
  minutes: number;
  goal: string;
  command: string;
  papers: string | string[];
  parts: Part[];
}

export interface Lessons extends ShippedFiles {
  version: number;
  lessons: Lesson[];
  tests: { pre: Question[]; post: Question[]; scenes?: ScenePart[] };
}

declare global {
  interface Window {
    LINEBOUNCE_LESSONS?: Lessons;
    /** The same lessons, compressed with gzip and then encoded in base64. */
    LINEBOUNCE_LESSONS_PACKED?: string;
  }
}

export function lessons(): Lesson[] {
  return window.LINEBOUNCE_LESSONS?.lessons ?? [];
}

export function sceneOf(parts: readonly Part[], name: string): Scene | null {
  const found = parts.find((part): part is ScenePart => part.kind === "scene" && part.name === name);
  return found ? { experiment: found.experiment, program: found.program, files: found.files } : null;
}
