// Miss latencies by source, for the kernel, the user, or both.

class LatencySection {
  constructor(view) {
    this.view = view;
    this.table = view.table("latency", LATENCY_COLUMNS);
    this.kinds = distinct(view.run.latency_summary, "kind").sort();
    this.kind = this.kinds[0]; // "all" is first
  }

  show() {
    const { view } = this;
    const { run } = view;
    chooser(view.find('[data-choice="kind"]'), this.kinds.map((kind) => [kind, kind === "all" ? "kernel and user" : kind]), this.kind, (kind) => {
      this.kind = kind;
      this.show();
    });
    const wanted = { point: view.number, kind: this.kind };
    const bins = rowsWhere(run.latency_bins, wanted);
    const one = view.find("[data-one-latency]");
    one.hidden = bins.length !== 1;
    if (bins.length === 1) one.textContent = `All ${numberText(bins[0].count)} misses are ${pageLabels[bins[0].source]} and take ${nanosecondsText(bins[0].low_ns)} to ${nanosecondsText(bins[0].high_ns)}.`;
    view.draw("latency_histogram", "latency_bins", bins.length === 1 ? [] : bins);
    const curves = rowsWhere(run.latency_curves, wanted);
    view.draw("latency_cdf", "latency_curves", curves);
    const tail = curves.filter((row) => row.more_pct !== null);
    const hasTail = tail.some((row) => row.more_pct < 100); // misses with equal latencies have no tail
    view.draw("latency_tail", "latency_curves", hasTail ? tail : []);
    this.table.show(rowsWhere(run.latency_summary, wanted));
  }
}
