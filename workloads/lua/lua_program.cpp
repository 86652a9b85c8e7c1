// The workload `program`, whose program is a Lua file. One interpreter for each CPU runs setup(), and then run(cpu) in the
// CPU's fiber, so that functions such as cpu:load(word) can block.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>

#include "workloads/locks/lock_set.hpp"
#include "workloads/lua/cpu_functions.hpp"
#include "workloads/lua/declaration.hpp"
#include "workloads/lua/setup_context.hpp"
#include "workloads/program/throughput.hpp"
#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {
namespace {

struct ProgramOptions {
  std::string program;  // the file's path; its text is WorkloadSetup::program

  void bind(ParameterBinder& parameters) {
    parameters.text("program", program, "the program's file, in Lua (docs/programs.md)");
  }
};

void push_value(lua_State* state, const ParameterValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) lua_pushboolean(state, *flag ? 1 : 0);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) lua_pushinteger(state, *integer);
  if (const auto* number = std::get_if<double>(&value)) lua_pushnumber(state, *number);
  if (const auto* text = std::get_if<std::string>(&value)) lua_pushlstring(state, text->data(), text->size());
}

class LuaProgram final : public Workload {
 public:
  explicit LuaProgram(const Parameters& parameters) : parameters_(parameters) {}

  void set_up(const WorkloadSetup& setting) override {
    if (setting.program == nullptr) throw std::invalid_argument("workload.program: the program's file is missing");
    file_ = *setting.program;
    declaration_ = declaration_of(file_);
    if (!declaration_.program) throw LuaError(file_.name() + ": it defines no run(cpu), as a program does");
    per_cpu_.emplace(setting.memory, setting.machine.cpus, setting.layout.cpus);
    SetupContext context(setting.memory, *per_cpu_, handles_, &setting.locks, nullptr, setting.layout.cpus);
    context.layouts = setting.layouts;
    samples_.resize(static_cast<std::size_t>(setting.machine.cpus));
    std::string compiled;
    for (int cpu = 0; cpu < setting.machine.cpus; ++cpu) {
      interpreters_.push_back(std::make_unique<Interpreter>(file_, cpu));
      set_up_cpu(*interpreters_.back(), setting, context, compiled);
      context.begin_again();
    }
    tallies_ = interpreters_.front()->tallies;
    for (std::size_t cpu = 0; cpu < samples_.size(); ++cpu) interpreters_[cpu]->samples = &samples_[cpu];
  }

  void run(Cpu& cpu) override {
    Interpreter& lua = *interpreters_[static_cast<std::size_t>(cpu.id().value)];
    lua.bind(cpu);
    if (handles_.interrupts) handles_.interrupts->start(cpu);
    lua.push_function("run");
    push_cpu(lua);
    lua.call(1, 0);
  }

  [[nodiscard]] bool ends() const override { return declaration_.ends; }
  [[nodiscard]] int source_line(CpuId cpu) const override {
    return interpreters_[static_cast<std::size_t>(cpu.value)]->source_line();
  }

  void report(const RunFacts& facts, MetricSink& metrics) const override {
    if (facts.measured_ns > 0) report_throughput(facts, 0, metrics);
    const MetricFamily tallied =
        metrics.family("program.<tally>", "", kNeither, "what the program counts under this name, beside the operations");
    for (std::size_t tally = 1; tally < tallies_.size(); ++tally)
      tallied.add({tallies_[tally]}, tallied_by_all(facts, static_cast<int>(tally)));
    report_series(metrics);
  }

 private:
  // Merges all CPUs' samples of a series, sorted by time and then by CPU.
  void report_series(MetricSink& metrics) const {
    std::map<std::string, std::vector<SeriesSample>> all;
    for (const auto& of_cpu : samples_) {
      for (const auto& [name, samples] : of_cpu) all[name].insert(all[name].end(), samples.begin(), samples.end());
    }
    for (auto& [name, samples] : all) {
      std::stable_sort(samples.begin(), samples.end(),
                       [](const SeriesSample& one, const SeriesSample& other) { return one.time_us < other.time_us; });
      metrics.series("program." + name, samples);
    }
  }

  void set_up_cpu(Interpreter& lua, const WorkloadSetup& setting, SetupContext& context, std::string& compiled) {
    lua.set_memory(setting.memory);
    lua.handles = &handles_;
    lua.seed(setting.seed);
    set_machine(lua, setting.memory.line_bytes(), setting.layout.cpus, setting.machine.cpus,
                setting.layout.os_nodes_with_memory.back());
    lua.load(&compiled);
    lua.tallies = read_tallies(lua);
    lua_newtable(lua.state());
    for (const ParameterDeclaration& declared : declaration_.parameters) {
      push_value(lua.state(), parameters_.has(declared.name) ? parameters_.value(declared.name) : declared.default_value);
      lua_setfield(lua.state(), -2, declared.name.c_str());
    }
    lua_setglobal(lua.state(), "workload");
    lua.setup = &context;
    if (lua.push_function("setup")) lua.call(0, 0);
    lua.setup = nullptr;
    name_functions(lua, setting.memory);
  }

  const Parameters parameters_;
  SourceFile file_;
  LuaDeclaration declaration_;
  std::optional<CpuObjects> per_cpu_;
  LuaHandles handles_;
  std::vector<std::unique_ptr<Interpreter>> interpreters_;  // one per CPU
  std::vector<std::string> tallies_;
  std::vector<std::map<std::string, std::vector<SeriesSample>>> samples_;  // each CPU's samples, by series
};

}  // namespace

WorkloadEntry program_workload() {
  return {"program",
          "A program of your own, in Lua",
          declare<ProgramOptions>(),
          make_workload<LuaProgram>,
          {headlines::kOperations}};
}

}  // namespace linebounce::workloads
