// The compiled lessons, as `linebounce teach` writes them into lessons.js.
export interface Lessons {
  version: number;
  lessons: unknown[];
  tests: { pre: unknown[]; post: unknown[] };
  protocols?: Record<string, string>;
  machines?: Record<string, string>;
  layouts?: Record<string, string>;
  programs?: Record<string, string>;
}
