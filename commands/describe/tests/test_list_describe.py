"""list and describe: what can be run and what it is made of, for readers and as JSON."""

import json

import pytest
from experiments import MACHINE
from program import MACHINES, ROOT, Program, shipped_experiments


def kinds(linebounce: Program) -> list[str]:
    found = [entry["name"] for entry in json.loads(linebounce("list", "--json").stdout)]
    assert {"machines", "locks", "metrics"} <= set(found)
    return found


def listed(linebounce: Program, kind: str) -> dict[str, dict]:
    result = linebounce("list", kind, "--json")
    assert result.code == 0
    return {entry["name"]: entry for entry in json.loads(result.stdout)}


def test_list_names_everything_with_a_title(linebounce: Program) -> None:
    for kind in kinds(linebounce):
        entries = listed(linebounce, kind)
        assert all(entry["title"] for entry in entries.values())
        printed = linebounce("list", kind)
        assert printed.code == 0
        for name, entry in entries.items():
            folder, slash, _ = name.rpartition("/")
            shown = f"{folder}{slash}" if slash and kind == "experiments" else name
            assert shown in printed.stdout
            assert shown != name or entry["title"] in printed.stdout


def test_a_word_is_searched_in_names_and_titles(linebounce: Program) -> None:
    printed = linebounce("list", "experiments", "--search", "LOAD-TO-USE").stdout
    assert "latencies/epyc_7742_2socket_levels" in printed
    assert "two_sockets" not in printed
    found = json.loads(linebounce("list", "experiments", "--search", "validation/", "--json").stdout)
    assert {entry["name"] for entry in found} == {name for name in shipped_experiments() if name.startswith("validation/")}
    assert linebounce("list", "machines", "--search", "vax").stdout == 'No machine has "vax" in its name or title.\n'
    assert "list experiments --search lock" in linebounce.refused("list", "--search", "lock")


def test_list_names_every_file_of_each_folder(linebounce: Program) -> None:
    assert set(listed(linebounce, "machines")) == {path.stem for path in MACHINES.glob("*.toml")}
    assert set(listed(linebounce, "experiments")) == set(shipped_experiments())
    assert set(listed(linebounce, "layouts")) == {path.stem for path in (ROOT / "configs/layouts").glob("*.toml")}
    protocols = {path.stem for path in (ROOT / "models/protocols").glob("*.md")} - {"README"}
    assert set(listed(linebounce, "protocols")) == protocols
    assert "mesi_snoop" in protocols


def test_all_that_is_listed_can_be_described(linebounce: Program) -> None:
    for kind in kinds(linebounce):
        for name, entry in listed(linebounce, kind).items():
            as_json = linebounce("describe", kind, name, "--json")
            assert as_json.code == 0, as_json.stderr
            assert json.loads(as_json.stdout)["name"] == name
            printed = linebounce("describe", kind, name)
            assert printed.code == 0
            assert entry["title"] in printed.stdout


def test_the_help_texts_of_both_commands_name_every_kind(linebounce: Program) -> None:
    for_list = " ".join(linebounce("list", "--help").stdout.split())
    for_describe = " ".join(linebounce("describe", "--help").stdout.split())
    for kind in kinds(linebounce):
        assert kind in for_list
        assert (kind.removesuffix("ies") + "y" if kind.endswith("ies") else kind.removesuffix("s")) in for_describe


@pytest.mark.parametrize(
    ("protocol", "controllers"),
    [
        ("mesi_snoop", ["cache", "memory"]),
        ("mesi_directory", ["cache", "directory"]),
        ("mesi_node", ["node"]),
        ("mesi_group", ["group"]),
    ],
)
def test_a_protocol_is_described_with_all_its_tables(linebounce: Program, protocol: str, controllers: list[str]) -> None:
    described = json.loads(linebounce("describe", "protocol", protocol, "--json").stdout)["controllers"]
    assert [controller["name"] for controller in described] == controllers
    assert all(len(controller["states"]) > 0 for controller in described)


def test_describe_machine_lists_every_parameter_with_unit_value_and_source(linebounce: Program) -> None:
    document = json.loads(linebounce("describe", "machine", MACHINE, "--json").stdout)
    parameters = {parameter["path"]: parameter for parameter in document["parameters"]}
    latency = parameters["machine.memory.latency_ns"]
    assert latency["unit"] == "ns"
    assert latency["value"] > 0
    printed = linebounce("describe", "machine", MACHINE).stdout
    words = " ".join(printed.split())  # long sources are wrapped over several lines
    for path, parameter in parameters.items():
        assert path.split(".")[-1] in printed
        assert parameter["source"] in words


def test_a_source_shared_by_a_groups_parameters_is_named_once(linebounce: Program) -> None:
    parameters = json.loads(linebounce("describe", "machine", "generic_2socket_32core", "--json").stdout)["parameters"]
    of_cpu = [parameter["source"] for parameter in parameters if parameter["path"].startswith("machine.cpu.")]
    shared = "assumed: a core of the 2020s at a clock that all cores can hold"
    assert of_cpu.count(shared) > 10
    words = " ".join(linebounce("describe", "machine", "generic_2socket_32core").stdout.split())
    assert words.count(shared) == 1
    assert f"machine.cpu where no source is named: {shared} clock_mhz 3000 MHz the cores' clock issue_per_cycle" in words
    assert "tlb_flush_cycles (0 cycles) dropping" in words


def test_describe_machine_draws_its_topology(linebounce: Program) -> None:
    printed = linebounce("describe", "machine", MACHINE).stdout
    for part in ["L1D", "L2", "bus", "memory"]:
        assert part in printed


@pytest.mark.parametrize("name", [path.stem for path in MACHINES.glob("*.toml")])
def test_every_parameter_of_a_shipped_machine_says_where_it_comes_from(linebounce: Program, name: str) -> None:
    document = json.loads(linebounce("describe", "machine", name, "--json").stdout)
    kinds = ("calibrated: ", "datasheet: ", "paper: ", "assumed: ")
    without = [item["path"] for item in document["parameters"] if not item["source"].startswith(kinds)]
    assert not without, "parameters without an entry in [sources]"


def test_at_most_six_parameters_are_calibrated_each_to_one_row(linebounce: Program) -> None:
    document = json.loads(linebounce("describe", "machine", MACHINE, "--json").stdout)
    rows = [item["source"] for item in document["parameters"] if item["source"].startswith("calibrated: ")]
    assert 1 <= len(rows) <= 6
    experiment = json.loads(linebounce("describe", "experiment", "operation_costs", "--json").stdout)
    assert "ols2004.table1.l2_hit" in json.dumps(experiment)


def test_a_parameter_without_a_source_counts_as_assumed(linebounce: Program) -> None:
    text = (MACHINES / f"{MACHINE}.toml").read_text().split("[sources]")[0]
    path = linebounce.file("machine.toml", text)
    printed = linebounce("describe", "machine", path)
    assert printed.code == 0
    assert "assumed" in printed.stdout
