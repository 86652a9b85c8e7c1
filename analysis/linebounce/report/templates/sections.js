// What each section shows of a run at the chosen point. A section that the run has no data for is not on the page.

class RunView {
  constructor(article, run, page) {
    this.article = article;
    this.run = run;
    this.page = page;
    this.point = run.points.findIndex((point) => point.number === run.first_shown);
    this.kind = distinct(run.latency_summary, "kind").includes("all") ? "all" : distinct(run.latency_summary, "kind")[0];
    this.makeTables();
    this.wirePoints();
    this.wireSweep();
    this.wireContention();
    this.wireLines();
    this.wireOwnership();
    this.showPaper();
    this.showPoint();
  }

  find(selector) {
    return this.article.querySelector(selector);
  }

  chart(name) {
    return this.find(`figure[data-chart="${name}"]`);
  }

  get number() {
    return this.run.points[this.point].number;
  }

  metric(name) {
    const metric = this.run.metrics[name];
    const value = metric?.value[this.point];
    return value === null || value === undefined ? null : { value, unit: metric.unit, ci95: metric.ci95?.[this.point] ?? null };
  }

  // ---- tables ----

  makeTables() {
    const place = (name) => this.find(`[data-table="${name}"]`);
    this.tables = {};
    const add = (name, columns, options) => {
      if (place(name)) this.tables[name] = new SortTable(place(name), columns, options);
    };
    add("paper", PAPER_COLUMNS, { key: (row) => row.id });
    add("latency", LATENCY_COLUMNS);
    add("locks", LOCK_COLUMNS, {
      sorted: { key: "cpu_pct", down: true },
      key: (row) => row.lock,
      open: (row) => (row.call_site ? [] : this.callSites.filter((site) => site.lock === row.lock)),
      limit: 40,
    });
    add("metrics", METRIC_COLUMNS, { sorted: { key: "name", down: false }, limit: 60 });
    this.onFilter("paper", () => this.showPaper());
    this.find("[data-misses-only]")?.addEventListener("change", () => this.showPaper());
    this.onFilter("locks", () => this.showLocks());
    this.onFilter("metrics", () => this.showMetrics());
    this.onFilter("parameters", (filter) => {
      for (const row of this.article.querySelectorAll('[data-plain-table="parameters"] tbody tr')) row.hidden = !matches(row.textContent, filter);
    });
  }

  onFilter(name, show) {
    const input = this.find(`[data-filter="${name}"]`);
    input?.addEventListener("input", () => show(input.value.trim()));
  }

  filter(name) {
    return this.find(`[data-filter="${name}"]`)?.value.trim() ?? "";
  }

  // ---- paper ----

  showPaper() {
    if (!this.tables.paper) return;
    const missesOnly = this.find("[data-misses-only]").checked;
    const rows = this.run.paper.filter(
      (row) => matches(`${row.id} ${row.metric} ${row.kind} ${row.at}`, this.filter("paper")) && (!missesOnly || row.ok === false)
    );
    this.tables.paper.show(rows);
    for (const kind of ["ratios", "points"]) {
      const name = `paper_${kind}`;
      this.page.charts.show(this.chart(name), name, name, rows.filter((row) => row.chart === kind));
    }
  }

  // ---- the chosen point ----

  wirePoints() {
    const form = this.find("[data-points]");
    if (!form) return;
    form.addEventListener("submit", (event) => event.preventDefault());
    for (const select of form.querySelectorAll("select")) {
      const path = select.dataset.path;
      [...select.options].forEach((option, i) => (option.value = String(i)));
      select.addEventListener("change", () => {
        this.point = nearestPoint(this.run.points, this.point, path, this.run.swept[path][Number(select.value)]);
        this.showPoint();
      });
    }
  }

  showPoint() {
    this.showChoice();
    this.showKeyFigures();
    this.showSweep();
    this.showContention();
    this.showLatency();
    this.showMatrix();
    this.showLocks();
    this.showLines();
    this.showOwnership();
    const subsystems = this.run.subsystems.filter((row) => row.point === this.number);
    this.page.charts.show(this.chart("subsystems"), "subsystems", "subsystems", subsystems);
    this.showMachine();
    this.showMetrics();
  }

  showChoice() {
    const form = this.find("[data-points]");
    if (!form) return;
    const at = this.run.points[this.point].at;
    for (const select of form.querySelectorAll("select")) select.value = String(this.run.swept[select.dataset.path].indexOf(at[select.dataset.path]));
    const failed = this.run.points[this.point].failed ? ", failed" : "";
    form.querySelector("output").textContent = `point ${this.number} (0 to ${this.run.points.length - 1})${failed}`;
  }

