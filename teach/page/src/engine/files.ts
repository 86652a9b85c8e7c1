// The files in the engine's file system. Paths are those of the project; "/work" is the user's folder.

export type Files = Record<string, string>;

/** The files that ship with the page, by kind. */
export interface ShippedFiles {
  protocols?: Files;
  machines?: Files;
  layouts?: Files;
  programs?: Files;
}

/** The text of an experiment, that of its program if it has one, and files of the user's (protocols, layouts) by path. */
export interface Scene {
  experiment: string;
  program?: string;
  files?: Files;
}

export const kExperiment = "/work/experiment.toml";

declare global {
  interface Window {
    LINEBOUNCE_ENGINE?: { glue: string; wasm: string };
  }
}

export function shippedFiles(): Files {
  const from: ShippedFiles | undefined = window.LINEBOUNCE_LESSONS;
  return { ...from?.machines, ...from?.protocols, ...from?.layouts, ...from?.programs };
}

/** The path under which the experiment names its program. */
export function programPath(experiment: string): string {
  const name = /^\s*program\s*=\s*["']([^"']+)["']/m.exec(experiment)?.[1] ?? "program.lua";
  return name.startsWith("/") ? name : `/work/${name}`;
}

export function sceneFiles(scene: Scene): Files {
  const own: Files = { [kExperiment]: scene.experiment };
  if (scene.program !== undefined) own[programPath(scene.experiment)] = scene.program;
  for (const [path, text] of Object.entries(scene.files ?? {})) own[path.startsWith("/") ? path : `/work/${path}`] = text;
  return { ...shippedFiles(), ...own };
}
