"""Programs in Lua whose structures come from a layout: pahole's listing, or a file of Linebounce's."""

from pathlib import Path

from program import Program
from results import read_csv

LISTING = """struct list_head {
\tstruct list_head *         next;                 /*     0     8 */
\tstruct list_head *         prev;                 /*     8     8 */

\t/* size: 16, cachelines: 1, members: 2 */
};
struct job {
\tlong unsigned int          id;                   /*     0     8 */
\tchar                       name[40];             /*     8    40 */
\tint                        refs;                 /*    48     4 */
\tint                        state;                /*    52     4 */
\tlong unsigned int          done;                 /*    56     8 */

\t/* size: 64, cachelines: 1, members: 5 */
};
"""
PROGRAM = """title = "CPU 0 counts references, CPU 1 counts what is done"
ends = true
parameters = { { name = "layout", default = "job.pahole", meaning = "where job's fields are" } }

function setup()
  local job = structure(layout "job")
  shared = place(job, "job")
end

function run(cpu)
  for i = 1, 200 do
    if cpu.id == 0 then cpu:fetch_add(shared.refs, 1) else cpu:fetch_add(shared.done, 1) end
    cpu:compute(200)
  end
end
"""


def misses(directory: Path) -> dict[str, int]:
    """Returns how often each field of job missed."""
    counts: dict[str, int] = {}
    for row in read_csv(directory / "lines.csv"):
        if row["structure"] == "job":
            counts[row["field"]] = counts.get(row["field"], 0) + int(row["count"])
    return counts


def test_a_program_in_lua_uses_the_fields_of_a_listing(linebounce: Program) -> None:
    linebounce.file("programs/job.pahole", LISTING)
    linebounce.file("programs/job.lua", PROGRAM)
    machine = ("--machine", "p3_xeon_4way", "--set", "machine.cpus=2")
    together = misses(linebounce.run("programs/job.lua", "together", *machine))
    assert set(together) == {"refs", "done"}
    assert min(together.values()) > 50, "two CPUs write one line"
    # The same program, on structures whose counters are on separate lines.
    apart = LISTING.replace("/*    56     8 */", "/*   128     8 */").replace("size: 64", "size: 136")
    linebounce.file("apart.pahole", apart)
    separate = misses(linebounce.run("programs/job.lua", "apart", *machine, "--set", "workload.layout=apart.pahole"))
    assert sum(separate.values()) < 10


def test_a_layout_that_is_missing_is_said_with_what_there_is(linebounce: Program) -> None:
    linebounce.file("job.pahole", LISTING)
    linebounce.file("job.lua", PROGRAM.replace('layout "job"', 'layout "jobs"'))
    machine = ("--machine", "p3_xeon_4way")
    assert "the file has no structure jobs; it has: job, list_head" in linebounce.refused("run", "job.lua", *machine)
    linebounce.file(
        "bare.lua",
        PROGRAM.replace('{ { name = "layout", default = "job.pahole", meaning = "where job\'s fields are" } }', "{}"),
    )
    assert 'name = "layout", default = "FILE"' in linebounce.refused("run", "bare.lua", *machine)


def test_a_member_of_an_inner_structure_is_found_by_its_whole_name_and_in_a_table(linebounce: Program) -> None:
    linebounce.file(
        "inner.lua",
        'ends = true tallies = { "same" }\n'
        'function setup() node = place(structure { name = "node", "wait.next", "wait.prev" }, "node") end\n'
        "function run(cpu)\n"
        '  cpu:store(node["wait.next"], 7)\n'
        "  if cpu.id == 0 and cpu:load(node.wait.next) == 7 then cpu:tally() end\n"
        "end\n",
    )
    results = linebounce.run("inner.lua", "out", "--machine", "p3_xeon_4way")
    assert {row["field"] for row in read_csv(results / "lines.csv")} == {"wait.next"}
