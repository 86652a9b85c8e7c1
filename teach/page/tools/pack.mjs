// Puts what the page needs beside it, as classic scripts:
//   node tools/pack.mjs --out FOLDER [--engine ENGINE.js] [--root PROJECT]
// --engine: emscripten's glue, its .wasm in the same folder; makes engine.js.
// --root: the project's folder; makes a lessons.js without lessons, with the files that the engine reads, for work on the
// page alone. `linebounce teach` makes the real one.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { encode85 } from "./base85.mjs";

const { values } = parseArgs({
  options: { out: { type: "string" }, engine: { type: "string" }, root: { type: "string" } },
});
if (!values.out) throw new Error("--out FOLDER is missing");
mkdirSync(values.out, { recursive: true });

const packed = (file) => encode85(gzipSync(readFileSync(file), { level: 9 }));

function texts(root, folder) {
  const found = {};
  for (const name of readdirSync(join(root, folder)).sort()) {
    const path = `${folder}/${name}`;
    if (/\.(toml|lua|md)$/.test(name) && name !== "README.md" && statSync(join(root, path)).isFile())
      found[path] = readFileSync(join(root, path), "utf8");
  }
  return found;
}

if (values.engine) {
  const parts = { glue: packed(values.engine), wasm: packed(values.engine.replace(/\.js$/, ".wasm")) };
  const text = `window.LINEBOUNCE_ENGINE = ${JSON.stringify(parts)};\n`;
  writeFileSync(join(values.out, "engine.js"), text);
  console.log(`engine.js: ${text.length} bytes`);
}
if (values.root) {
  const document = {
    version: 1,
    lessons: [],
    tests: { pre: [], post: [] },
    protocols: texts(values.root, "models/protocols"),
    machines: { ...texts(values.root, "configs/machines"), ...texts(values.root, "configs/families") },
    layouts: texts(values.root, "configs/layouts"),
    programs: { ...texts(values.root, "programs"), ...texts(values.root, "programs/locks") },
  };
  const text = `window.LINEBOUNCE_LESSONS = ${JSON.stringify(document)};\n`;
  writeFileSync(join(values.out, "lessons.js"), text);
  console.log(`lessons.js: ${text.length} bytes`);
}
