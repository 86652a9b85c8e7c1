// A program made by clicking: operations in the order in which the reader chose them, as Lua that the engine reads. Each
// operation begins at a time of its own, so that they happen one after the other. If all began at the same time, they would
// race.

export type Operation = "load" | "store" | "fetch_add";
export interface Click {
  cpu: number;
  operation: Operation;
  word: string;
  value: number;
  /** The operation begins together with the one before it, so that both race. */
  together?: boolean;
}

export const kWords = ["x", "y"] as const;
const kTurnNs = 4000;

function call(click: Click): string {
  const word = `words.${click.word}`;
  if (click.operation === "load") return `cpu:load(${word})`;
  return `cpu:${click.operation}(${word}, ${click.value})`;
}

export function programOf(clicks: readonly Click[], oneLine: boolean): string {
  let turn = 0;
  const byCpu = new Map<number, string[]>();
  clicks.forEach((click, index) => {
    if (index > 0 && !click.together) ++turn;
    const lines = byCpu.get(click.cpu) ?? [];
    lines.push(`    wait_for_turn(cpu, ${turn})`, `    ${call(click)}`);
    byCpu.set(click.cpu, lines);
  });
  const branches = [...byCpu.entries()].sort(([a], [b]) => a - b)
    .map(([cpu, lines], index) => `  ${index === 0 ? "if" : "elseif"} cpu.id == ${cpu} then\n${lines.join("\n")}\n`);
  const body = branches.length > 0 ? `${branches.join("")}  end\n` : "";
  const fields = oneLine ? `"x", "y"` : `{ "x", at = 0 }, { "y", at = machine.line_bytes }`;
  return `title = "Made by clicking"
ends = true

function setup()
  words = place(structure { name = "words", ${fields}, align = "line" }, "words")
end

-- One turn for each operation: what came before has ended when the next one begins.
local function wait_for_turn(cpu, turn)
  while cpu:now_ns() < turn * ${kTurnNs} do cpu:compute(50) end
end

function run(cpu)
${body}end
`;
}

export const describeClick = (click: Click): string => {
  const what = { load: `reads ${click.word}`, store: `writes ${click.value} to ${click.word}`,
    fetch_add: `adds ${click.value} to ${click.word}, atomically` }[click.operation];
  return `CPU ${click.cpu} ${what}`;
};
