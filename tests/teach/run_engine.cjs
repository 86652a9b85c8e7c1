// node run_engine.cjs ENGINE.js ROOT: the engine, driven by one JSON document a line on standard input:
//   {"run": FILE, "out": FILE}         runs an experiment; writes its steps, and answers {"steps_per_s": N}
//   {"run": FILE, "find": [TEXT...]}   answers {"found": [position, -1, or the error]}
//   {"command": [ARGUMENT...]}         answers {"exit": N, "text": TEXT}
// Each has an instance of its own, into whose file system the project's machines, protocols and programs are copied, and the
// folder of the experiment.
const fs = require("fs");
const path = require("path");
const readline = require("readline");

const [engineFile, root] = process.argv.slice(2).map((name) => path.resolve(name));
const createEngine = require(engineFile);
const wasm = new WebAssembly.Module(fs.readFileSync(engineFile.replace(/\.js$/, ".wasm")));
const kParts = ["configs/machines", "configs/families", "configs/layouts", "models/protocols", "programs", "commands/check/tests"];

function copyFolder(engine, folder) {
  engine.FS.mkdirTree(folder);
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const name = path.join(folder, entry.name);
    if (entry.isFile() && /\.(toml|lua|md)$/.test(entry.name)) engine.FS.writeFile(name, fs.readFileSync(name));
  }
}

async function instance() {
  const engine = await createEngine({
    instantiateWasm: (imports, done) => {
      done(new WebAssembly.Instance(wasm, imports));
      return {};
    },
    preRun: [(module) => (module.ENV.LINEBOUNCE_ROOT = root)],
  });
  for (const part of kParts) copyFolder(engine, path.join(root, part));
  engine.FS.chdir(root);
  return engine;
}

// Copied: the next call may move what it stands in.
const result = (engine) => Buffer.from(engine.HEAPU8.slice(engine._lb_result(), engine._lb_result() + engine._lb_result_bytes()));

async function answer(request) {
  const engine = await instance();
  if (request.command) {
    engine.ccall("lb_command", null, ["string"], [request.command.join("\x1f")]);
    return { exit: engine._lb_exit(), text: result(engine).toString() };
  }
  copyFolder(engine, path.dirname(request.run));
  engine.FS.chdir(path.dirname(request.run));
  const begun = process.hrtime.bigint();
  engine.ccall("lb_run", null, ["string"], [request.run]);
  const seconds = Number(process.hrtime.bigint() - begun) / 1e9;
  if (request.out) fs.writeFileSync(request.out, result(engine));
  const found = (request.find ?? []).map((text) => {
    const position = engine.ccall("lb_find", "number", ["string", "number"], [text, 0]);
    return position === -2 ? result(engine).toString() : position;
  });
  return { seconds, found };
}

(async () => {
  process.removeAllListeners("unhandledRejection");
  for await (const line of readline.createInterface({ input: process.stdin })) {
    let reply;
    try {
      reply = await answer(JSON.parse(line));
    } catch (error) {
      reply = { threw: String(error.stack ?? error).slice(0, 2000) };
    }
    process.removeAllListeners("uncaughtException");  // each instance adds its own
    process.removeAllListeners("unhandledRejection");
    process.stdout.write(`${JSON.stringify(reply)}\n`);
  }
})();
