"""Writes a comparison as one self-contained HTML file."""

from collections.abc import Sequence

from jinja2 import Environment

from linebounce.compare.answer import answers_alone, differences, pair_answers
from linebounce.compare.changes import Comparison, Hit
from linebounce.compare.overlay import overlay
from linebounce.compare.rows import Row, change_text, hit_text, interval_note, notes_of, number_text, run_names
from linebounce.compare.selection import headline_rows
from linebounce.page_policy import page_policy
from linebounce.results import Results

_TEMPLATE = """\
{% macro table(rows, verdicts) %}
<div class="wide" tabindex="0"><table>
<thead><tr><th scope="col">metric</th>{% if swept %}<th scope="col" class="text">point</th>{% endif %}
<th scope="col" class="text">unit</th><th scope="col">base</th>
{%- for run in runs %}<th scope="col">{{ run.called }}</th><th scope="col">change</th>
{%- if verdicts %}<th scope="col" class="text">verdict</th>{% endif %}{% endfor %}</tr></thead>
<tbody>
{% for row in rows %}<tr{% if row.chance and not verdicts %} class="chance"{% endif %}><td>{{ row.metric }}</td>
{%- if swept %}<td class="text point">{{ row.title }}</td>{% endif %}<td class="text">{{ row.unit }}</td><td>{{ row.base }}</td>
{%- for value, change, verdict in row.changes %}<td>{{ value }}</td><td>{{ change }}</td>
{%- if verdicts %}<td class="text {{ verdict }}">{{ verdict }}</td>{% endif %}{% endfor %}</tr>
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
body { max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
.wide { overflow: auto; max-height: 90vh; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .25rem .6rem; text-align: right; white-space: nowrap; }
tr { border-bottom: 1px solid color-mix(in srgb, currentcolor 15%, transparent); }
th:first-child, td:first-child, .text { text-align: left; }
td:first-child, td.point { white-space: normal; overflow-wrap: anywhere; min-width: 14rem; }
td { font-variant-numeric: tabular-nums; }
thead th { position: sticky; top: 0; background: Canvas; }
.chance td { opacity: .6; }
.better { color: light-dark(#00704f, #4fc79a); }
.worse { color: light-dark(#b04300, #f0803c); }
figure { margin: 1.5rem 0; background: white; color: black; border-radius: .5rem; }
figure svg { display: block; width: 100%; height: auto; max-width: 60rem; }
figcaption { padding: .6rem 1rem 0; font-weight: 600; }
.failed { border-left: .3rem solid #c62828; padding: .3rem .8rem; }
</style>
</head>
<body>
<h1>{{ base.title }}</h1>
<p>Base: <code>{{ base.name }}</code> ({{ base.experiment }} on {{ base.machine }}{{ base.place }})
{%- for run in runs %}<br>
{{ run.called }}: <code>{{ run.name }}</code> ({{ run.experiment }} on {{ run.machine }}{{ run.place }}){% endfor %}</p>
{% for answer in answers %}<p><strong>{{ answer.text }}</strong><br>{{ answer.called }} differs in {{ answer.differences }}.</p>
{% endfor %}{% for name, text in alone %}<p>{{ name }} alone: {{ text }}</p>
{% endfor %}{% for caption, chart in charts %}<figure><figcaption>{{ caption }}</figcaption>{{ chart }}</figure>
{% endfor %}{% if failed %}<section class="failed"><h2>Failed</h2>
<ul>{% for text in failed %}<li>{{ text }}</li>{% endfor %}</ul></section>{% endif %}
{% if headlines %}{{ table(headlines, true) }}
{% endif %}{% for note in notes %}<p>{{ note }}</p>{% endfor %}
{% if explained %}<p>{{ explained }}.</p>
{% endif %}<h2>All other metrics</h2>
<p>Largest changes first, those that chance explains last.</p>
{{ table(others, false) }}
</body>
</html>
"""


def make_page(comparisons: Sequence[Comparison], rows: Sequence[Row], hits: Sequence[Hit]) -> str:
    """`rows` as rows_of() has them: all are on the page, those of the headlines first."""
    base = comparisons[0].base
    names = run_names(comparisons)
    template = Environment(autoescape=True).from_string(_TEMPLATE)
    return template.render(
        policy=page_policy(),
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
        charts=overlay(comparisons),
        failed=[hit_text(hit) for hit in hits],
        notes=[note for comparison in comparisons for note in notes_of(comparison)],
        explained=interval_note(rows),
        swept=len(base.points) > 1,
        headlines=[_cells(row) for row in headline_rows(comparisons, rows)],
        others=[_cells(row) for row in rows if row.better is None],
    )


def _run(results: Results, name: str) -> dict[str, object]:
    """The page's facts about a run. For a run of one point they include the point's position, because such runs are
    compared whatever their positions."""
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
        "unit": row.unit,
        "base": number_text(row.base),
        "chance": row.chance,
        "changes": [
            (number_text(change.changed) if change else "", change_text(change), row.verdict(change) or "")
            for change in row.changes
        ],
    }
