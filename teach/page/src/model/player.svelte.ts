// Plays a run: holds its position, and steps through it. Views read `position` and then ask `history`.
import type { Run } from "../engine/engine";
import { History, type Stride } from "./History";
import { floorOf, linesByInterest, type Floor } from "./floor";
import { Names } from "./names";

export interface Breakpoint {
  moment: string;
  enabled: boolean;
  /** What is wrong with the moment; "" if nothing. */
  error: string;
}

const kLinesAtFirst = 3;

/** Steps per second, by the speed's number. */
export const kSpeeds = [0.5, 1, 2, 4, 8, 16, 32] as const;

export class Player {
  readonly history: History;
  readonly names: Names;
  stride = $state<Stride>("step");
  speed = $state(2);
  playing = $state(false);
  breakpoints = $state<Breakpoint[]>([]);
  /** The breakpoint at which playing stopped. */
  reached = $state("");
  /** The lines that the views show. */
  lines = $state<number[]>([]);
  /** All lines of the run, those of the program first. */
  readonly allLines: number[];
  readonly floor: Floor;
  /** The position before the last change, from which the views animate what moved. */
  previous = 0;
  /** In a lesson: steps after this position stay hidden, because a question asks about them. */
  veil = $state<number | null>(null);
  veilSays = $state("");
  /** In a lesson: keys and buttons stop at this position. The lesson itself may go further. */
  limit = $state<number | null>(null);
  private at = $state(0);
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly run: Run) {
    this.history = new History(run.document);
    this.names = new Names(run.document);
    this.floor = floorOf(run.document);
    this.allLines = linesByInterest(run.document);
    const named = this.allLines.filter((line) => this.names.wordsOf(line).length > 0);
    this.lines = (named.length > 0 ? named : this.allLines).slice(0, kLinesAtFirst);
  }

  get document() {
    return this.run.document;
  }
  get length(): number {
    return this.history.length;
  }
  get position(): number {
    return this.at;
  }
  get time(): number {
    void this.at;
    return this.history.ns(this.history.now);
  }
  get step() {
    void this.at;
    return this.history.last;
  }
  /** The step's sentence; "" before the first step. */
  get sentence(): string {
    return this.at > 0 ? (this.document.sentences?.[this.at - 1] ?? "") : "";
  }

  /** The last position that the reader may go to. */
  get furthest(): number {
    return this.limit === null ? this.length : Math.max(this.limit, this.at);
  }

  /** Goes to a position that the reader asked for, within the lesson's limit. */
  go(to: number): void {
    this.jump(Math.min(to, this.furthest));
  }
  jump(to: number): void {
    this.previous = this.history.position;
    this.history.jump(to);
    this.at = this.history.position;
  }
  forward(): void {
    this.reached = "";
    this.go(this.history.stop(this.stride, 1));
  }
  back(): void {
    this.reached = "";
    this.jump(this.history.stop(this.stride, -1));
  }

  faster(by: number): void {
    this.speed = Math.max(0, Math.min(kSpeeds.length - 1, this.speed + by));
  }

  toggle(): void {
    if (this.playing) this.pause();
    else void this.play();
  }
  async play(): Promise<void> {
    if (this.at >= this.length) this.jump(0);
    if (this.at >= this.furthest) return;
    this.playing = true;
    this.reached = "";
    const halt = await this.nextBreak();
    const tick = () => {
      if (!this.playing) return;
      const to = Math.min(this.history.stop(this.stride, 1), this.furthest);
      if (halt && to >= halt.position) {
        this.jump(halt.position);
        this.reached = halt.moment;
        this.pause();
        return;
      }
      this.jump(to);
      if (this.at >= this.furthest) this.pause();
      else this.timer = setTimeout(tick, 1000 / kSpeeds[this.speed]!);
    };
    tick();
  }
  pause(): void {
    this.playing = false;
    clearTimeout(this.timer);
  }

  /** Jumps to the next breakpoint; false if there is none before the end. */
  async runToBreak(): Promise<boolean> {
    const halt = await this.nextBreak();
    if (!halt || halt.position > this.furthest) return false;
    this.jump(halt.position);
    this.reached = halt.moment;
    return true;
  }

  /** The first enabled breakpoint after this position. */
  private async nextBreak(): Promise<{ position: number; moment: string } | null> {
    let first: { position: number; moment: string } | null = null;
    for (const breakpoint of this.breakpoints) {
      if (!breakpoint.enabled) continue;
      const found = await this.run.find(breakpoint.moment, this.at + 1);
      breakpoint.error = found.position < 0 ? found.error : "";
      if (found.position >= 0 && (!first || found.position < first.position))
        first = { position: found.position, moment: breakpoint.moment };
    }
    return first;
  }
}
