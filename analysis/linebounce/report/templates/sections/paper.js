// A paper's figures beside the simulated ones.

class PaperSection {
  constructor(view) {
    this.view = view;
    this.table = view.table("paper", PAPER_COLUMNS, { key: (row) => row.id });
    this.offOnly = view.find("[data-off-only]");
    view.onFilter("paper", () => this.show());
    this.offOnly.addEventListener("change", () => this.show());
  }

  show() {
    const { view } = this;
    const filter = view.filter("paper");
    const rows = view.run.paper.filter(
      (row) => matches(`${row.id} ${row.metric} ${row.kind} ${row.at}`, filter) && (!this.offOnly.checked || row.ok === false)
    );
    this.table.show(rows);
    for (const kind of ["ratios", "points"]) view.draw(`paper_${kind}`, `paper_${kind}`, rows.filter((row) => row.chart === kind));
  }
}
