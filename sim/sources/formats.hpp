// Traces of other programs, made ours: one file for each format, one line each in kSourceFormats.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "trace/writer.hpp"

namespace linebounce::sim {

// Each reads the whole file and writes what it holds; returns what it does not hold and a replay would want, a sentence each.
// Errors: TraceError with the line or record; trace::WriteError.
std::vector<std::string> convert_dinero(const std::filesystem::path& file, trace::Writer& out);
std::vector<std::string> convert_lackey(const std::filesystem::path& file, trace::Writer& out);
std::vector<std::string> convert_champsim(const std::filesystem::path& file, trace::Writer& out);
std::vector<std::string> convert_perf_script(const std::filesystem::path& file, trace::Writer& out);
std::vector<std::string> convert_drmemtrace(const std::filesystem::path& file, trace::Writer& out);
std::vector<std::string> convert_perf_data(const std::filesystem::path& file, trace::Writer& out);

struct SourceFormat {
  std::string_view name;
  std::string_view what;
  std::vector<std::string> (*convert)(const std::filesystem::path& file, trace::Writer& out);
  std::string_view magic = {};  // what its files begin with; empty: nothing that tells them
};

inline constexpr std::array kSourceFormats = {
    SourceFormat{"dinero", "Dinero's .din: label and address", convert_dinero},
    SourceFormat{"lackey", "valgrind --tool=lackey --trace-mem=yes", convert_lackey, "=="},
    SourceFormat{"champsim", "ChampSim's records of 64 bytes, not compressed", convert_champsim},
    SourceFormat{"perf-script", "perf script of perf mem samples", convert_perf_script},
    SourceFormat{"drmemtrace", "DynamoRIO's drmemtrace (drcachesim), as its view tool prints it", convert_drmemtrace,
                 "Output format:"},
    SourceFormat{"perf-data", "perf.data of perf mem record or perf c2c record", convert_perf_data, "PERFILE2"},
};

// By what the file begins with; nullptr: it does not tell.
const SourceFormat* format_of(const std::filesystem::path& file);

// A whole conversion: `out` is finished, and says what is missing, too. Errors: as above.
std::vector<std::string> convert_foreign(const SourceFormat& format, const std::filesystem::path& in,
                                         const std::filesystem::path& out);

}  // namespace linebounce::sim
