"""The lint for layers: each kind of finding."""

from lint_layers import findings as all_findings
from source_tree import SourceTree

LAYERS = "# bottom\nmodels\nworkloads/a workloads/b\nsim\n"


def findings(texts: dict[str, str], layers: str) -> list[str]:
    return [str(finding) for finding in all_findings(SourceTree.of(texts), layers)]


def test_a_folder_may_include_itself_and_lower_folders() -> None:
    texts = {"models/x.hpp": "", "sim/y.cpp": '#include "models/x.hpp"\n#include "sim/z.hpp"\n', "sim/z.hpp": ""}
    assert findings(texts, LAYERS) == []


def test_higher_folders_may_not_be_included() -> None:
    (finding,) = findings({"models/x.hpp": '#include "sim/z.hpp"\n', "sim/z.hpp": ""}, LAYERS)
    assert finding.startswith("models/x.hpp:1: models/ may not include sim/z.hpp")


def test_folders_on_one_line_do_not_know_each_other() -> None:
    assert len(findings({"workloads/a/x.cpp": '#include "workloads/b/y.hpp"\n'}, LAYERS)) == 1


def test_a_folder_without_a_line_is_named() -> None:
    (finding,) = findings({"sim/new/x.cpp": '#include "models/y.hpp"\n'}, LAYERS)
    assert "sim/new/ has no line in tools/layers.txt" in finding


def test_two_headers_of_one_name_are_found() -> None:
    (finding,) = findings({"models/x.hpp": "", "sim/x.hpp": ""}, LAYERS)
    assert finding == "sim/x.hpp:1: models/x.hpp has the same name"


def test_only_a_layer_is_opened_whole() -> None:
    texts = {"sim/x.cpp": "using namespace workloads;\n", "sim/y.cpp": "using namespace std::chrono;\n"}
    assert findings(texts, LAYERS) == ["sim/y.cpp:1: using namespace std::chrono"]
