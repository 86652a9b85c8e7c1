// The columns of the page's tables.

const CONTENTION_COLUMNS = [
  ["con_pct", "CON: acquisitions that wait (%)"],
  ["util_pct", "UTIL: time it is held (%)"],
  ["wait_mean_us", "mean wait (µs)"],
  ["hold_mean_us", "mean hold (µs)"],
  ["cpu_pct", "CPU time spent waiting (%)"],
  ["total", "acquisitions"],
];

const code = (name) => element("code", {}, ...breakable(name));
const sourceLabel = (name, labels) => element("span", { class: `source ${name}` }, labels[name] ?? name);
const percent = (key, label, title) => ({ key, label, title, number: true, text: (row) => numberText(row[key], 3) });
const share = (key, label, title) => ({
  key,
  label,
  title,
  number: true,
  html: (row) => element("span", { class: "bar", style: `--part: ${(100 * row[key]) / (row.most || 1)}%` }, numberText(row[key], 3)),
});

const VERDICTS = { true: ["yes", "✓ within"], false: ["no", "✗ off"], null: ["none", "not scored"] };
const seriesText = (values) => values.map((value) => numberText(value)).join(" → ");

// The error of a row in percentage points or percent. The column sorts by it.
function errorOf(row) {
  if (row.chart === "points") return row.shown;
  return typeof row.ratio === "number" ? 100 * (row.ratio - 1) : null;
}

function errorText(row) {
  const error = errorOf(row);
  return error === null ? "" : `${signed(error)} ${row.chart === "points" ? "points" : "%"}`;
}

const signed = (value) => `${value < 0 ? "−" : "+"}${numberText(Math.abs(value), 3)}`;

const PAPER_COLUMNS = [
  { key: "id", label: "figure", html: (row) => element("span", { title: row.source }, code(row.id), row.at ? element("small", {}, ...breakable(row.at)) : null) },
  { key: "paper", label: "paper", number: true, text: (row) => ("series" in row ? row.expected : `${numberText(row.paper)} ${unitText(row.unit)}`) },
  { key: "simulated", label: "simulated", number: true, text: (row) => ("series" in row ? `${seriesText(row.series)} ${unitText(row.unit)}` : `${numberText(row.simulated)} ${unitText(row.unit)}`) },
  { key: "ratio", label: "error", title: "simulated / paper - 1, or the difference of shares", number: true, sort: errorOf, text: errorText },
  { key: "tolerance", label: "tolerance", number: true, text: (row) => row.tolerance },
  { key: "kind", label: "kind", html: (row) => element("span", { class: `grade ${row.kind.replace(" ", "_")}` }, row.kind) },
  { key: "ok", label: "verdict", sort: (row) => String(row.ok), html: (row) => element("span", { class: `verdict ${VERDICTS[row.ok][0]}` }, VERDICTS[row.ok][1]) },
];

const MATRIX_COLUMNS = [
  { key: "from_cpu", label: "CPU that had the line", number: true },
  { key: "to_cpu", label: "CPU that pays", number: true },
  { key: "latency_ns", label: "latency, ns", number: true },
];

const LATENCY_COLUMNS = [
  { key: "source", label: "supplied by", sort: (row) => (row.source in pageLabels ? `m${Object.keys(pageLabels).indexOf(row.source)}` : row.source), html: (row) => sourceLabel(row.source, pageLabels) },
  { key: "count", label: "accesses", number: true },
  { key: "mean", label: "mean, ns", number: true },
  { key: "p50", label: "median", number: true },
  { key: "p90", label: "90 %", number: true },
  { key: "p99", label: "99 %", number: true },
  { key: "p99.9", label: "99.9 %", number: true },
  { key: "max", label: "longest", number: true },
  { ...percent("queueing_pct", "queueing %", "of the mean: waits for resources in use; kernel and user together"), text: (row) => (row.queueing_pct === null ? "" : numberText(row.queueing_pct, 3)) },
  { key: "waits_for", label: "mostly for", text: (row) => row.waits_for ?? "" },
];

const CPI_COLUMNS = [
  { key: "function", label: "function", html: (row) => code(row.function) },
  share("share_pct", "time %", "of all CPUs' time"),
  { key: "instructions", label: "instructions", number: true },
  { key: "cpi", label: "CPI", title: "cycles / instructions; sleep counts, too", number: true },
  { key: "most_part", label: "most of it", text: (row) => `${numberText(row.most_pct, 3)} % ${pagePartLabels[row.most_part]}` },
];

const LOCK_COLUMNS = [
  { key: "lock", label: "lock", html: (row) => code(row.call_site || row.lock) },
  percent("util_pct", "UTIL %", "time in which it is held; of several locks of one name, the mean one's"),
  percent("con_pct", "CON %", "acquisitions that had to wait"),
  { key: "hold_mean_us", label: "hold, µs", number: true },
  { key: "hold_max_us", label: "longest", number: true },
  { key: "wait_mean_us", label: "wait, µs", number: true },
  { key: "wait_max_us", label: "longest", number: true },
  percent("cpu_pct", "CPU %", "of all CPUs' time: waiting for it"),
  { key: "total", label: "total", number: true },
  { key: "nowait", label: "at once", number: true },
  { key: "spin", label: "waited", number: true },
  { key: "rjct", label: "rejected", number: true },
  { key: "miss_mean_ns", label: "miss, ns", title: "mean latency of misses on the lock's words", number: true, text: (row) => (row.misses ? numberText(row.miss_mean_ns, 3) : "") },
  { key: "queueing_mean_ns", label: "of it queueing", title: "waits for resources in use; the rest is travel", number: true, text: (row) => (row.misses ? numberText(row.queueing_mean_ns, 3) : "") },
];

const LINE_COLUMNS = [
  { key: "object", label: "line", html: (row) => element("button", { type: "button", class: "line-name", "data-line": row.key }, code(row.object.includes(" objects") ? row.structure : row.object), element("small", {}, ...breakable(`${row.object.includes(" objects") ? row.object : row.structure}, line ${row.line}`))) },
  { key: "latency", label: "latency", number: true, text: (row) => nanosecondsText(row.latency) },
  share("share_pct", "share %", "of all misses' latency"),
  { key: "misses", label: "misses", number: true },
  percent("remote_pct", "remote %", "misses of CPUs that are on another node than the line's home"),
  { key: "home", label: "home", number: true, text: (row) => row.home },
  percent("queueing_pct", "queueing %", "of the line's latency: waits for resources in use; the rest is travel"),
];

const USE_COLUMNS = [
  { key: "offset", label: "at", title: "offset in the line", number: true },
  { key: "field", label: "field", html: (row) => code(row.field) },
  { key: "function", label: "function", html: (row) => code(row.function) },
  { key: "access", label: "access", html: (row) => element("span", { class: `access ${row.access}` }, row.access) },
  { key: "source", label: "supplied by", html: (row) => sourceLabel(row.source, pageLabels) },
  { key: "count", label: "misses", number: true },
  percent("remote_pct", "remote %"),
  { key: "mean", label: "mean", number: true, text: (row) => nanosecondsText(row.mean) },
  { key: "latency", label: "in all", number: true, text: (row) => nanosecondsText(row.latency) },
];

const METRIC_COLUMNS = [
  { key: "name", label: "metric", html: (row) => code(row.name) },
  { key: "value", label: "value", number: true, text: (row) => numberText(row.value, 6) },
  { key: "ci95", label: "± 95 %", number: true, text: (row) => (row.ci95 === null ? "" : numberText(row.ci95, 3)) },
  { key: "unit", label: "unit", text: (row) => unitText(row.unit) },
];
