import { describe, expect, it } from "vitest";
import { gain, isRight, readNumber, whyWrong } from "../../src/lesson/answers";
import type { Question } from "../../src/lesson/lessons";

const ask = (rest: Partial<Question>): Question => ({ id: "q", ask: "?", type: "choice", answer: "S", ...rest });

describe("an answer", () => {
  it("is compared without case and outer blanks", () => {
    expect(isRight(ask({ choices: ["M", "S"] }), " s ")).toBe(true);
    expect(isRight(ask({ choices: ["M", "S"] }), "M")).toBe(false);
  });
  it("may be any of several wordings", () => {
    expect(isRight(ask({ type: "text", answer: ["GetM", "a GetM"] }), "a getm")).toBe(true);
  });
  it("is a number within its tolerance, in decimal or hexadecimal, with a point or a comma", () => {
    const question = ask({ type: "number", answer: 64, within: 2 });
    expect(["62", "66,0", "0x40"].map((given) => isRight(question, given))).toEqual([true, true, true]);
    expect(["61.9", "sixty-four", "", "64 ns"].map((given) => isRight(question, given))).toEqual([false, false, false, false]);
    expect(readNumber("1e3")).toBeNaN();
  });
  it("with several parts needs all of them and no other", () => {
    const question = ask({ type: "multiple", choices: ["a", "b", "c"], answer: ["a", "c"] });
    expect([["a", "c"], ["c", "a"], ["a"], ["a", "b", "c"], []].map((given) => isRight(question, given))).toEqual([true, true, false, false, false]);
  });
});

describe("a wrong answer", () => {
  it("has its own reason, or that of all others", () => {
    const question = ask({ wrong: { M: "nobody wrote", else: "look again" } });
    expect(whyWrong(question, "m")).toEqual(["nobody wrote"]);
    expect(whyWrong(question, "E")).toEqual(["look again"]);
  });
  it("with several parts has a reason for each part that is wrong", () => {
    const question = ask({ type: "multiple", choices: ["a", "b", "c"], answer: ["a", "c"], wrong: { b: "not b", c: "c, too" } });
    expect(whyWrong(question, ["a", "b"])).toEqual(["not b", "c, too"]);
  });
});

it("the gain is a share of what was left to learn", () => {
  expect(gain(4, 7, 10)).toBeCloseTo(0.5);
  expect(gain(10, 10, 10)).toBeNull();
});
