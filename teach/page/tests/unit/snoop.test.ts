import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { RunDocument } from "../../src/model/document";
import { asTheTablesSay } from "../../src/model/snoop";

const read = (name: string) => JSON.parse(readFileSync(join(import.meta.dirname, "../documents", name), "utf8")) as RunDocument;

it("a snoop that nobody answered is alone where the caches' table says so", () => {
  const document = read("one_bus.json");
  expect(document.messages).toContain("Alone");
  expect(asTheTablesSay(document)).toBe(document);
});

it("it is clean where the table knows of newer data only", () => {
  const document = read("one_bus.json");
  document.tables[0]!.events = document.tables[0]!.events.filter((event) => !event.includes("alone"));
  document.sentences = ["The snoop tells CPU 1's cache: no other cache has x.", "CPU 1 loads x."];
  const shown = asTheTablesSay(document);
  expect(shown.messages).toEqual(document.messages!.map((name) => (name === "Alone" ? "Clean" : name)));
  expect(shown.sentences).toEqual(["The snoop tells CPU 1's cache: no other cache has newer data of x than memory.", "CPU 1 loads x."]);
});
