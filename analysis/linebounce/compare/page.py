"""Writes a comparison as one self-contained HTML file."""

from collections.abc import Sequence

from jinja2 import Environment

from linebounce.compare.answer import answers_alone, differences, pair_answers
from linebounce.compare.changes import Comparison, Hit
from linebounce.compare.overlay import anchor_of, overlay
from linebounce.compare.points import points_of
from linebounce.compare.rows import Row, change_text, hit_text, interval_note, notes_of, run_names
from linebounce.compare.selection import headline_rows
from linebounce.page_policy import page_policy
from linebounce.quantity import quantity
from linebounce.results import Results
from linebounce.visible import finalized

_TEMPLATE = """\
{% macro table(rows, swept, verdicts) %}
<div class="wide" tabindex="0"><table>
<thead><tr><th scope="col">metric</th>{% if swept %}<th scope="col" class="text">point</th>{% endif %}
<th scope="col">{{ base.called }}</th>
{%- for run in runs %}<th scope="col">{{ run.called }}</th><th scope="col">change</th>
{%- if verdicts %}<th scope="col" class="text">verdict</th>{% endif %}{% endfor %}</tr></thead>
<tbody>
{% for row in rows %}<tr{% if row.chance and not verdicts %} class="chance"{% endif %}><td>{{ row.metric }}</td>
{%- if swept %}<td class="text point">{{ row.title }}</td>{% endif %}<td>{{ row.base }}</td>
{%- for value, change, verdict in row.changes %}<td>{{ value }}</td><td>{{ change }}</td>
{%- if verdicts %}<td class="text {{ verdict }}">{{ verdict }}</td>{% endif %}{% endfor %}</tr>
{% endfor %}</tbody>
</table></div>
{% endmacro -%}
{% macro lines(point) %}
<div class="wide" tabindex="0"><table>
<thead><tr><th scope="col">field</th>
{%- for what in ("misses", "mean", "in all") %}{% for name in names %}
<th scope="col">{{ what }}, {{ name }}</th>{% endfor %}{% endfor %}
{%- for run in runs %}<th scope="col">{{ run.called }}: change</th>{% endfor %}</tr></thead>
<tbody>
{% for line in point.lines %}<tr><td>{{ line.name }}</td>
{%- for figures in (line.misses, line.means, line.totals, line.changes) %}{% for figure in figures -%}
<td>{{ figure }}</td>{% endfor %}{% endfor %}</tr>
{% endfor %}</tbody>
</table></div>
{% endmacro -%}
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{{ policy }}">
<title>{{ base.title }}: compared</title>
<style>
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 75rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h2 { margin: 2rem 0 .5rem; font-size: 1.2rem; }
.wide { overflow: auto; max-height: 90vh; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .25rem .6rem; text-align: right; white-space: nowrap; }
tr { border-bottom: 1px solid color-mix(in srgb, currentcolor 15%, transparent); }
th:first-child, td:first-child, .text { text-align: left; }
td:first-child, td.point { white-space: normal; overflow-wrap: anywhere; min-width: 12rem; }
td { font-variant-numeric: tabular-nums; }
thead th { position: sticky; top: 0; background: Canvas; }
.chance td { opacity: .6; }
.better { color: light-dark(#00704f, #4fc79a); }
.worse { color: light-dark(#b04300, #f0803c); }
.charts { display: flex; flex-wrap: wrap; gap: 1rem; }
.charts figure { flex: 1 1 26rem; min-width: 0; }
figure { margin: .5rem 0; background: white; color: black; border-radius: .5rem; max-width: 60rem; break-inside: avoid; }
figure svg { display: block; width: 100%; height: auto; }
figcaption, figure p { padding: .6rem 1rem 0; font-weight: 600; }
figure p { padding-bottom: .6rem; font-weight: 400; }
nav { display: flex; flex-wrap: wrap; gap: .3rem .8rem; }
/* One point is shown: the one in the address, or the one that the answer is about. */
.of-point { display: none; }
.of-point:target, body:not(:has(.of-point:target)) .of-point.judged { display: block; }
.of-point:focus { outline: none; }
.failed { border-left: .3rem solid #c62828; padding: .3rem .8rem; }
@media print {
  body { margin: 0; padding: 0; }
  .wide { max-height: none; overflow: visible; }
  .wide table { font-size: 7.5pt; }
  th, td { padding: .15rem .3rem; }
  th { white-space: normal; }
  td:first-child, td.point { min-width: 0; }
  .charts { display: block; }
  figure svg { max-height: 10cm; }
  nav, details:not([open]) { display: none; }
}
</style>
</head>
<body>
<h1>{{ base.title }}</h1>
{% for answer in answers %}<p><strong>{{ answer.text }}</strong><br>{{ answer.called }} differs in {{ answer.differences }}.</p>
{% endfor %}{% for name, text in alone %}<p>{{ name }} alone: {{ text }}</p>
{% endfor %}<p>{% for run in [base] + runs %}{{ run.called }}: <code>{{ run.name }}</code> ({{ run.experiment }} on
{{ run.machine }}{{ run.place }}){% if not loop.last %}<br>
{% endif %}{% endfor %}</p>
{% if failed %}<section class="failed"><h2>Failed</h2>
<ul>{% for text in failed %}<li>{{ text }}</li>{% endfor %}</ul></section>{% endif %}
{% if charts %}<div class="charts">{% for caption, chart in charts %}<figure>
<figcaption>{{ caption }}</figcaption>{{ chart }}</figure>
{% endfor %}</div>{% endif %}
{% if points | length > 1 %}<h2>One point</h2>
<nav aria-label="Points">{% for point in points %}<a href="#{{ point.anchor }}">{{ point.title }}</a>
{% endfor %}</nav>{% endif %}
{% for point in points %}<section class="of-point{{ ' judged' if point.judged }}" id="{{ point.anchor }}" tabindex="-1">
{% if points | length > 1 %}<h2>{{ point.title }}</h2>{% endif %}
{% if point.headlines %}{{ table(point.headlines, false, true) }}{% endif %}
{% if point.histogram %}<figure><figcaption>Misses by latency</figcaption>{{ point.histogram }}</figure>{% endif %}
{% if point.lines %}<h2>Lines whose misses differ most</h2>
<p>Counts and times of the whole measured time; hits are not counted.</p>
{{ lines(point) }}{% endif %}
</section>
{% endfor %}{% for note in notes %}<p>{{ note }}</p>{% endfor %}
{% if explained %}<p>{{ explained }}.</p>
{% endif %}{% if headlines %}<h2>Headlines at every point</h2>
{{ table(headlines, swept, true) }}
{% endif %}<details><summary>All other metrics, the largest changes first, those that chance explains last</summary>
{{ table(others, swept, false) }}
</details>
</body>
</html>
"""


