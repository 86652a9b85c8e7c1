// The page's keys: one table, used by the key listener and by the help dialog.
import type { Stride } from "../model/History";
import type { Player } from "../model/player.svelte";

export interface Key {
  /** a value of KeyboardEvent.key; several if they do the same */
  keys: string[];
  shown: string;
  does: string;
  run(player: Player): void;
}

const stepBy = (stride: Stride, direction: 1 | -1) => (player: Player) => player.go(player.history.stop(stride, direction));

export const kKeys: Key[] = [
  { keys: ["ArrowRight"], shown: "→", does: "forward, as far as chosen", run: (player) => player.forward() },
  { keys: ["ArrowLeft"], shown: "←", does: "back, as far as chosen", run: (player) => player.back() },
  { keys: [" "], shown: "Space", does: "play or pause", run: (player) => player.toggle() },
  { keys: ["."], shown: ".", does: "one step forward", run: stepBy("step", 1) },
  { keys: [","], shown: ",", does: "one step back", run: stepBy("step", -1) },
  { keys: ["m"], shown: "m", does: "to the next message", run: stepBy("message", 1) },
  { keys: ["M"], shown: "Shift m", does: "to the message before", run: stepBy("message", -1) },
  { keys: ["t"], shown: "t", does: "to the end of the next transaction", run: stepBy("transaction", 1) },
  { keys: ["T"], shown: "Shift t", does: "to the end of the transaction before", run: stepBy("transaction", -1) },
  { keys: ["i"], shown: "i", does: "to the next instruction", run: stepBy("instruction", 1) },
  { keys: ["I"], shown: "Shift i", does: "to the instruction before", run: stepBy("instruction", -1) },
  { keys: ["b"], shown: "b", does: "to the next breakpoint", run: (player) => void player.runToBreak() },
  { keys: ["+", "="], shown: "+", does: "faster", run: (player) => player.faster(1) },
  { keys: ["-"], shown: "-", does: "slower", run: (player) => player.faster(-1) },
  { keys: ["Home"], shown: "Home", does: "to the start", run: (player) => player.jump(0) },
  { keys: ["End"], shown: "End", does: "to the end", run: (player) => player.go(player.length) },
];

const kOwnKeys = "input, textarea, select, dialog, .cm-editor, [role=radiogroup], [role=slider], [contenteditable]";

/** Does what a key means, unless the focused element has a use for the key itself. */
export function obey(event: KeyboardEvent, player: Player): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const target = event.target instanceof Element ? event.target : null;
  if (target?.closest(kOwnKeys)) return;
  if (event.key === " " && target?.closest("button, a, summary")) return;
  const key = kKeys.find((one) => one.keys.includes(event.key));
  if (!key) return;
  event.preventDefault();
  key.run(player);
}
