// Which points a chart over the sweep has, and which point a choice leads to. `sweeps.py` says the same for figures.

function isNumeric(values) {
  return values.every((value) => typeof value === "number");
}

// Which path gets the colours: the first other one that a chart can show with few enough lines.
function seriesFor(swept, x) {
  const others = Object.keys(swept).filter((path) => path !== x && swept[path].length > 1);
  return others.find((path) => !isNumeric(swept[path])) ?? others[0] ?? "";
}

// Of the points with this value the one that differs least from the one that was chosen.
function nearestPoint(points, current, path, value) {
  const at = points[current].at;
  const same = (point) => Object.keys(at).filter((key) => key !== path && point.at[key] === at[key]).length;
  const candidates = points.map((point, i) => [i, point]).filter(([, point]) => point.at[path] === value);
  return candidates.reduce((best, candidate) => (same(candidate[1]) > same(best[1]) ? candidate : best))[0];
}

// The points of a chart: other paths stay as they are at the chosen point, but only as many of them as it takes to have one point
// in each place. (Paths that go in step with x need not stay.)
function sweepRows(run, name, x, series, chosen) {
  const metric = run.metrics[name];
  const at = run.points[chosen].at;
  const placeOf = (point) => `${point.at[x]}/${series ? point.at[series] : ""}`;
  let points = run.points.map((point, i) => [i, point]);
  const fixed = [];
  for (const path of Object.keys(run.swept)) {
    const places = points.map(([, point]) => placeOf(point));
    if (new Set(places).size === places.length) break;
    if (path === x || path === series) continue;
    const kept = points.filter(([, point]) => point.at[path] === at[path]);
    if (kept.length === points.length) continue;
    points = kept;
    fixed.push(path);
  }
  const rows = points
    .filter(([i]) => metric && metric.value[i] !== null)
    .map(([i, point]) => {
      const value = metric.value[i];
      const spread = metric.ci95?.[i] ?? 0;
      return { point: point.number, x: point.at[x], series: series ? String(point.at[series]) : "", value, ci95: spread, low: value - spread, high: value + spread };
    });
  return { rows, fixed };
}