  showKeyFigures() {
    const tiles = this.page.keyFigures.flatMap(([name, label]) => {
      const metric = this.metric(name);
      if (!metric) return [];
      const spread = metric.ci95 ? ` ± ${shortText(Number(metric.ci95.toPrecision(2)))}` : "";
      return [element("div", { title: name }, element("dt", {}, label), element("dd", {}, shortText(metric.value), element("small", {}, ` ${metric.unit}`)), spread ? element("dd", { class: "spread" }, spread) : null)];
    });
    this.find("[data-key-figures]").replaceChildren(element("dl", {}, ...tiles.slice(0, 6)));
  }

  // ---- latency ----

  showLatency() {
    if (!this.tables.latency) return;
    const kinds = distinct(this.run.latency_summary, "kind").sort();
    chooser(this.find('[data-choice="kind"]'), kinds.map((kind) => [kind, kind === "all" ? "kernel and user" : kind]), this.kind, (kind) => {
      this.kind = kind;
      this.showLatency();
    });
    const wanted = { point: this.number, kind: this.kind };
    this.page.charts.show(this.chart("latency_histogram"), "latency_histogram", "latency_bins", rowsWhere(this.run.latency_bins, wanted));
    const curves = rowsWhere(this.run.latency_curves, wanted);
    this.page.charts.show(this.chart("latency_cdf"), "latency_cdf", "latency_curves", curves);
    const tail = curves.filter((row) => row.more_pct !== null);
    this.page.charts.show(this.chart("latency_tail"), "latency_tail", "latency_curves", tail);
    this.tables.latency.show(rowsWhere(this.run.latency_summary, wanted));
  }

  // ---- core to core ----

  showMatrix() {
    if (!this.chart("matrix")) return;
    const at = { point: this.number };
    for (const column of ["state", "home_node"]) {
      const values = distinct(this.run.matrix, column, at);
      this.chosen ??= {};
      if (!values.includes(this.chosen[column])) this.chosen[column] = values[0];
      const label = (value) => (column === "home_node" ? `home on node ${value}` : value);
      chooser(this.find(`[data-choice="${column}"]`), values.map((value) => [value, label(value)]), this.chosen[column], (value) => {
        this.chosen[column] = value;
        this.showMatrix();
      });
    }
    this.page.charts.show(this.chart("matrix"), "matrix", "matrix", rowsWhere(this.run.matrix, { ...at, ...this.chosen }));
  }

  // ---- locks ----

  showLocks() {
    if (!this.tables.locks) return;
    const rows = rowsWhere(this.run.locks, { point: this.number });
    this.callSites = rows.filter((row) => row.call_site);
    const named = (row) => [row.lock, ...this.callSites.filter((site) => site.lock === row.lock).map((site) => site.call_site)].join(" ");
    this.tables.locks.show(rows.filter((row) => !row.call_site && matches(named(row), this.filter("locks"))));
  }

  wireContention() {
    const place = this.find("[data-contention]");
    if (!place || !(this.run.swept["machine.cpus"]?.length > 1)) return;
    const worst = new Map();
    rowsWhere(this.run.locks, { call_site: "" }).forEach((row) => worst.set(row.lock, Math.max(worst.get(row.lock) ?? 0, row.cpu_pct)));
    const locks = [...worst].sort((a, b) => b[1] - a[1]).map(([lock]) => [lock, lock]);
    if (!locks.length) return;
    place.hidden = false;
    fillSelect(this.find("[data-contention-lock]"), locks, locks[0][0]);
    fillSelect(this.find("[data-contention-column]"), CONTENTION_COLUMNS, "con_pct");
    for (const select of place.querySelectorAll("select")) select.addEventListener("change", () => this.showContention());
  }

  showContention() {
    const place = this.find("[data-contention]");
    if (!place || place.hidden) return;
    const lock = this.find("[data-contention-lock]").value;
    const metric = `locks.${lock}.${this.find("[data-contention-column]").value}`;
    this.drawSweep("contention", metric, "machine.cpus", seriesFor(this.run.swept, "machine.cpus"), "[data-contention-fixed]");
  }

  // ---- sweep ----

