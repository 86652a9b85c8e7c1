// Types of base85.mjs, for the tests.
export function encode85(bytes: Uint8Array): string;
