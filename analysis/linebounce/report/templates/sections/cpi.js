// How the CPUs spent their cycles, by CPU and by function.

class CpiSection {
  constructor(view) {
    this.view = view;
    this.table = view.table("cpi", CPI_COLUMNS, { sorted: { key: "share_pct", down: true }, limit: 15 });
  }

  show() {
    const { view } = this;
    const { run, number } = view;
    view.draw("cpi_cpus", "cpi", rowsWhere(run.cpi, { point: number, of: "cpu" }));
    view.draw("cpi_functions", "cpi", rowsWhere(run.cpi, { point: number, of: "function" }));
    const functions = rowsWhere(run.cpi_functions, { point: number });
    const most = Math.max(...functions.map((row) => row.share_pct));
    this.table.show(functions.map((row) => ({ ...row, most })));
  }
}
