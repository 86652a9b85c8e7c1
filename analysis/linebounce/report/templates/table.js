// A table whose columns sort and whose rows can be opened.
//
// columns: {key, label, text(row), number: true for right-aligned, title, html(row) for an element, sort(row)}
// options: sorted {key, down}, open(row) rows that are shown below an opened one, limit: how many rows before "more".

class SortTable {
  constructor(place, columns, options = {}) {
    this.place = place;
    this.columns = columns;
    this.options = options;
    this.sorted = options.sorted ?? null;
    this.limit = options.limit ?? Infinity;
    this.shown = this.limit;
    this.rows = [];
    this.opened = new Set();
  }

  show(rows) {
    this.rows = rows;
    this.shown = this.limit;
    this.draw();
  }

  draw() {
    const rows = this.inOrder();
    const body = element("tbody");
    for (const row of rows.slice(0, this.shown)) {
      body.append(this.line(row));
      if (this.opened.has(this.key(row))) body.append(...this.options.open(row).map((inner) => this.line(inner, true)));
    }
    const focused = this.place.contains(document.activeElement) ? document.activeElement.dataset.sort : null;
    this.place.replaceChildren(element("table", {}, this.head(), body));
    if (rows.length > this.shown) this.place.append(this.more(rows.length));
    if (!rows.length) this.place.append(element("p", { class: "empty" }, this.options.empty ?? "Nothing matches."));
    if (focused) this.place.querySelector(`[data-sort="${CSS.escape(focused)}"]`)?.focus();
  }

  key(row) {
    return this.options.key ? this.options.key(row) : row;
  }

  inOrder() {
    if (!this.sorted) return this.rows;
    const column = this.columns.find((candidate) => candidate.key === this.sorted.key);
    const value = column.sort ?? ((row) => row[column.key]);
    const sign = this.sorted.down ? -1 : 1;
    return [...this.rows].sort((a, b) => sign * compare(value(a), value(b)));
  }

  head() {
    const cells = this.columns.map((column) => {
      const active = this.sorted?.key === column.key;
      const state = active ? (this.sorted.down ? "descending" : "ascending") : "none";
      const button = element("button", { type: "button", "data-sort": column.key, title: column.title, onclick: () => this.sortBy(column) }, column.label);
      return element("th", { "aria-sort": state, class: column.number ? "number" : "", scope: "col" }, button);
    });
    return element("thead", {}, element("tr", {}, ...cells));
  }

  sortBy(column) {
    const again = this.sorted?.key === column.key;
    this.sorted = { key: column.key, down: again ? !this.sorted.down : Boolean(column.number) };
    this.draw();
  }

  line(row, inner = false) {
    const cells = this.columns.map((column, i) => {
      const content = column.html ? column.html(row) : column.text ? column.text(row) : column.number ? numberText(row[column.key]) : row[column.key];
      const cell = element("td", { class: column.number ? "number" : column.kind ?? "" }, content ?? "");
      if (i === 0 && this.options.open && !inner) cell.prepend(this.opener(row));
      return cell;
    });
    const choose = this.options.choose;
    const chosen = this.options.isChosen?.(row);
    return element("tr", { class: inner ? "inner" : choose ? "choosable" : "", "aria-current": chosen ? "true" : null, onclick: choose ? () => choose(row) : () => {} }, ...cells);
  }

  opener(row) {
    const key = this.key(row);
    const isOpen = this.opened.has(key);
    if (!this.options.open(row).length) return element("span", { class: "opener" });
    const toggle = () => {
      if (isOpen) this.opened.delete(key);
      else this.opened.add(key);
      this.draw();
      this.place.querySelector(`[data-opens="${CSS.escape(key)}"]`)?.focus();
    };
    return element("button", { type: "button", class: "opener", "data-opens": key, "aria-expanded": String(isOpen), "aria-label": `${isOpen ? "Close" : "Open"} ${key}`, onclick: toggle }, isOpen ? "▾" : "▸");
  }

  more(all) {
    const show = () => {
      this.shown += this.limit * 4;
      this.draw();
    };
    return element("button", { type: "button", class: "more", onclick: show }, `More (${numberText(all - this.shown)} rows below)`);
  }
}

// Compares numbers by value and words alphabetically. A missing value is smaller than any other.
function compare(a, b) {
  if (a === b) return 0;
  if (a === null || a === undefined) return -1;
  if (b === null || b === undefined) return 1;
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

// Whether every word of the filter occurs in the text.
function matches(text, filter) {
  const lower = text.toLowerCase();
  return filter.toLowerCase().split(/\s+/).every((word) => lower.includes(word));
}
