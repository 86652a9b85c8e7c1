// Locks with their call sites, and one lock over the number of CPUs.

class LocksSection {
  constructor(view) {
    this.view = view;
    this.callSites = [];
    this.table = view.table("locks", LOCK_COLUMNS, {
      sorted: { key: "cpu_pct", down: true },
      key: (row) => row.lock,
      open: (row) => (row.call_site ? [] : this.sitesOf(row)),
      limit: 40,
    });
    view.onFilter("locks", () => this.showTable());
    this.wireContention();
  }

  show() {
    this.showTable();
    this.showContention();
  }

  sitesOf(row) {
    return this.callSites.filter((site) => site.lock === row.lock);
  }

  showTable() {
    const rows = rowsWhere(this.view.run.locks, { point: this.view.number });
    this.callSites = rows.filter((row) => row.call_site);
    const named = (row) => [row.lock, ...this.sitesOf(row).map((site) => site.call_site)].join(" ");
    this.table.show(rows.filter((row) => !row.call_site && matches(named(row), this.view.filter("locks"))));
  }

  wireContention() {
    const { run } = this.view;
    this.contention = this.view.find("[data-contention]");
    if (!(run.swept["machine.cpus"]?.length > 1)) return;
    const worst = new Map();
    const metricNames = new Map();
    for (const { lock, metric_name, cpu_pct } of rowsWhere(run.locks, { call_site: "" })) {
      worst.set(lock, Math.max(worst.get(lock) ?? 0, cpu_pct));
      metricNames.set(lock, metric_name);
    }
    const locks = [...worst].sort((a, b) => b[1] - a[1]).map(([lock]) => [metricNames.get(lock), lock]);
    this.contention.hidden = false;
    fillSelect(this.view.find("[data-contention-lock]"), locks, locks[0][0]);
    fillSelect(this.view.find("[data-contention-column]"), CONTENTION_COLUMNS, "con_pct");
    for (const select of this.contention.querySelectorAll("select")) select.addEventListener("change", () => this.showContention());
  }

  showContention() {
    if (this.contention.hidden) return;
    const lock = this.view.find("[data-contention-lock]").value;
    const metric = `locks.${lock}.${this.view.find("[data-contention-column]").value}`;
    drawSweep(this.view, "contention", { metric, x: "machine.cpus", series: this.view.run.sweep.cpus_series });
  }
}
