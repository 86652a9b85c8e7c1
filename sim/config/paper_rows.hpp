// Reads [[paper]] rows: the published figures that an experiment should reproduce, and the points to which they apply.
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

// Reads the key `kind`; none if it is absent. `legal`: the words allowed here. Errors: ConfigError for any other word.
std::optional<PaperKind> read_kind(TableReader& reader, std::vector<std::string> legal);
std::string word_of(PaperKind kind);

using Selection = std::map<std::string, ConfigValue>;  // values of swept paths

// Reads a table of paths and values from this key; none if it is absent. Errors: ConfigError for a path that is not swept, or
// a value that is illegal for its path.
std::optional<Selection> read_selection(TableReader& reader, const std::string& key, const ExperimentTables& tables);
toml::table selection_table(const Selection& at);

// Reads the rows. Errors: ConfigError for unknown keys, an id used twice, contradictory fields, or a path in `at` that is not
// swept.
std::vector<PaperRow> read_paper_rows(const toml::array& rows, const ExperimentTables& tables);

// Checks that each row selects exactly one point. A row with a shape must select one series of points along `over` instead.
// `rows`: the array from which `paper` was read, for positions in messages. Errors: ConfigError.
void check_selections(const std::vector<PaperRow>& paper, const toml::array& rows, const std::vector<PointPlace>& points,
                      const std::string& file);

// The rows as [[paper]] of a resolved configuration.
toml::array paper_table(const std::vector<PaperRow>& rows);

}  // namespace linebounce::sim
