"""The lint for layers: each kind of finding."""

import re

from lint_layers import LAYERS as LAYERS_FILE
from lint_layers import findings as all_findings
from source_tree import ROOT, SourceTree

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


ROOMS = """| room | subcommands | uses, besides `sim` |
|---|---|---|
| `cook/` | `cook` | `forms` |
| `eat/` | `eat` | |
| `common/` | what they share: `command.*` | |
"""
ROOM_LAYERS = "forms\ncommands/common\ncommands/cook\ncommands/eat\n"
IN_ROOMS = {
    "commands/README.md": ROOMS,
    "forms/x.hpp": "",
    "commands/common/c.hpp": "",
    "commands/cook/cook.hpp": '#include "forms/x.hpp"\n#include "commands/common/c.hpp"\n',
}


def test_a_room_uses_the_rooms_that_its_row_names_and_common() -> None:
    assert findings(IN_ROOMS, ROOM_LAYERS) == []


def test_a_room_that_its_row_does_not_name_is_not_included_however_low_it_lies() -> None:
    texts = IN_ROOMS | {"commands/eat/eat.cpp": '#include "commands/common/c.hpp"\n#include "commands/cook/cook.hpp"\n'}
    (finding,) = findings(texts, ROOM_LAYERS)
    assert finding.startswith("commands/eat/eat.cpp:2: eat may not include commands/cook/cook.hpp")


def test_a_room_that_a_row_names_in_vain_is_found() -> None:
    (finding,) = findings(IN_ROOMS | {"commands/cook/cook.hpp": ""}, ROOM_LAYERS)
    assert finding == "commands/README.md:3: cook includes nothing of forms"


def test_the_picture_of_the_architecture_has_the_folders_of_sim_in_their_order() -> None:
    picture = (ROOT / "docs/pictures/layers.svg").read_text(encoding="utf-8")
    drawn = re.findall(r'<text class="name row"[^>]*>(\w+)<', picture)
    listed = re.findall(r"^sim/(\w+)$", LAYERS_FILE.read_text(encoding="utf-8"), re.MULTILINE)
    assert drawn == listed[::-1]
