// Unpacks what was compressed with gzip and then written as text: lessons in base64, the engine in base 85, which is shorter.

async function inflated(bytes: Uint8Array<ArrayBuffer>): Promise<Response> {
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
}

export async function unpackText(base64: string): Promise<string> {
  return (await inflated(Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)))).text();
}

export async function unpackEngineText(base85: string): Promise<string> {
  return (await inflated(decode85(base85))).text();
}

/** Five characters are four bytes, as tools/base85.mjs writes them. The worker gets this function's source, so it uses nothing
 *  from outside. */
export function decode85(text: string): Uint8Array<ArrayBuffer> {
  const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
  const valueOf = new Uint8Array(128);
  for (let value = 0; value < 85; ++value) valueOf[digits.charCodeAt(value)] = value;
  const groups = Math.ceil(text.length / 5);
  const bytes = new Uint8Array(groups * 4);
  for (let group = 0, at = 0; group < groups; ++group) {
    let number = 0;
    for (let k = 0; k < 5; ++k, ++at) number = number * 85 + (at < text.length ? valueOf[text.charCodeAt(at)]! : 84);
    bytes[group * 4] = number / 16777216;
    bytes[group * 4 + 1] = number >> 16;
    bytes[group * 4 + 2] = number >> 8;
    bytes[group * 4 + 3] = number;
  }
  return bytes.slice(0, Math.floor((text.length * 4) / 5));
}
