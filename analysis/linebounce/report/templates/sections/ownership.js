// Which CPUs hold a line over time, for a run with a timeline.

class OwnershipSection {
  constructor(view) {
    this.view = view;
    this.line = view.find("[data-ownership-line]");
    this.part = view.find("[data-ownership-part]");
    this.from = view.find("[data-ownership-from]");
    this.line.addEventListener("change", () => this.showLine());
    for (const control of [this.part, this.from]) control.addEventListener("change", () => this.draw());
  }

  show() {
    const { view } = this;
    this.lines = rowsWhere(view.run.ownership.lines, { point: view.number });
    view.find("[data-ownership]").hidden = !this.lines.length;
    view.find("[data-ownership-none]").hidden = this.lines.length > 0;
    fillSelect(this.line, this.lines.map((line, i) => [String(i), `${line.object}, line ${line.line}: ${numberText(line.changes)} changes`]), "0");
    this.showLine();
  }

  // Shows a line's time from its start, in the longest part whose spans a reader can tell apart.
  showLine() {
    const line = this.lines[Number(this.line.value)];
    if (!line) return;
    this.spans = rowsWhere(this.view.run.ownership.spans, { point: this.view.number, object: line.object, line: line.line });
    this.part.value = String(line.parts);
    this.from.value = "0";
    const cut = line.shown_spans < line.of_spans ? ` The first ${numberText(line.shown_spans)} of ${numberText(line.of_spans)} spans are here.` : "";
    this.view.find("[data-ownership-facts]").textContent = `Changed hands ${numberText(line.changes)} times among ${numberText(line.cpus)} CPUs.${cut}`;
    this.draw();
  }

  draw() {
    const parts = Number(this.part.value);
    this.view.find("[data-ownership-move]").hidden = parts === 1;
    this.from.max = parts - 1;
    this.view.draw("ownership", "ownership", partOf(this.spans, parts, Number(this.from.value)));
  }
}

// The spans in one of `parts` equal parts of a line's time, cut at the part's ends. ownership.py does the same for figures.
function partOf(spans, parts, part) {
  const first = spans.reduce((least, span) => Math.min(least, span.from_us), Infinity);
  const last = spans.reduce((most, span) => Math.max(most, span.to_us), 0);
  const begin = first + ((last - first) * part) / parts;
  const end = begin + (last - first) / parts;
  const inside = spans.filter((span) => span.to_us > begin && span.from_us < end);
  return inside.map((span) => ({ ...span, from_us: Math.max(span.from_us, begin), to_us: Math.min(span.to_us, end) }));
}
