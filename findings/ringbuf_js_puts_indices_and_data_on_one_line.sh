#!/usr/bin/env bash
# ringbuf.js, the ring buffer between JavaScript's workers, puts both indices and the first data on one cache line.
#
# Guess before the run: the reader's and the writer's index lie at least 64 bytes apart in the SharedArrayBuffer, as in C++'s queues.
# Seen with ringbuf.js 0.4.0: the writer's index is at byte 0, the reader's at byte 4, the data begin at byte 8. So each push and each
# pop writes the line that the other side reads, even when the ring is half full, and JavaScript has no means to align it.
# What rests on it: the table "Lines that libraries share" of docs/real-programs.md.
#
# Usage: bash findings/ringbuf_js_puts_indices_and_data_on_one_line.sh     needs npm and node; fails if it changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-update-notifier --cache "$folder/cache" ringbuf.js@0.4.0

cat >places.mjs <<'J'
import { RingBuffer } from "ringbuf.js";
const memory = RingBuffer.getStorageForCapacity(1000, Uint8Array);
const ring = new RingBuffer(memory, Uint8Array);
const bytes = new Uint8Array(memory);
const changed = (what, act) => {
  const before = bytes.slice();
  act();
  const places = [...bytes.keys()].filter((i) => bytes[i] !== before[i]);
  console.log(`${what} changes bytes ${places.join(" ")}`);
};
changed("push", () => ring.push(new Uint8Array([7, 7, 7])));
changed("pop", () => ring.pop(new Uint8Array(3)));
J
node places.mjs | tee places.txt
grep -qx 'push changes bytes 0 8 9 10' places.txt || { echo "push writes elsewhere now"; exit 1; }
grep -qx 'pop changes bytes 4' places.txt || { echo "pop writes elsewhere now"; exit 1; }
echo "as described: all on the first line"