  wireSweep() {
    if (!this.chart("sweep")) return;
    const paths = Object.keys(this.run.swept);
    const x = paths.find((path) => isNumeric(this.run.swept[path])) ?? paths[0];
    const names = Object.keys(this.run.metrics).filter((name) => this.run.metrics[name].value.filter((value) => value !== null).length > 1);
    const metric = this.page.keyFigures.map(([name]) => name).find((name) => names.includes(name)) ?? names[0];
    this.sweep = { metric, x, series: seriesFor(this.run.swept, x) };
    fillSelect(this.find('[data-sweep="metric"]'), names.map((name) => [name, name]), metric);
    fillSelect(this.find('[data-sweep="x"]'), paths.map((path) => [path, path]), x);
    fillSelect(this.find('[data-sweep="series"]'), [["", "none"], ...paths.map((path) => [path, path])], this.sweep.series);
    for (const select of this.article.querySelectorAll("[data-sweep]")) {
      select.addEventListener("change", () => {
        this.sweep[select.dataset.sweep] = select.value;
        this.showSweep();
      });
    }
  }

  showSweep() {
    if (this.sweep) this.drawSweep("sweep", this.sweep.metric, this.sweep.x, this.sweep.series, "[data-sweep-fixed]");
  }

  drawSweep(place, name, x, series, fixedNote) {
    const { rows, fixed } = sweepRows(this.run, name, x, series, this.point);
    const numeric = isNumeric(this.run.swept[x]);
    const unit = this.run.metrics[name]?.unit;
    const words = { x, series: series || " ", y: unit ? `${name} (${unit})` : name };
    this.page.charts.show(this.chart(place), numeric ? "sweep_line" : "sweep_bars", "sweep", rows, words);
    const at = fixed.map((path) => `${path} = ${this.run.points[this.point].at[path]}`).join(", ");
    this.find(fixedNote).textContent = at ? `At ${at}.` : "";
  }

  // ---- lines ----

  wireLines() {
    if (!this.find("[data-explorer]")) return;
    this.store = new LineStore(this.run.lines, this.run.line_bytes);
    this.lineChoice = { filter: "", sum: false, sampled: false };
    this.tables.lines = new SortTable(this.find('[data-table="lines"]'), LINE_COLUMNS, {
      sorted: { key: "latency", down: true },
      limit: 25,
      choose: (row) => this.chooseLine(row),
      isChosen: (row) => row.key === this.chosenLine,
    });
    this.onFilter("lines", (filter) => {
      this.lineChoice.filter = filter;
      this.showLines();
    });
    this.find("[data-sampled]").addEventListener("change", (event) => {
      this.lineChoice.sampled = event.target.checked;
      this.showLines();
    });
  }

  showLines() {
    if (!this.store) return;
    chooser(this.find('[data-choice="sum"]'), [[false, "each object"], [true, "each structure"]], this.lineChoice.sum, (sum) => {
      this.lineChoice.sum = sum;
      this.showLines();
    });
    const { lines, arrays, all } = this.store.summaries(this.number, this.lineChoice);
    const aside = arrays ? ` Plain arrays, whose lines are not told apart, have ${numberText((100 * arrays) / all, 3)} % of the latency.` : "";
    this.find("[data-lines-count]").textContent = `${numberText(lines.length)} ${lines.length === 1 ? "line" : "lines"}.${aside}`;
    const kept = lines.some((line) => line.key === this.chosenLine);
    const costliest = lines.reduce((best, line) => (best && best.latency >= line.latency ? best : line), null);
    if (!kept) this.chosenLine = costliest?.key;
    for (const line of lines) line.most = costliest.share_pct;
    this.tables.lines.show(lines);
    this.showLine(lines.find((line) => line.key === this.chosenLine));
    const structures = rowsWhere(this.run.structures, { point: this.number });
    this.page.charts.show(this.chart("structures"), "structures", "structures", structures);
  }

  chooseLine(row) {
    this.chosenLine = row.key;
    const scrolled = this.find('[data-table="lines"]').scrollTop;
    this.tables.lines.draw();
    this.find('[data-table="lines"]').scrollTop = scrolled;
    this.find(`[data-line="${CSS.escape(row.key)}"]`)?.focus({ preventScroll: true });
    this.showLine(row);
    const detail = this.find("[data-line-detail]");
    if (detail.getBoundingClientRect().top > innerHeight * 0.7) detail.scrollIntoView({ behavior: "smooth", block: "start" });
  }

