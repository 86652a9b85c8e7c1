// Finds by position the things that last from one position to another, such as messages under way and stores in a buffer.

const kApart = 256;

export class Intervals {
  private readonly checkpoints: Int32Array[] = [];

  /** Interval k lasts from position `from[k]` to `to[k]`, both included. `from` rises. */
  constructor(
    readonly from: Int32Array,
    readonly to: Int32Array,
    last: number,
  ) {
    let active: number[] = [];
    let next = 0;
    for (let at = 0; at <= last; at += kApart) {
      while (next < from.length && from[next]! <= at) active.push(next++);
      active = active.filter((k) => to[k]! >= at);
      this.checkpoints.push(Int32Array.from(active));
    }
  }

  /** The intervals that contain `position`, in the order in which they begin. */
  at(position: number): number[] {
    const checkpoint = Math.floor(position / kApart);
    const found: number[] = [];
    for (const k of this.checkpoints[checkpoint] ?? []) if (this.to[k]! >= position) found.push(k);
    for (let k = this.firstAfter(checkpoint * kApart); k < this.from.length && this.from[k]! <= position; ++k)
      if (this.to[k]! >= position) found.push(k);
    return found;
  }

  private firstAfter(position: number): number {
    let low = 0;
    let high = this.from.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.from[middle]! <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
