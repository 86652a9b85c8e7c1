// Writes bytes as text: four bytes are five characters, which need no escape in a string of JavaScript. A rest of n bytes is
// n + 1 characters. src/engine/unpack.ts reads it.
const kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

export function encode85(bytes) {
  const parts = [];
  for (let at = 0; at < bytes.length; at += 4) {
    let number = 0;
    for (let k = 0; k < 4; ++k) number = number * 256 + (bytes[at + k] ?? 0);
    let group = "";
    for (let k = 0; k < 5; ++k, number = Math.floor(number / 85)) group = kDigits[number % 85] + group;
    parts.push(group.slice(0, Math.min(5, bytes.length - at + 1)));
  }
  return parts.join("");
}
