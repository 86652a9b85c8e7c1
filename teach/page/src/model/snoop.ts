// What a snoop's answer is called. The engine names it "Alone" when no cache has spoken up. A protocol whose caches tell
// only of newer data, such as MSI, learns less from that: others may well have copies, and its table calls the case "clean".
import type { RunDocument } from "./document";

export function asTheTablesSay(document: RunDocument): RunDocument {
  const knows = (word: string) => (event: string) => new RegExp(`\\b${word}\\b`).test(event);
  const [caches, ...others] = document.tables ?? [];
  if (!caches || caches.events.some(knows("alone")) || !others.some((table) => table.events.some(knows("clean")))) return document;
  return {
    ...document,
    messages: document.messages?.map((name) => (name === "Alone" ? "Clean" : name)),
    sentences: document.sentences?.map((text) =>
      text.replace(/^(The snoop tells .*): no other cache has (.*)\.$/, "$1: no other cache has newer data of $2 than memory.")),
  };
}