def make_page(comparisons: Sequence[Comparison], rows: Sequence[Row], hits: Sequence[Hit]) -> str:
    """`rows`: from rows_of(). The page shows all of them, the headlines first."""
    base = comparisons[0].base
    names = run_names(comparisons)
    points = points_of(comparisons, rows)
    swept = len(base.points) > 1
    template = Environment(autoescape=True, finalize=finalized).from_string(_TEMPLATE)
    return template.render(
        policy=page_policy(),
        names=names,
        base=_run(base, names[0]),
        runs=[_run(comparison.other, name) for name, comparison in zip(names[1:], comparisons, strict=True)],
        answers=[
            {
                "called": name,
                "text": text,
                "differences": ", ".join(differences(base, comparison.other)) or "nothing that the configuration says",
            }
            for name, text, comparison in zip(names[1:], pair_answers(comparisons), comparisons, strict=True)
        ],
        alone=answers_alone(comparisons),
        charts=overlay(comparisons, [point.number for point in points]),
        points=[
            vars(point) | {"anchor": anchor_of(point.number), "headlines": [_cells(row) for row in point.headlines]}
            for point in points
        ],
        failed=[hit_text(hit) for hit in hits],
        notes=[note for comparison in comparisons for note in notes_of(comparison)],
        explained=interval_note(rows),
        swept=swept,
        headlines=[_cells(row) for row in headline_rows(comparisons, rows)] if swept else [],
        others=[_cells(row) for row in rows if row.better is None],
    )


def _run(results: Results, name: str) -> dict[str, object]:
    """What the page says about a run. For a run of one point that includes the point's position, because runs of one
    point are compared even if their positions differ."""
    place = results.points[0].title if len(results.points) == 1 else ""
    return {
        "called": name,
        "title": results.title,
        "name": results.name,
        "experiment": results.experiment,
        "machine": results.machine,
        "place": f", {place}" if place else "",
    }


def _cells(row: Row) -> dict[str, object]:
    return {
        "metric": row.metric,
        "title": row.title,
        "base": quantity(row.base, row.unit),
        "chance": row.chance,
        "changes": [
            (quantity(change.changed, change.unit) if change else "", change_text(change), row.verdict(change) or "")
            for change in row.changes
        ],
    }
