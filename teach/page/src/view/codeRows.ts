// Breaks lines of code into rows of a CPU's box, so that nothing of a line is cut.

/** The line in rows of at most `most` characters: broken behind a blank, comma or bracket if there is one, else anywhere. Rows
 *  after the first are indented. */
export function codeRows(line: string, most: number): string[] {
  const rows: string[] = [];
  let rest = line;
  while (rest !== "") {
    const indent = rows.length > 0 ? "  " : "";
    const room = Math.max(1, most - indent.length);
    const end = rest.length <= room ? rest.length : breakBefore(rest, room);
    rows.push(indent + rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  return rows;
}

/** Where to break: behind the last mark within `room`, unless that would leave most of the row empty. */
function breakBefore(text: string, room: number): number {
  for (let at = room; at > room / 3; --at) if (text[at] === " " || /[\s,([:]/.test(text[at - 1]!)) return at;
  return room;
}
