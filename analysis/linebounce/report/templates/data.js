// The page's data: one compressed JSON document, unpacked when the page opens.

async function unpackData() {
  const text = document.getElementById("data").textContent;
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i); // Uint8Array.from() takes 0.1 s more for a megabyte
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// The rows of a table, stored as columns, in which these columns have these values.
function rowsWhere(columns, wanted) {
  const names = Object.keys(columns);
  const tests = Object.entries(wanted);
  const rows = [];
  const count = names.length ? columns[names[0]].length : 0;
  for (let i = 0; i < count; i++) {
    if (!tests.every(([name, value]) => columns[name][i] === value)) continue;
    rows.push(Object.fromEntries(names.map((name) => [name, columns[name][i]])));
  }
  return rows;
}

function distinct(columns, name, wanted = {}) {
  return [...new Set(rowsWhere(columns, wanted).map((row) => row[name]))];
}

const formats = new Map(); // significant digits, or null for all of an integer's -> how to write a number

function numberFormat(digits) {
  if (!formats.has(digits)) formats.set(digits, new Intl.NumberFormat("en-US", digits === null ? {} : { maximumSignificantDigits: digits }));
  return formats.get(digits);
}

// Formats numbers for readers: four digits, with thousands separators.
function numberText(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return numberFormat(null).format(value);
  if (value !== 0 && Math.abs(value) < 1e-5) return value.toExponential(2);
  return numberFormat(digits).format(value);
}

// A name that may wrap between its words, as _breakable() in page.py does; returns nodes for element().
function breakable(text) {
  return String(text).split(/(?<=[^\W_][._/=:-])(?=\w)/).flatMap((part, i) => (i ? [document.createElement("wbr"), part] : [part]));
}

// Units in readers' spelling.
function unitText(unit) {
  return unit === "us" ? "µs" : unit;
}

// A short form of a large figure: 1.16 M instead of 1,157,780. like: the figure whose prefix to use, if `value` is its
// interval.
function shortText(value, like = value) {
  const [size, prefix] = Math.abs(like) >= 1e6 ? [1e6, " M"] : Math.abs(like) >= 1e5 ? [1e3, " k"] : [1, ""];
  return `${numberText(value / size, 3)}${prefix}`;
}

function megabytesText(perSecond) {
  return perSecond < 1000 ? `${numberText(perSecond, 3)} MB/s` : `${numberText(perSecond / 1000, 3)} GB/s`;
}

function nanosecondsText(ns) {
  if (ns < 1000) return `${numberText(ns)} ns`;
  if (ns < 1e6) return `${numberText(ns / 1e3)} µs`;
  return `${numberText(ns / 1e6)} ms`;
}

// Makes an element: element("td", {class: "number"}, "text", otherElement).
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// A row of buttons, one of which is pressed. choices: pairs of value and label.
function chooser(place, choices, chosen, changed) {
  place.hidden = choices.length < 2;
  place.classList.add("segments");
  place.replaceChildren(
    ...choices.map(([value, label]) =>
      element("button", { type: "button", "aria-pressed": String(value === chosen), onclick: () => changed(value) }, label)
    )
  );
}

function fillSelect(select, choices, chosen) {
  select.replaceChildren(...choices.map(([value, label]) => element("option", { value, selected: value === chosen }, label)));
  select.value = chosen;
}
