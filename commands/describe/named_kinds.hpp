// One table of all kinds of named things, for `list` and `describe`.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

struct ListedThing {
  std::string name;
  std::string title;
  std::string problem;                  // why the file can't be used; empty if it can
  std::string remark = {};              // important facts, shown beside the title
  nlohmann::ordered_json details = {};  // the remark's facts and further ones, as members for the JSON output; null: none
};

struct Kind {
  std::string_view singular;
  std::string_view plural;
  std::vector<ListedThing> (*list)();
  // Returns a page for the terminal. REQUIRES: the name is listed, or is a path and the kind accepts files.
  std::string (*describe)(const std::string& name, const Painter& paint);
  nlohmann::ordered_json (*describe_json)(const std::string& name);
};

std::vector<ListedThing> list_machines();
std::vector<ListedThing> list_families();
std::vector<ListedThing> list_experiments();
std::vector<ListedThing> list_workloads();
std::vector<ListedThing> list_locks();
std::vector<ListedThing> list_counters();
std::vector<ListedThing> list_protocols();
std::vector<ListedThing> list_layouts();
std::vector<ListedThing> list_metrics();

// Each of these is defined in a file of its own, such as describe_machine.cpp. Errors: ConfigError, with the known names.
std::string machine_page(const std::string& name, const Painter& paint);
nlohmann::ordered_json machine_json(const std::string& name);
std::string family_page(const std::string& name, const Painter& paint);
nlohmann::ordered_json family_json(const std::string& name);
std::string experiment_page(const std::string& name, const Painter& paint);
nlohmann::ordered_json experiment_json(const std::string& name);
std::string workload_page(const std::string& name, const Painter& paint);
nlohmann::ordered_json workload_json(const std::string& name);
std::string lock_page(const std::string& name, const Painter& paint);
nlohmann::ordered_json lock_json(const std::string& name);
std::string counter_page(const std::string& name, const Painter& paint);
nlohmann::ordered_json counter_json(const std::string& name);
std::string protocol_page(const std::string& name, const Painter& paint);
nlohmann::ordered_json protocol_json(const std::string& name);
std::string layout_page(const std::string& name, const Painter& paint);
nlohmann::ordered_json layout_json(const std::string& name);
std::string metric_page(const std::string& name, const Painter& paint);
nlohmann::ordered_json metric_json(const std::string& name);

inline constexpr std::array kKinds = {
    Kind{"machine", "machines", list_machines, machine_page, machine_json},
    Kind{"experiment", "experiments", list_experiments, experiment_page, experiment_json},
    Kind{"workload", "workloads", list_workloads, workload_page, workload_json},
    Kind{"lock", "locks", list_locks, lock_page, lock_json},
    Kind{"counter", "counters", list_counters, counter_page, counter_json},
    Kind{"protocol", "protocols", list_protocols, protocol_page, protocol_json},
    Kind{"layout", "layouts", list_layouts, layout_page, layout_json},
    Kind{"family", "families", list_families, family_page, family_json},
    Kind{"metric", "metrics", list_metrics, metric_page, metric_json},
};

// The names of all things of this kind. Does not read their files.
std::vector<std::string> names_of(const Kind& kind);

// The words for all kinds, as a sentence lists them: "machines, ... or metrics". `word`: &Kind::singular or &Kind::plural.
std::string listed_kinds(std::string_view Kind::*word);

// Finds a kind by its singular or plural. Errors: ConfigError, with the known kinds.
const Kind& find_kind(const std::string& word);

}  // namespace linebounce::sim
