// [[table]]s of an experiment: what somebody has measured of cache lines, field by field (configs/figures).
#pragma once

#include <toml++/toml.h>

#include <filesystem>
#include <string>
#include <vector>

#include "sim/config/experiment.hpp"
#include "sim/config/experiment_tables.hpp"
#include "sim/point/measured_table.hpp"

namespace linebounce::sim {

// With the rows of their files. Errors: ConfigError for unknown keys, an id used twice, a file that is no such table, `at` of a
// path that isn't swept.
std::vector<MeasuredTable> read_measured_tables(const toml::array& tables, const ExperimentTables& experiment);

// Every table selects exactly one point. Errors: ConfigError. `tables` is the array that `measured` was read from.
void check_selections(const std::vector<MeasuredTable>& measured, const toml::array& tables,
                      const std::vector<PointPlace>& points, const std::string& file);

// A row for each of their rows that is scored: "ols2007.fig3.schedule.lock".
std::vector<PaperRow> paper_rows_of(const std::vector<MeasuredTable>& measured);

// As [[table]] of a resolved configuration.
toml::array measured_tables_array(const std::vector<MeasuredTable>& measured);

// Leaves of such tables what metrics depend on; what they are scored by goes.
void erase_scoring(toml::array& tables);

// The file that a table names: a path (it begins with a dot or a slash) from `base`, or one below configs/figures.
std::filesystem::path measured_table_file(const std::string& name, const std::filesystem::path& base);

// The file of a measured table: rows of samples, as profilers print them for one cache line (configs/figures/README.md).
// Rows of one function, field and access (of its instruction) are one; they come by offset, then as the file has them. Rows
// without a structure are of `structure`. Errors: ConfigError with file and line.
std::vector<MeasuredRow> read_measured_rows(const std::string& text, const std::string& file, const std::string& structure);

}  // namespace linebounce::sim
