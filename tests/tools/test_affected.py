"""What ./dev test runs after a change."""

import affected
from source_tree import SourceTree

SOURCES = SourceTree.of(
    {
        "forms/lstopo.cpp": "",
        "forms/tests/recognise_test.cpp": "",
        "commands/calibrate/calibrate.hpp": '#include "forms/lstopo.hpp"\n',
        "commands/calibrate/tests/test_calibrate.py": "",
        "commands/import/import.cpp": '#include "commands/calibrate/calibrate.hpp"\n',
        "commands/import/tests/test_import.py": "",
        "commands/run/run.cpp": '#include "forms/forms.hpp"\n',
        "commands/run/tests/test_waves.py": "",
        "commands/lock/kernel_lock.cpp": "",
        "tests/end_to_end/test_names.py": 'linebounce("import", file)\n',
        affected.PRINTED: "linebounce\nlinebounce import\nlinebounce layout\nlinebounce layout diff\n",
        "tests/end_to_end/test_series.py": 'linebounce("run", "oltp")\n',
        "tests/analysis/test_gate.py": "",
        "tests/tools/test_lint.py": "",
    }
)


TYPED = affected.PRINTED + "::test_every_example_of_a_help_text_works_when_typed[{}]"
MESSAGES = affected.PRINTED + "::test_a_command_that_a_message_prints_works_when_typed"


def found(*changed: str) -> affected.Affected:
    return affected.affected(SOURCES, changed)


def test_a_change_in_a_command_runs_its_tests_and_those_that_type_it() -> None:
    of_import = found("commands/import/import.cpp")
    assert of_import.files == {
        "commands/import/tests",
        "tests/end_to_end/test_names.py",
        TYPED.format("linebounce import"),
        MESSAGES,
    }
    assert not of_import.programs
    assert not of_import.everything


def test_a_change_below_runs_the_tests_of_all_users() -> None:
    of_forms = found("forms/lstopo.cpp")
    assert of_forms.programs == {"test_forms", "test_fuzz"}
    rooms = {"commands/calibrate/tests", "commands/import/tests", "commands/run/tests"}
    assert of_forms.files == rooms | {"tests/end_to_end/test_names.py", TYPED.format("linebounce import"), MESSAGES}


def test_a_command_of_several_pages_has_each_typed() -> None:
    pages = {TYPED.format(page) for page in ("linebounce layout", "linebounce layout diff")}
    assert pages | {MESSAGES} == found("commands/layout/diff.cpp").files


def test_the_cases_that_type_examples_exist() -> None:
    text = SourceTree.of_git().text(affected.PRINTED)
    for case in affected.printed_by(SourceTree.of_git(), ["import"]):
        name = case.partition("::")[2].partition("[")[0]
        assert f"def {name}(" in text


def test_a_change_in_the_simulator_runs_everything() -> None:
    for changed in (
        "models/core/core.cpp",
        "sim/plan/plan.cpp",
        "commands/run/run.cpp",
        "conftest.py",
        "commands/common/command.cpp",
    ):
        assert found("forms/lstopo.cpp", changed).everything == changed


def test_a_test_from_which_others_take_texts_runs_everything() -> None:
    used = {"commands/import/tests/test_import.py": "LSCPU = 1", "tests/end_to_end/typed.py": "from test_import import LSCPU"}
    changed = "commands/import/tests/test_import.py"
    assert affected.affected(SourceTree.of(used), [changed]).everything == changed


def test_a_changed_test_runs_itself_and_prose_the_lints_tests() -> None:
    assert found("tests/end_to_end/test_series.py").files == {"tests/end_to_end/test_series.py"}
    assert found("forms/tests/recognise_test.cpp").programs == {"test_forms"}
    assert found("analysis/linebounce/gate/judge.py").files == {"tests/analysis/test_gate.py"}
    assert found("docs/terminal.md").files == {"tests/tools"}
    assert found("docs/recipes.md").everything
    assert found("LICENSE").nothing()


def test_every_room_has_its_users() -> None:
    """The layers of this repository: nothing includes the layout's room, and the forms have users."""
    of = affected.users(SourceTree.of_git())
    assert of["commands/layout"] == {"commands/layout"}
    assert {"commands/import", "commands/calibrate", "commands/run"} <= of["forms"]
