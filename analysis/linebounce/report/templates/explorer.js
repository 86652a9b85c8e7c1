// The cache-line explorer: lists lines by cost, and draws one byte by byte.

class LineStore {
  constructor(packed) {
    this.names = packed.names;
    this.lines = packed.lines;
    this.rows = packed.rows;
    this.resources = packed.resources;
    this.waits = packed.resources.map((resource) => packed.rows[`queueing_${resource}_ns_mean`]);
    // Index of the field name of plain arrays, whose lines are listed as one.
    this.arrayField = packed.names.field.indexOf("[]");
  }

  last(line) {
    return this.lines.first[line + 1] ?? this.rows.count.length;
  }

  // Whether an Itanium 2 would sample this miss. It samples neither stores nor upgrades nor misses that memory answers.
  isSampled(row) {
    const source = this.names.source[this.rows.source[row]];
    return this.names.access[this.rows.access[row]] !== "store" && (source === "local_c2c" || source === "remote_c2c");
  }

  // Sums up a point's misses: {lines: those that match the filter, arrays: latency of plain arrays, all: latency of all
  // lines}.
  summaries(point, { filter, sum, sampled }) {
    const tests = filter.split(/\s+/).filter(Boolean).map((word) => this.wordTest(word));
    const found = new Map();
    let arrays = 0;
    let all = 0;
    for (let line = 0; line < this.lines.point.length; line++) {
      if (this.lines.point[line] !== point) continue;
      const totals = this.totals(line, sampled);
      all += totals.latency;
      if (totals.isArray) arrays += totals.latency;
      if (totals.isArray || !totals.misses || !tests.every((test) => test(line))) continue;
      const key = sum ? `${this.lines.structure[line]}/${this.lines.line[line]}` : String(line);
      this.add(found, key, line, totals);
    }
    return { lines: [...found.values()].map((entry) => this.finish(entry, all, sum)), arrays, all };
  }

  totals(line, sampled) {
    const { count, remote_pct: remotePct, latency_ns_mean: mean, field, home } = this.rows;
    const totals = { misses: 0, remote: 0, latency: 0, waits: this.waits.map(() => 0), isArray: true, homes: new Set() };
    for (let row = this.lines.first[line]; row < this.last(line); row++) {
      if (field[row] !== this.arrayField) totals.isArray = false;
      if (sampled && !this.isSampled(row)) continue;
      totals.misses += count[row];
      totals.remote += (count[row] * remotePct[row]) / 100;
      totals.latency += count[row] * mean[row];
      this.waits.forEach((wait, i) => (totals.waits[i] += count[row] * wait[row]));
      totals.homes.add(home[row]);
    }
    return totals;
  }

  // Returns a function that tells whether `word` occurs in a line's names. Looks each distinct name up once.
  wordTest(word) {
    const has = (kind) => new Set(this.names[kind].flatMap((name, i) => (name.toLowerCase().includes(word.toLowerCase()) ? [i] : [])));
    const [structure, object, field, used] = [has("structure"), has("object"), has("field"), has("function")];
    return (line) => {
      if (structure.has(this.lines.structure[line]) || object.has(this.lines.object[line])) return true;
      for (let row = this.lines.first[line]; row < this.last(line); row++) {
        if (field.has(this.rows.field[row]) || used.has(this.rows.function[row])) return true;
      }
      return false;
    };
  }

  add(found, key, line, totals) {
    const entry = found.get(key);
    if (!entry) {
      found.set(key, { ...totals, waits: [...totals.waits], key, members: [line] });
      return;
    }
    entry.members.push(line);
    for (const column of ["misses", "remote", "latency"]) entry[column] += totals[column];
    totals.waits.forEach((wait, i) => (entry.waits[i] += wait));
    totals.homes.forEach((home) => entry.homes.add(home));
  }

  finish(entry, all, sum) {
    const line = entry.members[0];
    const object = this.names.object[this.lines.object[line]];
    return {
      ...entry,
      structure: this.names.structure[this.lines.structure[line]],
      object: sum && entry.members.length > 1 ? `${numberText(entry.members.length)} objects` : object,
      line: this.lines.line[line],
      home: [...entry.homes].sort((a, b) => a - b).join(", "),
      remote_pct: entry.misses ? (100 * entry.remote) / entry.misses : 0,
      share_pct: all ? (100 * entry.latency) / all : 0,
      queueing_pct: entry.latency ? (100 * sumOf(entry.waits)) / entry.latency : 0,
    };
  }

