// Numbers from 0 for things that have a key.
export class Numbering<T> {
  readonly items: T[] = [];
  private readonly numbers = new Map<string, number>();

  of(key: string, make: () => T): number {
    let number = this.numbers.get(key);
    if (number === undefined) {
      number = this.items.length;
      this.numbers.set(key, number);
      this.items.push(make());
    }
    return number;
  }
  /** -1: there is none. */
  find(key: string): number {
    return this.numbers.get(key) ?? -1;
  }
}
