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

// Reads the tables with the rows of their files. Errors: ConfigError for unknown keys, an id used twice, a file that is no such
// table, `at` of a path that isn't swept.
std::vector<MeasuredTable> read_measured_tables(const toml::array& tables, const ExperimentTables& experiment);

// Checks that every table selects exactly one point. Errors: ConfigError. `tables`: the array from which `measured` was read.
void check_selections(const std::vector<MeasuredTable>& measured, const toml::array& tables,
                      const std::vector<PointPlace>& points, const std::string& file);

// One paper row for each scored row: "ols2007.fig3.schedule.lock".
std::vector<PaperRow> paper_rows_of(const std::vector<MeasuredTable>& measured);

// The [[table]]s of a resolved configuration.
toml::array measured_tables_array(const std::vector<MeasuredTable>& measured);

// Removes scoring from such tables, and keeps what metrics depend on.
void erase_scoring(toml::array& tables);

// The file that a table names: a path from `base` (it begins with a dot or a slash), or one below configs/figures.
std::filesystem::path measured_table_file(const std::string& name, const std::filesystem::path& base);

// Reads a measured table's file: rows of samples, as profilers print them for one cache line (configs/figures/README.md). Rows
// with the same function, field and access are merged. They are sorted by offset, then in the file's order. Rows without a
// structure belong to `structure`. Errors: ConfigError with file and line.
std::vector<MeasuredRow> read_measured_rows(const std::string& text, const std::string& file, const std::string& structure);

}  // namespace linebounce::sim
