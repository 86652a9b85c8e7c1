// Reads [[table]]s of an experiment: samples that a profiler took on a cache line, field by field (configs/figures).
#pragma once

#include <toml++/toml.h>

#include <filesystem>
#include <string>
#include <vector>

#include "sim/config/experiment.hpp"
#include "sim/config/experiment_tables.hpp"
#include "sim/point/measured_table.hpp"

namespace linebounce::sim {

// Reads the tables and the files that they name. Errors: ConfigError for unknown keys, an id used twice, an invalid file, or
// a path in `at` that the experiment does not sweep.
std::vector<MeasuredTable> read_measured_tables(const toml::array& tables, const ExperimentTables& experiment);

// Checks that every table selects exactly one point. Errors: ConfigError. `tables`: the array from which `measured` was read.
void check_selections(const std::vector<MeasuredTable>& measured, const toml::array& tables,
                      const std::vector<PointPlace>& points, const std::string& file);

// Makes a paper row from each scored row, such as "ols2007.fig3.schedule.lock".
std::vector<PaperRow> paper_rows_of(const std::vector<MeasuredTable>& measured);

// The tables as [[table]]s of a resolved configuration.
toml::array measured_tables_array(const std::vector<MeasuredTable>& measured);

// Removes the keys that only affect how rows are scored. Keeps those that affect which metrics a run reports.
void erase_scoring(toml::array& tables);

// Finds the file that a table names. A name that begins with a dot or a slash is a path relative to `base`; any other name is
// relative to configs/figures.
std::filesystem::path measured_table_file(const std::string& name, const std::filesystem::path& base);

// Reads a file of samples that a profiler took on one cache line (configs/figures/README.md). Merges rows with the same
// structure, function, field and access. Sorts by offset; equal offsets keep the file's order. `structure`: that of rows that
// name none. Errors: ConfigError with file and line.
std::vector<MeasuredRow> read_measured_rows(const std::string& text, const std::string& file, const std::string& structure);

}  // namespace linebounce::sim
