// Core-to-core latencies.

class MatrixSection {
  constructor(view) {
    this.view = view;
    this.chosen = {};
    this.table = view.table("matrix", MATRIX_COLUMNS);
  }

  show() {
    const { view, chosen } = this;
    const at = { point: view.number };
    for (const column of ["state", "home_node"]) {
      const values = distinct(view.run.matrix, column, at);
      if (!values.includes(chosen[column])) chosen[column] = values[0];
      const label = (value) => (column === "home_node" ? `home on node ${value}` : value);
      chooser(view.find(`[data-choice="${column}"]`), values.map((value) => [value, label(value)]), chosen[column], (value) => {
        chosen[column] = value;
        this.show();
      });
    }
    const rows = rowsWhere(view.run.matrix, { ...at, ...chosen });
    view.draw("matrix", "matrix", rows);
    this.table.show(rows);
  }
}
