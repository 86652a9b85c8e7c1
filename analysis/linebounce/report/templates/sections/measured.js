// A measured matrix beside the simulated one.

class MeasuredSection {
  constructor(view) {
    this.view = view;
  }

  show() {
    const { view } = this;
    const rows = rowsWhere(view.run.measured, { point: view.number });
    const words = view.run.measured_words[String(view.number)] ?? {};
    for (const name of ["measured", "simulated", "difference"]) view.draw(name, name, rows, { words });
    view.find("[data-measured-text]").textContent = words.text ?? "";
  }
}
