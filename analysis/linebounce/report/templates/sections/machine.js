// The machine of the chosen point, drawn: how busy its buses and links are, and which nodes use each node's lines.

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
    for (const text of view.article.querySelectorAll("[data-link]")) this.showLink(text);
    for (const line of view.article.querySelectorAll("[data-load]")) {
      line.style.strokeWidth = 2 + 8 * this.share(line.dataset.load);
    }
  }

  // Writes how busy a link is in one direction. A link without a bandwidth limit is never busy, so this writes its traffic.
  showLink(text) {
    const { link, before, title } = text.dataset;
    const busy = this.view.metric(`${link}.utilisation_pct`);
    const traffic = this.view.metric(`${link}.mb_per_s`);
    const share = busy && `${numberText(busy.value, 3)} %`;
    const carried = traffic && megabytesText(traffic.value);
    const shown = busy?.value > 0 ? share : (carried ?? share);
    text.textContent = shown ? before + shown : "";
    if (!shown) return;
    const words = [carried && `${carried} of headers and lines`, busy?.value > 0 && `busy ${share} of the time`];
    const told = document.createElementNS(text.namespaceURI, "title");
    told.textContent = `Link ${title}: ${words.filter(Boolean).join(", ") || "nothing"}`;
    text.append(told);
  }

  // From 0 to 1: how busy the busier direction of a link is. For links without a bandwidth limit, the traffic relative to the
  // link with the most.
  share(link) {
    const most = (column, links) => Math.max(0, ...links.map((name) => this.view.metric(`${name}.${column}`)?.value ?? 0));
    const bothWays = [link, link.replace(/(\d+)_(\d+)/, "$2_$1")];
    const busy = most("utilisation_pct", bothWays);
    if (busy > 0) return Math.min(busy, 100) / 100;
    const all = Object.keys(this.view.run.metrics).filter((name) => /^link\..*\.mb_per_s$/.test(name));
    const busiest = most("mb_per_s", all.map((name) => name.replace(/\.mb_per_s$/, "")));
    return busiest > 0 ? most("mb_per_s", bothWays) / busiest : 0;
  }
}
