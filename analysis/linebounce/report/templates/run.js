// One run of the page: its chosen point, and the sections that show the point. Each section is a class in sections/NAME.js.
// Its show() is called whenever a point is chosen. A section without data is not on the page.

const SECTIONS = {
  paper: PaperSection,
  sweep: SweepSection,
  matrix: MatrixSection,
  measured: MeasuredSection,
  series: SeriesSection,
  cpi: CpiSection,
  latency: LatencySection,
  locks: LocksSection,
  lines: LinesSection,
  ownership: OwnershipSection,
  subsystems: SubsystemsSection,
  machine: MachineSection,
  metrics: MetricsSection,
  configuration: ConfigurationSection,
};

class RunView {
  constructor(article, run, page) {
    this.article = article;
    this.run = run;
    this.page = page;
    this.point = this.placeOf(this.linkedPoint() ?? run.first_shown);
    this.sections = Object.entries(SECTIONS).flatMap(([name, Section]) => (this.find(`[data-section="${name}"]`) ? [new Section(this)] : []));
    this.wirePoints();
    this.show();
  }

  show() {
    this.showChoice();
    this.showKeyFigures();
    for (const section of this.sections) section.show();
  }

  // ---- for sections ----

  find(selector) {
    return this.article.querySelector(selector);
  }

  get number() {
    return this.run.points[this.point].number;
  }

  // A metric of the chosen point, or of the point with the given index.
  metric(name, point = this.point) {
    const metric = this.run.metrics[name];
    const value = metric?.value[point];
    return value === null || value === undefined ? null : { value, unit: metric.unit, ci95: metric.ci95?.[point] ?? null };
  }

  table(name, columns, options) {
    return new SortTable(this.find(`[data-table="${name}"]`), columns, options);
  }

  // Draws a chart in the figure named `place`. chart: the chart's name, if it is not `place`. choosable: each row is a point,
  // and a click on its mark chooses that point.
  draw(place, table, rows, { chart = place, words = {}, choosable = false } = {}) {
    const choose = choosable ? (number) => this.choose(this.placeOf(number)) : null;
    this.page.charts.show(this.find(`figure[data-chart="${place}"]`), chart, table, rows, words, choose);
  }

  onFilter(name, show) {
    this.find(`[data-filter="${name}"]`).addEventListener("input", show);
  }

  filter(name) {
    return this.find(`[data-filter="${name}"]`).value.trim();
  }

  // ---- the chosen point ----

  placeOf(number) {
    return this.run.points.findIndex((point) => point.number === number);
  }

  // The number of the point in the page's address, which choose() wrote. Undefined if the address has none, or names another
  // run.
  linkedPoint() {
    const number = Number(new URLSearchParams(location.hash.slice(1)).get(this.linkKey));
    return location.hash.includes(`${this.linkKey}=`) && this.placeOf(number) >= 0 ? number : undefined;
  }

  get linkKey() {
    return `point${this.article.dataset.run === "0" ? "" : this.article.dataset.run}`;
  }

  // Chooses a point by its index, and writes its number into the address, so that the address can be shared.
  choose(place) {
    if (place < 0) return;
    this.point = place;
    history.replaceState(null, "", `#${this.linkKey}=${this.number}`);
    this.show();
  }

  wirePoints() {
    const form = this.find("[data-points]");
    if (!form) return;
    form.addEventListener("submit", (event) => event.preventDefault());
    for (const select of form.querySelectorAll("select")) {
      const path = select.dataset.path;
      [...select.options].forEach((option, i) => (option.value = String(i)));
      select.addEventListener("change", () => {
        this.choose(this.nearestPoint(path, this.run.swept[path][Number(select.value)]));
      });
    }
  }

  // Of the points where `path` has this value, the one with the fewest settings that differ from the chosen point's.
  nearestPoint(path, value) {
    const { points } = this.run;
    const at = points[this.point].at;
    const same = (i) => Object.keys(at).filter((key) => key !== path && points[i].at[key] === at[key]).length;
    const candidates = [...points.keys()].filter((i) => points[i].at[path] === value);
    return candidates.reduce((best, candidate) => (same(candidate) > same(best) ? candidate : best));
  }

  showChoice() {
    const form = this.find("[data-points]");
    if (!form) return;
    const { at, failed } = this.run.points[this.point];
    for (const select of form.querySelectorAll("select")) select.value = String(this.run.swept[select.dataset.path].indexOf(at[select.dataset.path]));
    form.querySelector("output").textContent = `point ${this.number} (0 to ${this.run.points.length - 1})${failed ? ", failed" : ""}`;
  }

  showKeyFigures() {
    const tiles = this.run.key_figures.flatMap(([name, label]) => {
      const metric = this.metric(name);
      return metric ? [keyFigure(name, label, metric)] : [];
    });
    this.find("[data-key-figures]").replaceChildren(element("dl", {}, ...tiles));
  }
}

function keyFigure(name, label, { value, unit, ci95 }) {
  const shown = unit === "1/s" ? "/s" : unitText(unit);
  const number = element("dd", {}, shortText(value), element("small", {}, ` ${shown}`));
  const spread = ci95 ? element("dd", { class: "spread" }, ` ± ${shortText(Number(ci95.toPrecision(2)), value)}`) : null;
  return element("div", { title: name }, element("dt", {}, ...breakable(label)), number, spread);
}
