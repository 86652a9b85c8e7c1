// A folder of configuration files for one test, and workloads that are independent of the program's.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "sim/config/load_experiment.hpp"
#include "sim/config/machine_file.hpp"

namespace linebounce::sim {

inline const std::vector<WorkloadEntry>& test_workloads() {
  static const std::vector<WorkloadEntry> entries = {
      {"counter",
       "CPUs count",
       {{"lock", std::string("ticket"), "which lock", 0, 0, {"ticket", "tas"}},
        {"increments", std::int64_t{100}, "how often", 1, 1000000},
        {"think_ns", 50.0, "pause between two", 0, 1e6},
        {"design", std::string("shared"), "one counter or many", 0, 0, {"shared", "split"}},
        {"pinned", false, "whether CPUs stay"}},
       nullptr},
      {"walk", "CPUs walk a list", {{"nodes", std::int64_t{10}, "length", 1, 1000}}, nullptr},
  };
  return entries;
}

inline Catalogue test_catalogue() {
  return {test_workloads()};
}

// The text without the line that contains `part`. If `replacement` is not empty, it takes that line's place.
inline std::string replace_line(std::string text, const std::string& part, const std::string& replacement) {
  const auto at = text.find(part);
  if (at == std::string::npos) throw std::logic_error("no such line: " + part);
  const auto begin = text.rfind('\n', at) + 1;
  const auto end = text.find('\n', at);
  return text.replace(begin, end - begin, replacement);
}

// All points of an experiment, for tests with few.
inline std::vector<Point> expand(const Experiment& experiment) {
  const PointMaker make_point = point_maker(experiment);
  std::vector<Point> points;
  for (const PointPlace& place : outline(experiment)) points.push_back(make_point(place.number));
  return points;
}

class ConfigFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("LINEBOUNCE_ROOT", LINEBOUNCE_SOURCE_DIR, 1);
    std::string pattern = (std::filesystem::temp_directory_path() / "linebounce_config_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    write("m.toml", kMachine);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

  Experiment load(const std::string& text, const Overrides& overrides = {}) const {
    return load_experiment(write("e.toml", text), overrides, test_catalogue());
  }

  // The message of the error that `read` throws, without the test's folder.
  template <class Read>
  std::string error_of(Read read) const {
    try {
      read();
    } catch (const ConfigError& error) {
      std::string text = error.what();
      const std::string prefix = folder_.string() + "/";
      for (auto at = text.find(prefix); at != std::string::npos; at = text.find(prefix)) text.erase(at, prefix.size());
      return text;
    }
    return "no error";
  }
  std::string machine_error(const std::string& text) const {
    return error_of([&] { load_machine(write("x.toml", text)); });
  }
  std::string experiment_error(const std::string& text, const Overrides& overrides = {}) const {
    return error_of([&] { load(text, overrides); });
  }

  // Expected messages contain line numbers of these texts.
  static constexpr const char* kMachine = R"(name = "m"
title = "a machine"
cpus = 4
[cpu]
clock_mhz = 666.667
atomic_latency_cycles = 40
[cache.L1D]
size_kib = 16
ways = 4
line_bytes = 32
hit_latency_cycles = 3
[cache.L2]
size_kib = 256
ways = 8
line_bytes = 64
hit_latency_cycles = 9
[bus]
protocol = "mesi_snoop"
clock_mhz = 100
width_bytes = 8
[memory]
latency_ns = 100
[sources]
"memory" = "assumed: a test"
"memory.latency_ns" = "calibrated: a.row"
)";

  // kMachine with two nodes.
  static std::string node_machine() {
    std::string text = replace_line(kMachine, "cpus = 4", "cpus = 4\nnodes = 2");
    return replace_line(text, "[sources]",
                        "[node]\nprotocol = \"mesi_node\"\n[directory]\nprotocol = \"mesi_directory\"\n[network]\n"
                        "topology = \"ring\"\nlatency_ns = 25\n[sources]");
  }
  // Copies a shipped protocol into the test's folder under another name.
  void copy_protocol(const std::string& name, const std::string& as) const {
    std::filesystem::copy_file(std::filesystem::path(LINEBOUNCE_SOURCE_DIR) / "models/protocols" / (name + ".md"), folder_ / as,
                               std::filesystem::copy_options::overwrite_existing);
  }

  static constexpr const char* kExperiment = R"(name = "e"
title = "an experiment"
machine = "m.toml"
seed = 7
[workload]
name = "counter"
lock = "tas"
[run]
warmup_us = 2.5
seeds = 3
)";

  std::filesystem::path folder_;
};

}  // namespace linebounce::sim
