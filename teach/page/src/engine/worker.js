// Runs in a worker, together with emscripten's glue code (createEngine). Each run has its own instance of the module, because a
// program stopped in the middle leaves data on its stack. The last instances are kept, so that moments can be searched for.
/* global createEngine, decode85, self */
const kRoot = "/linebounce";
const kKept = 4;
let compiled = null;
const runs = new Map();

async function unpack(base85) {
  const stream = new Blob([decode85(base85)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

async function instance(files) {
  const module = await compiled;
  const engine = await createEngine({
    instantiateWasm: (imports, done) => {
      WebAssembly.instantiate(module, imports).then(done);
      return {};
    },
    preRun: [(made) => { made.ENV.LINEBOUNCE_ROOT = kRoot; }],
    print: () => {},
    printErr: () => {},
  });
  for (const [path, text] of Object.entries(files)) {
    const file = path.startsWith("/") ? path : `${kRoot}/${path}`;
    engine.FS.mkdirTree(file.slice(0, file.lastIndexOf("/")));
    engine.FS.writeFile(file, text);
  }
  engine.FS.mkdirTree("/work");
  engine.FS.chdir("/work");
  return engine;
}

function bytes(engine) {
  const at = engine._lb_result();
  return engine.HEAPU8.slice(at, at + engine._lb_result_bytes());
}

const answer = {
  start({ wasm }) {
    compiled = unpack(wasm).then((binary) => WebAssembly.compile(binary));
    return compiled.then(() => ({}));
  },
  async run({ id, files, experiment }) {
    const engine = await instance(files);
    runs.set(id, engine);
    if (runs.size > kKept) runs.delete(runs.keys().next().value);
    engine.ccall("lb_run", null, ["string"], [experiment]);
    return { bytes: bytes(engine) };
  },
  find({ run, moment, from }) {
    const engine = runs.get(run);
    if (!engine) return { gone: true };
    if (!engine._lb_find) return { position: -1, error: "This engine cannot look for moments." };
    const position = engine.ccall("lb_find", "number", ["string", "number"], [moment, from]);
    if (position >= 0) return { position, error: "" };
    return { position: -1, error: position === -1 ? "" : new TextDecoder().decode(bytes(engine)) }; // -2: not a moment
  },
  async command({ files, separated }) {
    const engine = await instance(files);
    engine.ccall("lb_command", null, ["string"], [separated]);
    return { exit: engine._lb_exit(), text: new TextDecoder().decode(bytes(engine)) };
  },
};

self.onmessage = async ({ data }) => {
  try {
    const result = await answer[data.ask](data);
    self.postMessage({ id: data.id, result }, result.bytes ? [result.bytes.buffer] : []);
  } catch (error) {
    self.postMessage({ id: data.id, error: String((error && error.stack) || error) });
  }
};
