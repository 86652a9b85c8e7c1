// Quantities over time, one below the other on a common time axis.

class SeriesSection {
  constructor(view) {
    this.view = view;
    this.place = view.find("[data-series]");
    this.figures = new Map();
  }

  show() {
    const { view } = this;
    const at = { point: view.number };
    const names = distinct(view.run.series, "name", at);
    const last = Math.max(...rowsWhere(view.run.series, at).map((row) => row.time_s));
    for (const [name, figure] of this.figures) if (!names.includes(name)) figure.hidden = true;
    for (const name of names) {
      if (!this.figures.has(name)) {
        const figure = element("figure", { "data-chart": `series ${name}`, "data-describe": `${name} over time` });
        this.place.append(figure);
        this.figures.set(name, figure);
      }
      view.page.charts.show(this.figures.get(name), "series", "series", rowsWhere(view.run.series, { ...at, name }), { name, last });
    }
  }
}
