// [[table]]s of an experiment: measurements of cache lines, field by field (configs/figures).
#pragma once

#include <toml++/toml.h>

#include <filesystem>
#include <string>
#include <vector>

#include "sim/config/experiment.hpp"
#include "sim/config/experiment_tables.hpp"
#include "sim/point/measured_table.hpp"

namespace linebounce::sim {

// Reads the tables and their files. Errors: ConfigError for unknown keys, an id used twice, a file that is not such a table,
// or `at` with a path that is not swept.
std::vector<MeasuredTable> read_measured_tables(const toml::array& tables, const ExperimentTables& experiment);

// Checks that every table selects exactly one point. Errors: ConfigError. `tables`: the array from which `measured` was read.
void check_selections(const std::vector<MeasuredTable>& measured, const toml::array& tables,
                      const std::vector<PointPlace>& points, const std::string& file);

// One paper row for each scored row: "ols2007.fig3.schedule.lock".
std::vector<PaperRow> paper_rows_of(const std::vector<MeasuredTable>& measured);

// The [[table]]s of a resolved configuration.
toml::array measured_tables_array(const std::vector<MeasuredTable>& measured);

// Removes the keys that only affect scoring. Keeps those on which metrics depend.
void erase_scoring(toml::array& tables);

// The file that a table names. A name that begins with a dot or a slash is a path from `base`; any other is below
// configs/figures.
std::filesystem::path measured_table_file(const std::string& name, const std::filesystem::path& base);

// Reads a file of samples, as profilers print them for one cache line (configs/figures/README.md). Merges rows with the same
// function, field and access. Sorts by offset, and leaves equal offsets in the file's order. Rows without a structure belong
// to `structure`. Errors: ConfigError with file and line.
std::vector<MeasuredRow> read_measured_rows(const std::string& text, const std::string& file, const std::string& structure);

}  // namespace linebounce::sim
