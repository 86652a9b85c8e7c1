"""The lint of layers: each kind of finding, and the project itself, which has none."""

from lint_layers import findings

LAYERS = "# bottom\nmodels\nworkloads/a workloads/b\nsim\n"


def test_a_folder_may_include_what_is_below_it_and_itself() -> None:
    texts = {"models/x.hpp": "", "sim/y.cpp": '#include "models/x.hpp"\n#include "sim/z.hpp"\n', "sim/z.hpp": ""}
    assert findings(texts, LAYERS) == []


def test_what_is_above_may_not_be_included() -> None:
    (finding,) = findings({"models/x.hpp": '#include "sim/z.hpp"\n', "sim/z.hpp": ""}, LAYERS)
    assert "models/ may not include sim/z.hpp" in finding


def test_folders_on_one_line_do_not_know_each_other() -> None:
    assert len(findings({"workloads/a/x.cpp": '#include "workloads/b/y.hpp"\n'}, LAYERS)) == 1


def test_a_folder_without_a_line_is_named() -> None:
    (finding,) = findings({"new/x.cpp": '#include "models/y.hpp"\n'}, LAYERS)
    assert "new/ has no line in tools/layers.txt" in finding


def test_a_circle_of_files_in_one_folder_is_found() -> None:
    (finding,) = findings({"sim/x.hpp": '#include "sim/y.hpp"\n', "sim/y.hpp": '#include "sim/x.hpp"\n'}, LAYERS)
    assert finding.startswith("a circle of includes: ")


def test_two_headers_of_one_name_are_found() -> None:
    (finding,) = findings({"models/x.hpp": "", "sim/x.hpp": ""}, LAYERS)
    assert finding == "x.hpp is the name of several headers: models/x.hpp, sim/x.hpp"


def test_only_a_layer_is_opened_whole() -> None:
    texts = {"sim/x.cpp": "using namespace workloads;\n", "sim/y.cpp": "using namespace std::chrono;\n"}
    assert findings(texts, LAYERS) == ["sim/y.cpp: using namespace std::chrono"]
