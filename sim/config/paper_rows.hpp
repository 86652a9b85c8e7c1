// [[paper]] rows: the figures that an experiment expects, and at which points.
#pragma once

#include <toml++/toml.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/experiment.hpp"
#include "sim/config/experiment_tables.hpp"
#include "sim/config/table_reader.hpp"

namespace linebounce::sim {

// The key `kind`, if present. Errors: ConfigError for an illegal word.
std::optional<PaperKind> read_kind(TableReader& reader, std::vector<std::string> legal);
std::string word_of(PaperKind kind);

using Selection = std::map<std::string, ConfigValue>;  // values of swept paths

// Reads the key's table of paths and values, if present. Errors: ConfigError for a path that is not swept, or a value that
// its key does not allow.
std::optional<Selection> read_selection(TableReader& reader, const std::string& key, const ExperimentTables& tables);
toml::table selection_table(const Selection& at);

// Errors: ConfigError for unknown keys, an id used twice, contradictory fields, or `at` with a path that is not swept.
std::vector<PaperRow> read_paper_rows(const toml::array& rows, const ExperimentTables& tables);

// Checks that every row selects exactly one point, or for a row with a shape one line of points along `over`. Errors:
// ConfigError. `rows`: the array from which `paper` was read.
void check_selections(const std::vector<PaperRow>& paper, const toml::array& rows, const std::vector<PointPlace>& points,
                      const std::string& file);

// The [[paper]] rows of a resolved configuration.
toml::array paper_table(const std::vector<PaperRow>& rows);

}  // namespace linebounce::sim
