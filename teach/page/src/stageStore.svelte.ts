// The scene that is shown, and its position. Lessons and editors choose it; the views read it.
import { engine } from "./engine/engine";
import type { Scene } from "./engine/files";
import { Player } from "./model/player.svelte";

const kKept = 6; // runs kept, so that a reader can return to them without a new run
const kLongestPlayMs = 5000;

const sceneKey = (scene: Scene): string => JSON.stringify([scene.experiment, scene.program ?? null, scene.files ?? null]);
const calm = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;

export class StageStore {
  player = $state.raw<Player | null>(null);
  scene = $state.raw<Scene | null>(null);
  busy = $state(false);
  /** The engine's error message for the scene. */
  error = $state("");
  private asked = 0;
  private readonly runs = new Map<string, Player>();
  private moving: ReturnType<typeof setTimeout> | undefined;
  private arrived: (() => void) | undefined; // who waits for playTo

  /** Shows a scene at a position; runs it if it has not run yet. False if it cannot be run. */
  async show(scene: Scene, position: number | string = 0): Promise<boolean> {
    const asked = ++this.asked;
    this.rest();
    const player = await this.run(scene);
    if (asked !== this.asked) return false; // meanwhile another scene was requested
    if (!player) return false;
    this.scene = scene;
    this.player = player;
    const at = typeof position === "number" ? position : (await player.run.find(position)).position;
    player.jump(Math.max(0, at));
    return true;
  }

  shows(scene: Scene): boolean {
    return this.scene !== null && sceneKey(this.scene) === sceneKey(scene);
  }

  /** Moves on to a position, step by step if there is time for it. Resolves when it is there. */
  playTo(position: number): Promise<void> {
    this.rest();
    const player = this.player;
    if (!player || calm() || position <= player.position) {
      player?.jump(position);
      return Promise.resolve();
    }
    const steps = position - player.position;
    const each = Math.min(450, kLongestPlayMs / steps);
    const stride = Math.max(1, Math.round(16 / Math.max(each, 1)));
    return new Promise((resolve) => {
      this.arrived = resolve;
      const tick = () => {
        if (this.player !== player) return resolve();
        player.jump(Math.min(position, player.position + stride));
        if (player.position >= position) return resolve();
        this.moving = setTimeout(tick, Math.max(each, 16));
      };
      tick();
    });
  }

  /** Stops whatever plays. */
  rest(): void {
    clearTimeout(this.moving);
    this.arrived?.();
    this.player?.pause();
  }

  /** Leaves the stage empty. */
  clear(): void {
    ++this.asked;
    this.rest();
    this.player = null;
    this.scene = null;
    this.error = "";
    this.busy = false;
  }

  private async run(scene: Scene): Promise<Player | null> {
    const key = sceneKey(scene);
    const kept = this.runs.get(key);
    this.error = "";
    if (kept) return kept;
    this.busy = true;
    try {
      const run = await engine().run(scene);
      this.error = run.document.error;
      if (!run.document.log?.length) return null;
      const player = new Player(run);
      this.runs.set(key, player);
      if (this.runs.size > kKept) this.runs.delete(this.runs.keys().next().value!);
      return player;
    } catch (error) {
      this.error = error instanceof Error ? error.message : String(error);
      return null;
    } finally {
      this.busy = false;
    }
  }
}
