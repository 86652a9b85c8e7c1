// The cache-line explorer: which lines miss, and one line byte by byte. explorer.js computes and draws.

class LinesSection {
  constructor(view) {
    this.view = view;
    this.store = new LineStore(view.run.lines);
    this.choice = { filter: "", sum: false, sampled: false };
    this.table = view.table("lines", LINE_COLUMNS, {
      sorted: { key: "latency", down: true },
      limit: 25,
      choose: (row) => this.choose(row),
      isChosen: (row) => row.key === this.chosen,
    });
    view.onFilter("lines", () => this.change({ filter: view.filter("lines") }));
    view.find("[data-sampled]").addEventListener("change", (event) => this.change({ sampled: event.target.checked }));
  }

  // The size of a line on the chosen point's machine; a sweep may have several machines.
  get lineBytes() {
    const { run, point } = this.view;
    return run.line_bytes[run.machine_of_point[point]];
  }

  change(part) {
    Object.assign(this.choice, part);
    this.show();
  }

  show() {
    const { view } = this;
    chooser(view.find('[data-choice="sum"]'), [[false, "each object"], [true, "each structure"]], this.choice.sum, (sum) => this.change({ sum }));
    const { lines, arrays, all } = this.store.summaries(view.number, this.choice);
    const aside = arrays ? ` Plain arrays, whose lines are not told apart, have ${numberText((100 * arrays) / all, 3)} % of the latency.` : "";
    view.find("[data-lines-count]").textContent = `${numberText(lines.length)} ${lines.length === 1 ? "line" : "lines"}.${aside}`;
    const costliest = lines.reduce((best, line) => (best && best.latency >= line.latency ? best : line), null);
    if (!lines.some((line) => line.key === this.chosen)) this.chosen = costliest?.key;
    for (const line of lines) line.most = costliest.share_pct;
    this.table.show(lines);
    this.showLine(lines.find((line) => line.key === this.chosen));
    view.draw("structures", "structures", rowsWhere(view.run.structures, { point: view.number }));
  }

  choose(row) {
    this.chosen = row.key;
    const list = this.view.find('[data-table="lines"]');
    const scrolled = list.scrollTop;
    this.table.draw();
    list.scrollTop = scrolled;
    this.view.find(`[data-line="${CSS.escape(row.key)}"]`)?.focus({ preventScroll: true });
    this.showLine(row);
    const detail = this.view.find("[data-line-detail]");
    if (detail.getBoundingClientRect().top > innerHeight * 0.7) detail.scrollIntoView({ block: "start" });
  }

  showLine(row) {
    const place = this.view.find("[data-line-detail]");
    place.replaceChildren();
    if (!row) return;
    const uses = this.store.uses(row, this.choice.sampled);
    const users = element("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Who touched the line" });
    const table = new SortTable(users, USE_COLUMNS, { sorted: { key: "latency", down: true }, limit: 30 });
    table.show(uses);
    const all = element("button", { type: "button", class: "all-fields", hidden: true }, "All fields");
    const only = (field) => {
      all.hidden = !field;
      table.show(field ? uses.filter((use) => use.offset === field.offset) : uses);
    };
    all.addEventListener("click", () => only(null));
    const name = row.object.includes(" objects") ? `${row.structure}, ${row.object}` : row.object;
    const drawing = drawLine(uses, this.lineBytes, place.clientWidth, only);
    place.replaceChildren(element("h3", {}, ...breakable(`${name}, line ${row.line}`)), this.facts(row), drawing, lineLegend(), all, users);
  }

  facts(row) {
    const misses = `${numberText(row.misses)} misses, ${numberText(row.remote_pct, 3)} % of them from another node than the home`;
    const latency = `${nanosecondsText(row.latency)}, ${numberText(row.share_pct, 3)} % of all misses' latency`;
    return element("p", { class: "caption" }, `${this.lineBytes} bytes, home on node ${row.home}. ${misses}; ${latency}. ${this.split(row)}`);
  }

  // Splits the mean latency of a miss into travel and queueing for each resource.
  split(row) {
    const mean = (sum) => nanosecondsText(sum / row.misses);
    const queueing = sumOf(row.waits);
    const parts = row.waits
      .map((wait, i) => [wait, this.store.resources[i]])
      .filter(([wait]) => wait > 0)
      .sort((a, b) => b[0] - a[0])
      .map(([wait, resource]) => `${resource} ${mean(wait)}`);
    const by = parts.length ? ` (${parts.join(", ")})` : "";
    return `A miss takes ${mean(row.latency)}: ${mean(row.latency - queueing)} travel, ${mean(queueing)} queueing${by}.`;
  }
}

function lineLegend() {
  const written = element("i", { class: "field written strong" });
  const read = element("i", { class: "field read strong" });
  const rest = " only read; the stronger, the more of the line's latency. Fields without a miss are blank; a field is drawn up to the next one or its alignment, 8 bytes at most.";
  return element("p", { class: "caption legend" }, written, " written ", read, rest);
}
