// The engine: the simulator itself as WebAssembly, in a worker. `engine()` starts it once.
import type { RunDocument } from "../model/document";
import { kExperiment, sceneFiles, shippedFiles, type Files, type Scene } from "./files";
import { decode85, unpackEngineText } from "./unpack";
import workerText from "./worker.js?raw";

export interface Found {
  /** The first position at or after the one asked from; -1: none, and `error` may say what is wrong with the moment. */
  position: number;
  error: string;
}
export interface Run {
  scene: Scene;
  document: RunDocument;
  /** The engine's output, unparsed. */
  text: Uint8Array;
  find(moment: string, from?: number): Promise<Found>;
}
export interface Printed {
  exit: number;
  text: string;
}

export class EngineError extends Error {}

interface Waiting {
  resolve: (value: never) => void;
  reject: (error: Error) => void;
}

export class Engine {
  private worker: Promise<Worker> | null = null;
  private readonly waiting = new Map<number, Waiting>();
  private next = 1;

  /** Starts to compile the engine early, so that the first request need not wait for all of it. */
  start(): void {
    this.worker ??= this.make();
  }

  async run(scene: Scene): Promise<Run> {
    const { id, answer } = this.ask<{ bytes: Uint8Array<ArrayBuffer> }>("run", { files: sceneFiles(scene), experiment: kExperiment });
    const { bytes } = await answer;
    const document = JSON.parse(new TextDecoder().decode(bytes)) as RunDocument;
    const run: Run = { scene, document, text: bytes, find: (moment, from = 0) => this.find(run, id, moment, from) };
    return run;
  }

  /** `check`, `check-lock` or `steps --accesses`, with the arguments of the command line. */
  command(args: string[], files: Files = {}): Promise<Printed> {
    return this.ask<Printed>("command", { files: { ...shippedFiles(), ...files }, separated: args.join("\x1f") }).answer;
  }

  /** Stops the engine and drops all pending requests, because a program may run for long. */
  stop(): void {
    const worker = this.worker;
    this.worker = null;
    void worker?.then((w) => w.terminate());
    for (const one of this.waiting.values()) one.reject(new EngineError("stopped"));
    this.waiting.clear();
  }

  private async find(run: Run, id: number, moment: string, from: number): Promise<Found> {
    const found = await this.ask<Found & { gone?: true }>("find", { run: id, moment, from }).answer;
    if (!found.gone) return found;
    const again = await this.run(run.scene); // its instance is gone: the same scene gives the same run
    run.find = again.find;
    return again.find(moment, from);
  }

  private ask<T>(ask: string, what: object): { id: number; answer: Promise<T> } {
    this.start();
    const id = this.next++;
    const answer = new Promise<T>((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker!.then((worker) => worker.postMessage({ id, ask, ...what })).catch((error: Error) => {
        this.waiting.delete(id);
        reject(error);
      });
    });
    return { id, answer };
  }

  private async make(): Promise<Worker> {
    const packed = window.LINEBOUNCE_ENGINE;
    if (!packed) throw new EngineError("engine.js is not beside this page");
    const glue = await unpackEngineText(packed.glue);
    const url = URL.createObjectURL(new Blob([glue, `\nconst decode85 = ${decode85.toString()};\n`, workerText], { type: "text/javascript" }));
    const worker = new Worker(url);
    worker.onmessage = ({ data }: MessageEvent<{ id: number; result?: never; error?: string }>) => {
      const one = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      if (data.error !== undefined) one?.reject(new EngineError(data.error));
      else one?.resolve(data.result!);
    };
    worker.postMessage({ id: 0, ask: "start", wasm: packed.wasm });
    return worker;
  }
}

let only: Engine | null = null;
export function engine(): Engine {
  return (only ??= new Engine());
}