  showLine(row) {
    const place = this.find("[data-line-detail]");
    if (!row) {
      place.replaceChildren();
      return;
    }
    const uses = this.store.uses(row, this.lineChoice.sampled);
    const table = element("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Who touched the line" });
    const uses_table = new SortTable(table, USE_COLUMNS, { sorted: { key: "latency", down: true }, limit: 30 });
    uses_table.show(uses);
    const all = element("button", { type: "button", class: "all-fields", hidden: true }, "All fields");
    const only = (field) => {
      all.hidden = !field;
      uses_table.show(field ? uses.filter((use) => use.offset === field.offset) : uses);
    };
    all.addEventListener("click", () => only(null));
    place.replaceChildren(
      element("h3", {}, `${row.object.includes(" objects") ? `${row.structure}, ${row.object}` : row.object}, line ${row.line}`),
      element("p", { class: "caption" }, `${this.store.lineBytes} bytes, home on node ${row.home}. ${numberText(row.misses)} misses, ${numberText(row.remote_pct, 3)} % of them from another node than the home; ${nanosecondsText(row.latency)}, ${numberText(row.share_pct, 3)} % of all misses' latency.`),
      drawLine(uses, this.store.lineBytes, place.clientWidth, only),
      element("p", { class: "caption legend" }, element("i", { class: "field written strong" }), " written ", element("i", { class: "field read strong" }), " only read; the stronger, the more of the line's latency. Fields without a miss are blank; a field is drawn up to the next one or its alignment, 8 bytes at most."),
      all,
      table
    );
  }

  // ---- who owns a line ----

  wireOwnership() {
    for (const choice of ["line", "part", "from"]) this.find(`[data-ownership-${choice}]`)?.addEventListener("change", () => this.drawOwnership());
  }

  showOwnership() {
    const select = this.find("[data-ownership-line]");
    if (!select) return;
    this.ownedLines = rowsWhere(this.run.ownership.lines, { point: this.number });
    this.find("[data-ownership]").hidden = !this.ownedLines.length;
    this.find("[data-ownership-none]").hidden = this.ownedLines.length > 0;
    fillSelect(select, this.ownedLines.map((line, i) => [String(i), `${line.object}, line ${line.line}: ${numberText(line.changes)} changes`]), "0");
    this.drawOwnership();
  }

  drawOwnership() {
    const line = this.ownedLines[Number(this.find("[data-ownership-line]").value)];
    const spans = line ? rowsWhere(this.run.ownership.spans, { point: this.number, object: line.object, line: line.line }) : [];
    this.page.charts.show(this.chart("ownership"), "ownership", "ownership", this.partOf(spans));
    if (!line) return;
    const cut = line.shown_spans < line.of_spans ? ` The first ${numberText(line.shown_spans)} of ${numberText(line.of_spans)} spans are shown.` : "";
    this.find("[data-ownership-facts]").textContent = `Changed hands ${numberText(line.changes)} times among ${numberText(line.cpus)} CPUs.${cut}`;
  }

  // Of a line's spans those in the chosen part of their time, cut at its ends.
  partOf(spans) {
    const parts = Number(this.find("[data-ownership-part]").value);
    const moved = this.find("[data-ownership-from]");
    this.find("[data-ownership-move]").hidden = parts === 1;
    moved.max = parts - 1;
    if (parts === 1) return spans;
    const first = spans.reduce((least, span) => Math.min(least, span.from_us), Infinity);
    const last = spans.reduce((most, span) => Math.max(most, span.to_us), 0);
    const begin = first + ((last - first) * Number(moved.value)) / parts;
    const end = begin + (last - first) / parts;
    const inside = spans.filter((span) => span.to_us > begin && span.from_us < end);
    return inside.map((span) => ({ ...span, from_us: Math.max(span.from_us, begin), to_us: Math.min(span.to_us, end) }));
  }

  // ---- machine and metrics ----

  showMachine() {
    for (const machine of this.article.querySelectorAll("[data-machine]")) {
      machine.hidden = Number(machine.dataset.machine) !== this.run.machine_of_point[this.point];
    }
    for (const text of this.article.querySelectorAll("[data-metric]")) {
      const metric = this.metric(text.dataset.metric);
      text.textContent = metric ? `${text.dataset.before}${numberText(metric.value, 3)} %` : "";
    }
    for (const line of this.article.querySelectorAll("[data-load]")) {
      const load = this.metric(line.dataset.load)?.value ?? 0;
      line.style.strokeWidth = 2 + (8 * Math.min(load, 100)) / 100;
    }
  }

  showMetrics() {
    const rows = Object.keys(this.run.metrics).flatMap((name) => {
      const metric = this.metric(name);
      return metric && matches(name, this.filter("metrics")) ? [{ name, ...metric }] : [];
    });
    this.tables.metrics.show(rows);
  }
}
