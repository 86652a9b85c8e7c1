// decode85() returns what encode85() packed, for any number of bytes.
import { expect, test } from "vitest";
import { decode85 } from "../../src/engine/unpack";
import { encode85 } from "../../tools/base85.mjs";

test("bytes come back as they were", () => {
  for (let length = 0; length < 40; ++length) {
    const bytes = Uint8Array.from({ length }, (_, at) => (at * 151 + length * 89) % 256);
    const text: string = encode85(bytes);
    expect(text).toHaveLength(Math.ceil((length * 5) / 4));
    expect(decode85(text)).toEqual(bytes);
  }
  for (const value of [0, 255]) expect(decode85(encode85(new Uint8Array(9).fill(value)))).toEqual(new Uint8Array(9).fill(value));
});

test("no character needs an escape in a string or ends a script", () => {
  const text: string = encode85(Uint8Array.from({ length: 4096 }, (_, at) => (at * at * 31 + at) % 256));
  expect(text).not.toMatch(/["'\\/\s]/);
});
