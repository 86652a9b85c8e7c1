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
      const label = (value) => (column === "state" ? (value === "all" ? "all states" : value) : value === null ? "all homes" : `home on node ${value}`);
      chooser(view.find(`[data-choice="${column}"]`), values.map((value) => [value, label(value)]), chosen[column], (value) => {
        chosen[column] = value;
        this.show();
      });
    }
    const rows = rowsWhere(view.run.matrix, { ...at, ...chosen });
    view.draw("matrix", "matrix", rows);
    const [means] = rowsWhere(view.run.matrix_means, { ...at, ...chosen });
    view.find("[data-matrix-means]").textContent = means ? meansText(means) : "";
    this.table.show(rows);
  }
}

function meansText({ same_node_ns: same, other_node_ns: other }) {
  const parts = [same !== null && `${numberText(same, 3)} ns within a node`, other !== null && `${numberText(other, 3)} ns between nodes`];
  return `Mean: ${parts.filter(Boolean).join(", ")}.`;
}
