// The drawn machine of the chosen point: how busy its buses and links are, and whom each node's lines serve.

class MachineSection {
  constructor(view) {
    this.view = view;
  }

  show() {
    const { view } = this;
    for (const machine of view.article.querySelectorAll("[data-machine]")) {
      machine.hidden = Number(machine.dataset.machine) !== view.run.machine_of_point[view.point];
    }
    for (const text of view.article.querySelectorAll("[data-metric]")) {
      const metric = view.metric(text.dataset.metric);
      text.textContent = metric ? `${text.dataset.before}${numberText(metric.value, 3)} %` : "";
    }
    for (const text of view.article.querySelectorAll("[data-home]")) {
      const [home] = rowsWhere(view.run.homes, { point: view.number, home: Number(text.dataset.home) });
      const misses = home ? `${shortText(home.misses)} misses on its lines` : "no miss on its lines";
      const remote = home ? `${numberText(home.remote_pct, 3)} % from other nodes` : "";
      text.textContent = text.dataset.of === "misses" ? misses : remote;
    }
    for (const line of view.article.querySelectorAll("[data-load]")) {
      const load = view.metric(line.dataset.load)?.value ?? 0;
      line.style.strokeWidth = 2 + (8 * Math.min(load, 100)) / 100;
    }
  }
}