  // The accesses to a line, summed over objects: one entry for each field, function, access and source.
  uses(entry, sampled) {
    const found = new Map();
    for (const line of entry.members) {
      for (let row = this.lines.first[line]; row < this.last(line); row++) {
        if (sampled && !this.isSampled(row)) continue;
        this.addUse(found, row);
      }
    }
    return [...found.values()].map((use) => ({ ...use, remote_pct: (100 * use.remote) / use.count, mean: use.latency / use.count }));
  }

  addUse(found, row) {
    const { offset, field, function: used, access, source, home, count, remote_pct: remote, latency_ns_mean: mean } = this.rows;
    const key = [offset[row], field[row], used[row], access[row], source[row]].join();
    const use = found.get(key) ?? {
      offset: offset[row],
      field: this.names.field[field[row]],
      function: this.names.function[used[row]],
      access: this.names.access[access[row]],
      source: this.names.source[source[row]],
      homes: new Set(),
      count: 0,
      remote: 0,
      latency: 0,
    };
    use.homes.add(home[row]);
    use.count += count[row];
    use.remote += (count[row] * remote[row]) / 100;
    use.latency += count[row] * mean[row];
    found.set(key, use);
  }
}

function sumOf(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0);
}

// A line's fields by offset. Results hold no sizes, so a field is taken to end at the next field, and at its alignment's size
// of at most 8 bytes.
function fieldsOfLine(uses, lineBytes) {
  const byOffset = new Map();
  for (const use of uses) {
    const field = byOffset.get(use.offset) ?? { offset: use.offset, names: new Set(), latency: 0, misses: 0, written: false };
    field.names.add(use.field);
    field.latency += use.latency;
    field.misses += use.count;
    field.written ||= use.access !== "load";
    byOffset.set(use.offset, field);
  }
  const fields = [...byOffset.values()].sort((a, b) => a.offset - b.offset);
  fields.forEach((field, i) => {
    const widest = field.offset % 8 === 0 ? 8 : field.offset % 4 === 0 ? 4 : field.offset % 2 === 0 ? 2 : 1;
    field.end = Math.min(field.offset + widest, fields[i + 1]?.offset ?? lineBytes, lineBytes);
    field.name = [...field.names].join(" / ");
  });
  return fields;
}

// The opacity of a field's colour: at most half under dark letters, nearly full under light ones. In between, neither would
// be readable.
function strengthOf(share) {
  const part = Math.sqrt(share);
  return part > 0.55 ? 0.86 + (0.14 * (part - 0.55)) / 0.45 : 0.16 + (0.34 * part) / 0.55;
}

// Draws a line as rows of bytes, with fields as boxes on them. The darker a field, the larger its share of the line's
// latency.
function drawLine(uses, lineBytes, width, choose) {
  const perRow = Math.min(lineBytes, width < 540 ? 16 : 32);
  const fields = fieldsOfLine(uses, lineBytes);
  const most = Math.max(...fields.map((field) => field.latency), 1);
  const total = fields.reduce((sum, field) => sum + field.latency, 0) || 1;
  const drawing = element("div", { class: "bytes", style: `--bytes: ${perRow}` });
  for (let start = 0; start < lineBytes; start += perRow) {
    const row = element("div", { class: "byte-row" });
    for (const field of fields) {
      const from = Math.max(field.offset, start);
      const to = Math.min(field.end, start + perRow);
      if (from >= to) continue;
      const strength = strengthOf(field.latency / most);
      const share = (100 * field.latency) / total;
      const label = `${field.name}, offset ${field.offset}: ${numberText(field.misses)} misses, ${numberText(share, 3)} % of the line's latency, ${field.written ? "written" : "only read"}`;
      row.append(
        element(
          "button",
          {
            type: "button",
            class: `field ${field.written ? "written" : "read"}${strength > 0.6 ? " strong" : ""}`,
            style: `grid-column: ${from - start + 1} / ${to - start + 1}; --strength: ${Math.round(100 * strength)}%`,
            title: label,
            "aria-label": label,
            onclick: () => choose(field),
          },
          element("span", {}, field.name),
          element("small", {}, `${numberText(share, 2)} %`)
        )
      );
    }
    drawing.append(element("span", { class: "offset" }, String(start)), row);
  }
  return drawing;
}
