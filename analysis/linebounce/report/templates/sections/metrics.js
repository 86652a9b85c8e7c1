// Every metric of the chosen point.

class MetricsSection {
  constructor(view) {
    this.view = view;
    const columns = view.run.seeds > 1 ? METRIC_COLUMNS : METRIC_COLUMNS.filter((column) => column.key !== "ci95");
    this.table = view.table("metrics", columns, { sorted: { key: "name", down: false }, limit: 60 });
    view.onFilter("metrics", () => this.show());
  }

  show() {
    const { view } = this;
    const filter = view.filter("metrics");
    const rows = Object.keys(view.run.metrics).flatMap((name) => {
      const metric = view.metric(name);
      return metric && matches(name, filter) ? [{ name, ...metric }] : [];
    });
    this.table.show(rows);
  }
}
