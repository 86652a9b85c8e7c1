"""A comparison as one HTML file that needs nothing else."""

from collections.abc import Sequence

from jinja2 import Environment

from linebounce.compare.changes import Comparison, Hit
from linebounce.compare.rows import Row, change_text, hit_text, interval_note, notes_of, number_text

_TEMPLATE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
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
.failed { border-left: .3rem solid #c62828; padding: .3rem .8rem; }
</style>
</head>
<body>
<h1>{{ base.title }}</h1>
<p>Base: <code>{{ base.directory }}</code> ({{ base.experiment }} on {{ base.machine }})
{%- for run in runs %}<br>
{{ run.letter }}: <code>{{ run.directory }}</code> ({{ run.experiment }} on {{ run.machine }}){% endfor %}</p>
{% if failed %}<section class="failed"><h2>Failed</h2>
<ul>{% for text in failed %}<li>{{ text }}</li>{% endfor %}</ul></section>{% endif %}
{% for note in notes %}<p>{{ note }}</p>{% endfor %}
{% if explained %}<p>{{ explained }}.</p>
{% endif %}<p>Largest changes first, those that chance explains last.</p>
<div class="wide" tabindex="0"><table>
<thead><tr><th scope="col">metric</th>{% if swept %}<th scope="col" class="text">point</th>{% endif %}
<th scope="col" class="text">unit</th><th scope="col">base</th>
{%- for run in runs %}<th scope="col">{{ run.letter }}</th><th scope="col">change</th>{% endfor %}</tr></thead>
<tbody>
{% for row in rows %}<tr{% if row.chance %} class="chance"{% endif %}><td>{{ row.metric }}</td>
{%- if swept %}<td class="text point">{{ row.title }}</td>{% endif %}<td class="text">{{ row.unit }}</td><td>{{ row.base }}</td>
{%- for value, change in row.changes %}<td>{{ value }}</td><td>{{ change }}</td>{% endfor %}</tr>
{% endfor %}</tbody>
</table></div>
</body>
</html>
"""


def make_page(comparisons: Sequence[Comparison], rows: Sequence[Row], hits: Sequence[Hit]) -> str:
    base = comparisons[0].base
    template = Environment(autoescape=True).from_string(_TEMPLATE)
    return template.render(
        base={"title": base.title, "directory": base.directory, "experiment": base.experiment, "machine": base.machine},
        runs=[
            {
                "letter": letter(number),
                "directory": comparison.other.directory,
                "experiment": comparison.other.experiment,
                "machine": comparison.other.machine,
            }
            for number, comparison in enumerate(comparisons)
        ],
        failed=[hit_text(hit) for hit in hits],
        notes=[note for comparison in comparisons for note in notes_of(comparison)],
        explained=interval_note(rows),
        swept=any(row.at for row in rows),
        rows=[_cells(row) for row in rows],
    )


def letter(number: int) -> str:
    """What the other runs are called in tables: B, C, ..., Z, run 27, ..."""
    return chr(ord("B") + number) if number < 25 else f"run {number + 2}"


def _cells(row: Row) -> dict[str, object]:
    return {
        "metric": row.metric,
        "title": row.title,
        "unit": row.unit,
        "base": number_text(row.base),
        "chance": row.chance,
        "changes": [(number_text(change.changed) if change else "", change_text(change)) for change in row.changes],
    }
