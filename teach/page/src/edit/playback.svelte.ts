// Stepping through a list of steps: a counterexample.
export class Playback {
  at = $state(0);
  playing = $state(false);
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly length: () => number, private readonly eachMs = 1100) {}

  jump(to: number): void {
    this.at = Math.max(0, Math.min(this.length(), to));
    if (this.at >= this.length()) this.pause();
  }
  toggle(): void {
    if (this.playing) return this.pause();
    if (this.at >= this.length()) this.at = 0;
    this.playing = true;
    const tick = () => {
      this.jump(this.at + 1);
      if (this.playing) this.timer = setTimeout(tick, this.eachMs);
    };
    tick();
  }
  pause(): void {
    this.playing = false;
    clearTimeout(this.timer);
  }
}
