// Decides whether an answer is right. The right answer is in the compiled lesson; `linebounce teach` read it from a run of
// the engine.
import type { Question } from "./lessons";

export type Given = string | string[];

const plain = (text: string): string => text.trim().replace(/\s+/g, " ").toLowerCase();

/** What a reader typed as a number, in decimal or hexadecimal; NaN if it is none. A comma may be the decimal point. */
export function readNumber(text: string): number {
  const typed = text.trim().replace(",", ".");
  return /^(-?\d+(\.\d+)?|0x[0-9a-f]+)$/i.test(typed) ? Number(typed) : NaN;
}

export function isRight(question: Question, given: Given): boolean {
  const { answer } = question;
  if (question.type === "multiple") {
    const wanted = new Set((Array.isArray(answer) ? answer : [String(answer)]).map(plain));
    const chosen = new Set((Array.isArray(given) ? given : [given]).map(plain));
    return wanted.size === chosen.size && [...wanted].every((choice) => chosen.has(choice));
  }
  const typed = Array.isArray(given) ? (given[0] ?? "") : given;
  if (question.type === "number") return Math.abs(readNumber(typed) - Number(answer)) <= (question.within ?? 0);
  if (Array.isArray(answer)) return answer.some((one) => plain(one) === plain(typed)); // any of several wordings
  return plain(String(answer)) === plain(typed);
}

/** Why an answer is wrong, as the lesson says it: HTML, one piece for each mistake. */
export function whyWrong(question: Question, given: Given): string[] {
  const said = question.wrong ?? {};
  const of = (choice: string): string | undefined =>
    Object.entries(said).find(([key]) => key !== "else" && plain(key) === plain(choice))?.[1];
  const found: string[] = [];
  if (question.type === "multiple") {
    const wanted = new Set((Array.isArray(question.answer) ? question.answer : [String(question.answer)]).map(plain));
    const chosen = new Set((Array.isArray(given) ? given : [given]).map(plain));
    for (const choice of question.choices ?? []) {
      const why = wanted.has(plain(choice)) === chosen.has(plain(choice)) ? undefined : of(choice);
      if (why) found.push(why);
    }
  } else {
    const why = of(Array.isArray(given) ? (given[0] ?? "") : given);
    if (why) found.push(why);
  }
  if (found.length === 0 && said.else) found.push(said.else);
  return found;
}

export const showAnswer = (question: Question): string => {
  const unit = question.unit ? ` ${question.unit}` : "";
  const { answer } = question;
  if (question.type === "multiple" && Array.isArray(answer)) return answer.join(" · ");
  return `${Array.isArray(answer) ? answer[0] : answer}${unit}`;
};

/** Hake's normalized gain: the share of the possible gain that was reached. Null if no gain was possible. */
export function gain(before: number, after: number, of: number): number | null {
  return before >= of ? null : (after - before) / (of - before);
}
