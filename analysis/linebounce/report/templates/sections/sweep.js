// A metric over the sweep; other sections use its functions, too.

class SweepSection {
  constructor(view) {
    this.view = view;
    const { run } = view;
    this.axes = run.sweep.default && { ...run.sweep.default };
    if (!this.axes) return; // no metric has values at two or more points
    const paths = Object.keys(run.swept);
    const names = Object.keys(run.metrics).filter((name) => run.metrics[name].value.filter((value) => value !== null).length > 1);
    const choices = { metric: names, x: paths, series: paths };
    for (const [axis, values] of Object.entries(choices)) {
      const select = view.find(`[data-sweep="${axis}"]`);
      const none = axis === "series" ? [["", "none"]] : [];
      fillSelect(select, [...none, ...values.map((value) => [value, run.sweep.words[value] ?? value])], this.axes[axis]);
      select.addEventListener("change", () => {
        this.axes[axis] = select.value;
        this.show();
      });
    }
  }

  show() {
    if (!this.axes) return;
    const rows = drawSweep(this.view, "sweep", this.axes);
    const { view } = this;
    const options = { choose: (row) => view.choose(view.placeOf(row.point)), isChosen: (row) => row.point === view.number };
    view.table("sweep", sweepColumns(view.run, this.axes, rows), options).show(rows);
  }
}

function sweepColumns(run, { metric, x, series }, rows) {
  const words = sweepWords(run, metric, x, series);
  const columns = [
    { key: "x", label: words.x },
    { key: "series", label: words.series },
    { key: "value", label: words.y, number: true, text: (row) => numberText(row.value, 6) },
    { key: "ci95", label: "± 95 %", number: true, text: (row) => numberText(row.ci95, 3) },
  ];
  return columns.filter(({ key }) => (key !== "series" || series) && (key !== "ci95" || rows.some((row) => row.ci95)));
}

// The axes' titles and the kind of the x axis, as words_of() in sweeps.py computes them.
function sweepWords({ metrics, sweep }, name, x, series) {
  return { x: sweep.words[x], series: sweep.words[series] ?? " ", y: metrics[name]?.axis ?? name, x_scale: sweep.x_scale[x] };
}

// Draws a metric over a swept path, and writes beside the figure which paths are fixed at the chosen point's values. Returns
// the rows.
function drawSweep(view, place, { metric: name, x, series }) {
  const { run } = view;
  const metric = run.metrics[name];
  const at = run.points[view.point].at;
  const held = run.sweep.held[x][series];
  const rows = run.points.flatMap((point, i) => {
    const value = metric?.value[i] ?? null;
    if (value === null || held.some((path) => point.at[path] !== at[path])) return [];
    return [{ point: point.number, x: point.at[x], series: series ? String(point.at[series]) : "", value, ci95: metric.ci95?.[i] ?? 0 }];
  });
  const words = sweepWords(run, name, x, series);
  view.draw(place, "sweep", rows, { chart: run.sweep.numeric.includes(x) ? "sweep_line" : "sweep_bars", words, choosable: true });
  view.find(`[data-held="${place}"]`).textContent = held.length ? `At ${held.map((path) => `${run.sweep.words[path]} = ${at[path]}`).join(", ")}.` : "";
  return rows;
}
