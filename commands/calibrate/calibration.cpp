#include "commands/calibrate/calibration.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "commands/calibrate/placed_caches.hpp"
#include "commands/calibrate/simulated_apart.hpp"
#include "commands/calibrate/structure.hpp"
#include "commands/calibrate/verdict.hpp"
#include "commands/calibrate/waiting_costs.hpp"
#include "models/coherence/bus_order.hpp"
#include "models/machine_layout.hpp"
#include "models/text/shell_word.hpp"
#include "sim/config/contention.hpp"
#include "sim/config/experiment_tables.hpp"
#include "sim/config/toml_text.hpp"
#include "sim/point/config_error.hpp"

namespace linebounce::sim {
namespace {

constexpr const char* kGeneric = "generic_2socket_32core";
constexpr double kOffShare = 0.02;     // as a share of a block's mean; larger deviations are reported
constexpr double kSpreadShare = 0.05;  // as a share of a block's mean; a block whose pairs differ more is reported
constexpr std::string_view kMachine = "machine.";
constexpr const char* kOsNodes = "machine.os_nodes";
constexpr double kMovedShare = 0.005;  // as a share of a block's mean; if one moves farther, all latencies are fitted again
constexpr int kAllSimulated = 16;      // in CPUs; for a larger machine, a sample is fitted

MachineSpec typed(const MachineTables& tables) {
  MachineSpec machine = to_typed(tables.settings, tables.parts).machine;
  check_machine(machine, tables.settings);
  return machine;
}

class Calibrator {
 public:
  explicit Calibrator(const CalibrationRequest& request)
      : request_(request),
        structure_(request.groups ? structure_of(request.measured, *request.groups) : find_structure(request.measured)) {}

  Calibration run() {
    result_.base = request_.machine.value_or(kGeneric);
    result_.machine = read_machine_file(result_.base, "", "--machine");
    for (auto& [path, source] : result_.machine.sources) source = copied();
    if (request_.machine) {
      check_cpus();
    } else {
      take_structure();
    }
    name_family();
    if (!request_.machine && !request_.probe) take_caches();
    number_cpus();
    if (!request_.os_nodes.empty()) set_os_nodes();
    set("machine.name", request_.name);
    set("machine.title", title());
    if (request_.probe) own_.emplace(*request_.probe, result_.machine, source_of_probe());
    if (own_) own_->set_directly(request_.machine.has_value());
    prepare_latencies();
    fit_latencies();
    if (own_) add_own_costs();
    if (request_.memory) add_memory(*request_.memory);
    list_what_was_fitted();
    measure_what_is_left();
    judge();
    say_what_is_unexplained();
    say_what_is_undetermined();
    complete_sources();
    list_what_is_assumed();
    return std::move(result_);
  }

 private:
  void set(const std::string& path, const ConfigValue& value) { result_.machine.settings.at(path).value = value; }
  void set_from_matrix(const std::string& path, const ConfigValue& value) {
    set(path, value);
    from_matrix(path);
  }
  void from_matrix(const std::string& path) {
    result_.machine.sources[path] = "calibrated: core-to-core matrix " + request_.matrix_file;
  }

  // A count of CPUs or their groups, or their order.
  void set_from_structure(const std::string& path, const ConfigValue& value) {
    set_from_matrix(path, value);
    if (request_.groups) result_.machine.sources[path] = "datasheet: the CPUs in " + request_.structure_file;
  }

  // Chooses the contention family: the user's, or that of the processor. The matrix shows nothing about contention, because
  // no CPU waited while it was measured.
  void name_family() {
    std::vector<PlaceOfName> places = request_.names;
    if (request_.probe) places.insert(places.begin(), {request_.probe->model, "as linebounce-probe names it"});
    const std::optional<NamedProcessor> named = find_processor(places);
    ChosenFamily family = family_of(request_.family.value_or(""), named);
    if (family.name.empty() && !request_.machine && !request_.probe)
      family = ask_or_refuse(request_.ask_family, request_.matrix_file, found_text(), named);
    if (family.name.empty()) return;
    set_family(family);
    if (!request_.machine) take_usual(family.name, named);
  }

  [[nodiscard]] std::string found_text() const {
    return fmt::format("{} CPUs: {} nodes, {} buses, {} threads a core", request_.measured.cpus(), structure_.nodes,
                       structure_.nodes * structure_.buses_per_node, structure_.threads_per_core);
  }

  void set_family(const ChosenFamily& family) {
    MachineTables& machine = result_.machine;
    machine.settings.at(kContention) = {family.name, Origin{"--family"}};
    machine.sources[kContention] = family.source;
    // Replaces the base machine's values, which are those of another processor, with the family's.
    Family values = load_family(family.name, "--family");
    for (const Family::Parameter& parameter : values.parameters) {
      machine.settings.at(parameter.path).from = Setting::From::schema;
      machine.sources.erase(parameter.path);
    }
    apply_contention(machine.settings, machine.keys, values);
  }

  // The memory order, the lines and the clock of the named processor, as far as its name says them, else its family's.
  void take_usual(const std::string& family, const std::optional<NamedProcessor>& named) {
    const UsualValues usual = usual_values(family, named);
    MachineTables& machine = result_.machine;
    if (!usual.known.consistency.empty()) {
      set("machine.cpu.consistency", usual.known.consistency);
      machine.sources["machine.cpu.consistency"] = usual.source;
    }
    for (const std::string& cache : machine.parts.caches) {
      const std::string path = "machine.cache." + cache + ".line_bytes";
      if (usual.known.line_bytes == 0) break;
      set(path, std::int64_t{usual.known.line_bytes});
      machine.sources[path] = usual.source;
    }
    const std::optional<double> mhz = request_.mhz ? request_.mhz : named ? named->mhz : std::nullopt;
    if (!mhz) return;
    set("machine.cpu.clock_mhz", std::int64_t{std::llround(*mhz)});
    machine.sources["machine.cpu.clock_mhz"] = "datasheet: the clock in " + (request_.mhz ? request_.clock_from : usual.of);
  }

  void check_cpus() const {
    const MachineSpec machine = typed(result_.machine);
    if (machine.cpus == request_.measured.cpus()) return;
    throw ConfigError(
        fmt::format("{}: a matrix of {} CPUs, but machine {} has {}; choose another machine, or leave --machine out",
                    request_.matrix_file, request_.measured.cpus(), result_.base, machine.cpus));
  }

  void take_structure() {
    const std::int64_t cpus = request_.measured.cpus();
    const std::int64_t seats =
        std::int64_t{structure_.nodes} * structure_.buses_per_node * structure_.cores_per_bus * structure_.threads_per_core;
    if (seats > kMostCpus) {
      throw ConfigError(fmt::format(
          "{}: groups of very different sizes: {} nodes of {} buses of {} cores of {} threads would be {} CPUs, more than a "
          "machine can have ({}); --machine gives a structure",
          request_.matrix_file, structure_.nodes, structure_.buses_per_node, structure_.cores_per_bus,
          structure_.threads_per_core, seats, kMostCpus));
    }
    if (structure_.cores_per_bus > kMostOnBus) {
      throw ConfigError(fmt::format(
          "{}: shows no groups in {} cores, more than a machine can have behind one last-level cache (legal: {}); a "
          "file with the structure may show them: lscpu -J -e > cpus.json; linebounce import cpus.json {}",
          request_.matrix_file, structure_.cores_per_bus, kMostOnBus, shell_word(request_.matrix_file)));
    }
    set("machine.cpus_present", seats);
    set_from_structure("machine.cpus", cpus);
    set_from_structure("machine.nodes", std::int64_t{structure_.nodes});
    set_from_structure("machine.buses_per_node", std::int64_t{structure_.buses_per_node});
    set_from_structure("machine.cpu.threads_per_core", std::int64_t{structure_.threads_per_core});
    if (structure_.nodes > 1) set_from_matrix("machine.network.topology", std::string(word_of(structure_.topology)));
    if (structure_.topology == Topology::links) add_links();
  }

  void set_os_nodes() {
    result_.machine.settings.at(kOsNodes) = {request_.os_nodes, Origin{"--os-nodes"}};
    result_.machine.sources[kOsNodes] = "assumed: --os-nodes says so";
    typed(result_.machine);  // throws an error if they do not fit the machine
  }

  [[nodiscard]] std::string copied() const { return "assumed: copied from " + result_.base; }

  // Takes the caches of the file with the structure. One that spans buses is divided among them: a machine has a cache behind
  // each bus.
  void take_caches() {
    if (request_.caches.empty()) return;
    if (!has_all_levels(request_.caches)) {
      result_.noted.push_back(
          fmt::format("{} does not state all levels of caches: the others are {}'s.", request_.caches_file, result_.base));
    }
    caches_ = request_.caches;
    ProbedCache& last = caches_.back();
    const int cpus_of_bus = structure_.cores_per_bus * structure_.threads_per_core;
    if (last.shared_by > cpus_of_bus) {
      const int buses = buses_of(last.shared_by);
      result_.noted.push_back(fmt::format("{} buses share each L{}, of {} KiB; in the machine each has its part of it.", buses,
                                          last.level, last.size_kib));
      last.size_kib /= buses;
      last.shared_by = cpus_of_bus;
    }
    FittedTables tables(result_.machine, "datasheet: the caches in " + request_.caches_file);
    const PlacedCaches placed = place_caches(tables, caches_, false);
    result_.noted.insert(result_.noted.end(), placed.notes.begin(), placed.notes.end());
  }

  // How many buses this many CPUs fill.
  [[nodiscard]] int buses_of(int cpus) const {
    std::set<int> all;
    for (const Seat& seat : structure_.seats) all.insert(seat.bus);
    const double mean = static_cast<double>(structure_.seats.size()) / static_cast<double>(all.size());
    return std::max(1, static_cast<int>(std::lround(cpus / mean)));
  }

  void add_links() {
    MachineTables& machine = result_.machine;
    for (const auto& [low, high] : structure_.links) machine.parts.links.push_back(fmt::format("{}_{}", low, high));
    machine.keys = KeySpace();
    for (const KeyInfo& key : schema_keys(machine.parts)) {
      if (key.path.starts_with(kMachine)) machine.keys.add(key);
    }
    for (const std::string& link : machine.parts.links) {
      for (const std::string key : {"latency_ns", "bandwidth_mb_per_s"}) {
        machine.settings["machine.network.link." + link + "." + key] = machine.settings.at("machine.network." + key);
      }
    }
  }

  // Numbers the machine's CPUs as the file does: with a cpu_order if one fits, else with a list. A machine that the user
  // chose keeps its own order, and the report says which CPU of the file each of its CPUs is.
  void number_cpus() {
    result_.file_cpu.resize(request_.measured.cpus());
    std::iota(result_.file_cpu.begin(), result_.file_cpu.end(), 0);
    if (!request_.machine && structure_.uneven()) return list_cpus();
    if (structure_.uneven() || !shape_fits()) return;
    const ConfigValue order = result_.machine.settings.at("machine.cpu_order").value;
    for (const char* candidate : {"spread", "fill"}) {
      if (request_.machine && order != ConfigValue{std::string(candidate)}) continue;
      set("machine.cpu_order", std::string(candidate));
      if (!numbers_fit()) continue;
      if (!request_.machine) set_from_structure("machine.cpu_order", std::string(candidate));
      return;
    }
    set("machine.cpu_order", order);
    if (request_.machine) {
      renumber();
    } else {
      list_cpus();
    }
  }

  void list_cpus() { set_from_structure("machine.cpu_list", fmt::format("{}", fmt::join(structure_.hardware_threads, " "))); }

  [[nodiscard]] bool shape_fits() const {
    const MachineSpec machine = typed(result_.machine);
    const MachineLayout layout = lay_out(machine);
    if (machine.cpu.threads_per_core != structure_.threads_per_core || machine.buses_per_node != structure_.buses_per_node ||
        machine.nodes != structure_.nodes) {
      return false;
    }
    if (structure_.uneven()) return layout.cpus.size() == structure_.seats.size() && numbers_fit();
    const auto& cores = layout.cores_on_bus;
    return machine.cpus == machine.cpus_present &&
           std::ranges::all_of(cores, [&cores](int count) { return count == cores[0]; });
  }

  [[nodiscard]] MachineLayout seats_as_layout(const MachineLayout& layout) const {
    MachineLayout seats = layout;
    for (std::size_t cpu = 0; cpu < structure_.seats.size(); ++cpu) {
      const Seat& seat = structure_.seats[cpu];
      seats.cpus[cpu] = {seat.node, seat.bus, seat.core, seat.thread};
    }
    return seats;
  }

  [[nodiscard]] bool numbers_fit() const {
    const MachineSpec machine = typed(result_.machine);
    const MachineLayout layout = lay_out(machine);
    const auto by_machine = blocks_of(machine, layout);
    const auto by_matrix = blocks_of(machine, seats_as_layout(layout));
    return std::equal(by_machine.begin(), by_machine.end(), by_matrix.begin(), by_matrix.end(),
                      [](const Block& a, const Block& b) { return a.pairs == b.pairs; });
  }

  void renumber() {
    const MachineLayout layout = lay_out(typed(result_.machine));
    for (std::size_t cpu = 0; cpu < layout.cpus.size(); ++cpu) {
      const CpuPlace& place = layout.cpus[cpu];
      const auto found = std::ranges::find(structure_.seats, Seat{place.node, place.bus, place.core, place.thread});
      result_.file_cpu[cpu] = static_cast<int>(found - structure_.seats.begin());
    }
  }

  void prepare_latencies() {
    const MachineSpec machine = typed(result_.machine);
    const int cpus = machine.cpus;
    result_.measured = LatencyMatrix(cpus);
    for (int a = 0; a < cpus; ++a) {
      for (int b = 0; b < a; ++b) result_.measured.set_as(a, b, request_.measured, file_cpu(a), file_cpu(b));
    }
    const MachineLayout layout = lay_out(machine);
    result_.home = request_.machine ? -1 : structure_.home;
    blocks_ = blocks_of(machine, layout, result_.home >= 0);
    if (!request_.machine) result_.positions = find_positions(result_.measured, layout, blocks_);
    knobs_ = knobs_of(machine, blocks_, request_.access);
    if (own_) std::erase_if(knobs_, [this](const Knob& knob) { return own_->determined().contains(knob.paths.front()); });
    for (const Knob& knob : knobs_) {
      for (const std::string& path : knob.paths) latencies_before_[path] = number_at(result_.machine.settings, path);
    }
  }

  void fit_latencies() {
    fit_blocks();
    put(result_.machine.settings, fit_.values);
    // A parameter that the matrix determines counts as calibrated even if the fit did not change it.
    for (const std::size_t knob : fit_.separation.apart) from_matrix(knobs_[knob].paths.front());
    for (const auto& [path, value] : fit_.values) from_matrix(path);
    if (result_.positions.positions.any()) set_positions();
    const bool as_fitted = !sampled() && !result_.positions.positions.any();
    result_.simulated = as_fitted ? fit_.simulated : simulated({Values{}}).front();
  }

  // Fits two costs that the matrix contains as well, because each hand-off invalidates the giver's copy. If this moves the
  // matrix's blocks, fits the latencies again; if they can't make up for it, the matrix limits these costs.
  void fit_invalidation(WaitingCosts& waiting) {
    const bool taken = waiting.fit_invalidation();
    const bool parted = waiting.fit_intervention();
    if (!taken && !parted) return;
    const LatencyMatrix before = result_.simulated;
    const bool moved = fit_moved_latencies();
    if (taken && (moved || parted)) {
      waiting.fit_invalidation();
      fit_moved_latencies();
    }
    if (waiting.invalidate_sooner(lengthened_since(before))) fit_latencies();
  }

  // How much longer than measured hand-offs have become by what was fitted since `before`, in ns: the most of any block.
  [[nodiscard]] double lengthened_since(const LatencyMatrix& before) const {
    double most = 0;
    for (const Block& block : blocks_) {
      const double allowed = std::max(mean_of(block, result_.measured), mean_of(block, before)) * (1 + kMovedShare);
      most = std::max(most, mean_of(block, result_.simulated) - allowed);
    }
    return most;
  }

  // Simulates the matrix with what was fitted since, and fits the latencies again if one of its blocks has moved.
  bool fit_moved_latencies() {
    const LatencyMatrix before = std::exchange(result_.simulated, simulated({Values{}}).front());
    const bool moved = std::ranges::any_of(blocks_, [&](const Block& block) {
      const double mean = mean_of(block, before);
      return std::fabs(mean_of(block, result_.simulated) - mean) > kMovedShare * mean;
    });
    if (moved) fit_latencies();
    return moved;
  }

  void list_what_was_fitted() {
    std::vector<FittedValue> of_matrix;
    for (const auto& [path, before] : latencies_before_) {
      const double after = number_at(result_.machine.settings, path);
      if (after != before) of_matrix.push_back({short_path(path), result_.machine.keys.find(path)->unit, before, after});
    }
    result_.parameters = static_cast<int>(of_matrix.size()) + result_.positions.positions.parameters;
    result_.fitted.insert(result_.fitted.begin(), of_matrix.begin(), of_matrix.end());
  }

  [[nodiscard]] bool sampled() const { return !request_.machine && request_.measured.cpus() > kAllSimulated; }

  std::vector<LatencyMatrix> simulated(const std::vector<Values>& candidates) {
    result_.simulations += static_cast<int>(candidates.size());
    return MatrixSimulator(result_.machine, {request_.access, result_.home}, request_.at_once, request_.progress)(candidates);
  }

  // Fits all latencies, as if all cores of the machine were equally far apart. The effect of their positions is subtracted
  // from the matrix first.
  void fit_blocks() {
    Values start;
    for (const auto& [path, before] : latencies_before_) start[path] = number_at(result_.machine.settings, path);
    MachineTables tables = result_.machine;
    const Positions& positions = result_.positions.positions;
    for (const char* path : {"machine.bus.way_ns", "machine.bus.edge_way_ns", "machine.bus.places"}) {
      if (positions.any()) tables.settings.at(path).value = std::string();
    }
    const LatencyMatrix alike = without_positions(result_.measured, lay_out(typed(tables)), positions);
    Sample sample{{}, alike, blocks_};
    if (sampled()) {
      sample = sample_of(alike, blocks_);
      std::vector<int> threads;
      for (const int cpu : sample.cpus) threads.push_back(structure_.hardware_threads[cpu]);
      tables.settings.at("machine.cpus").value = static_cast<std::int64_t>(threads.size());
      tables.settings.at("machine.cpu_list").value = fmt::format("{}", fmt::join(threads, " "));
    }
    MatrixSimulator simulator(tables, {request_.access, result_.home}, request_.at_once, request_.progress);
    fit_ = fit(knobs_, sample.blocks, sample.measured, start, [&](const std::vector<Values>& candidates) {
      result_.simulations += static_cast<int>(candidates.size());
      return simulator(candidates);
    });
  }

  // Writes the cores' positions into the machine: one word for each core that its groups can hold, in the order of seats,
  // whether the core is present or not.
  void set_positions() {
    const MachineLayout layout = lay_out(typed(result_.machine));
    const Positions& positions = result_.positions.positions;
    const auto text_of = [&](const auto& word_of) {
      std::vector<std::string> words(layout.cores_present, word_of(std::nullopt));
      for (std::size_t core = 0; core < layout.seat_of_core.size(); ++core) {
        words[layout.seat_of_core[core]] = word_of(std::optional(core));
      }
      return fmt::format("{}", fmt::join(words, " "));
    };
    const auto latencies = [&](const std::vector<double>& ns) {
      return text_of([&](std::optional<std::size_t> core) { return core ? fmt::format("{:g}", ns[*core]) : "0"; });
    };
    if (!positions.way_ns.empty()) set_from_matrix("machine.bus.way_ns", latencies(positions.way_ns));
    if (!positions.edge_way_ns.empty()) set_from_matrix("machine.bus.edge_way_ns", latencies(positions.edge_way_ns));
    if (positions.places.empty()) return;
    set_from_matrix("machine.bus.places", text_of([&](std::optional<std::size_t> core) {
                      return core ? fmt::format("{},{}", positions.places[*core].first, positions.places[*core].second) : "0,0";
                    }));
    set_from_matrix("machine.bus.hop_ns", positions.hop_ns);
  }

  [[nodiscard]] int file_cpu(int cpu) const { return result_.file_cpu[cpu]; }

  void measure_what_is_left() {
    double squares = 0;
    double sum = 0;
    double farthest = -1;
    std::size_t pairs = 0;
    for (const Block& block : blocks_) {
      double of_block = 0;
      for (const auto& [a, b] : block.pairs) {
        const double off = result_.measured.at(a, b) - result_.simulated.at(a, b);
        of_block += off * off;
        if (std::fabs(off) > farthest) farthest = std::fabs(off), result_.worst = {a, b};
      }
      squares += of_block;
      sum += mean_of(block, result_.measured) * static_cast<double>(block.pairs.size());
      pairs += block.pairs.size();
      result_.blocks.push_back({block, mean_of(block, result_.measured), mean_of(block, result_.simulated),
                                std::sqrt(of_block / static_cast<double>(block.pairs.size()))});
    }
    result_.rms = std::sqrt(squares / static_cast<double>(pairs));
    result_.mean = sum / static_cast<double>(pairs);
  }

  // The user's machine may have another structure than the matrix. Then its cores are not those that were measured, and a
  // contradiction between their pairs would mean nothing.
  void judge() {
    const bool kept_another = request_.machine && !shape_fits();
    if (!kept_another) result_.contradiction = find_contradiction(result_.measured, lay_out(typed(result_.machine)));
    result_.directions = compare_there_and_back(result_.measured);
    result_.verdict = verdict_on(result_, !request_.machine ? StructureFrom::matrix
                                          : kept_another    ? StructureFrom::another_machine
                                                            : StructureFrom::machine);
    const std::string rows = request_.probe ? on_rows_that_differ(*request_.probe) : "";
    if (!rows.empty()) result_.verdict += (result_.verdict.empty() ? "" : " ") + rows;
  }

  void say_what_is_unexplained() {
    auto& said = result_.unexplained;
    if (!request_.machine) said = structure_.notes;
    if (request_.machine && !shape_fits()) {
      said.push_back(
          fmt::format("The matrix looks like nodes x buses x threads = {} x {} x {}; {} has another structure, which "
                      "was kept.",
                      structure_.nodes, structure_.buses_per_node, structure_.threads_per_core, result_.base));
    }

    bool off = false;
    for (const BlockResult& block : result_.blocks) {
      if (std::fabs(block.measured - block.simulated) > kOffShare * block.measured) {
        said.push_back(
            fmt::format("{}: {:.1f} ns measured, {:.1f} ns simulated.", name_of(block.block), block.measured, block.simulated));
        off = true;
      }
      const double spread = pairs_differ_by(block);
      if (spread > kSpreadShare * block.measured) {
        said.push_back(fmt::format("{}: its pairs differ by {:.1f} ns (RMS) from {}.", name_of(block.block), spread,
                                   result_.positions.positions.any() ? "what the machine shows, its mean put aside"
                                                                     : "their mean; in the machine they are all alike"));
      }
    }
    if (off) said.push_back(how_far_the_search_went());
    if (!request_.machine && !request_.groups && structure_.nodes > 1) {
      said.push_back(fmt::format(
          "Whether groups are sockets or clusters of one cannot be seen in a matrix; they are nodes here, each with memory, "
          "and nodes of the operating system{}. A file with the structure says it: lscpu -J -e > cpus.json; linebounce import "
          "cpus.json {}",
          request_.os_nodes.empty() ? ", unless --os-nodes says otherwise (machine: one node)" : " as --os-nodes says",
          shell_word(request_.matrix_file)));
    }
  }

  [[nodiscard]] std::string how_far_the_search_went() const {
    switch (fit_.end) {
      case SearchEnd::nothing_left:
        return "Of the squares of all pairs nearly all is differences inside blocks, which no parameter moves.";
      case SearchEnd::no_step_gains:
        return fmt::format(
            "Of {} parameters, {} were changed up and down where the search came to rest, each alone; no such step made the "
            "sum "
            "of the squares of all pairs 2 % smaller, nor did their effects promise that of several together. The others do "
            "the same as those, or nothing.",
            knobs_.size(), fit_.separation.apart.size());
      case SearchEnd::cut_off: break;
    }
    return "The search was ended before it came to rest: calibrate again, with --machine and the file that was written.";
  }

  // Sentences on changes of the parameters that would leave the matrix as it is.
  void say_what_is_undetermined() {
    auto& said = result_.undetermined;
    const Separation& separation = fit_.separation;
    for (const std::size_t first : separation.apart) {
      std::vector<std::string> alike;
      for (const Dependence& dependence : separation.dependent) {
        if (dependence.on == std::vector{first}) alike.push_back(knob_name(dependence.unknown));
      }
      if (alike.empty()) continue;
      said.push_back(fmt::format("{} and {}: the matrix shows only what they cost together. The first was fitted first.",
                                 knob_name(first), fmt::join(alike, ", ")));
    }
    std::map<std::vector<std::size_t>, std::vector<std::string>> as_several_do;
    for (const Dependence& dependence : separation.dependent) {
      if (dependence.on.size() > 1) as_several_do[dependence.on].push_back(knob_name(dependence.unknown));
    }
    for (const auto& [others, names] : as_several_do) {
      said.push_back(fmt::format("{}: {}, changed together, have the same effect.", fmt::join(names, ", "), several(others)));
    }
    if (!separation.powerless.empty()) {
      said.push_back(
          fmt::format("Where the search began, no pair showed {}.", fmt::join(names_of(separation.powerless), ", ")));
    }
    if (own_ || request_.memory) return;
    said.push_back(
        fmt::format("No pair of CPUs shows what memory costs: memory.latency_ns and all else are those of {}.", result_.base));
  }

  [[nodiscard]] std::string several(const std::vector<std::size_t>& knobs) const {
    constexpr std::size_t kMostNamed = 4;
    if (knobs.size() > kMostNamed) return fmt::format("{} others", knobs.size());
    return fmt::format("{}", fmt::join(names_of(knobs), " and "));
  }

  [[nodiscard]] std::string knob_name(std::size_t knob) const { return short_path(knobs_[knob].paths.front()); }
  [[nodiscard]] std::vector<std::string> names_of(const std::vector<std::size_t>& knobs) const {
    std::vector<std::string> names;
    for (const std::size_t knob : knobs) names.push_back(knob_name(knob));
    return names;
  }

  // RMS deviation of the block's pairs, without the part that is due to the deviation of the block's mean.
  static double pairs_differ_by(const BlockResult& result) {
    const double off = result.measured - result.simulated;
    return std::sqrt(std::max(0.0, result.rms * result.rms - off * off));
  }

  [[nodiscard]] std::string title() const {
    if (!request_.probe) return "Calibrated to a core-to-core matrix: " + request_.matrix_file;
    return request_.probe->model + ", calibrated to " + request_.matrix_file;
  }

  // Fits the latency of a node's own memory. That of other nodes' memories follows from it, and is compared.
  void add_memory(const MemoryLatencies& measured) {
    const auto ring = [](int node, double ns) {
      return ProbedRing{.level = "memory", .cpu_node = 0, .memory_node = node, .ns = {ns, ns, ns, 1}};
    };
    ProbeFile rings;
    for (int node = 0; node < typed(result_.machine).nodes; ++node) rings.node.push_back(node);
    rings.rings.push_back(ring(0, measured.local_ns));
    if (measured.other_ns) rings.rings.push_back(ring(1, *measured.other_ns));
    OwnCosts costs(rings, result_.machine, fmt::format("calibrated: {} {}", measured.source, request_.matrix_file));
    costs.fit_ways();
    result_.simulated = simulated({Values{}}).front();
    costs.predict(result_.file_cpu);
    take_costs(costs);
  }

  // Fits the costs that the matrix does not show. Then simulates the matrix again, because its latencies contain some of
  // them.
  void add_own_costs() {
    WaitingCosts waiting(*request_.probe, result_.machine, result_.file_cpu, source_of_probe(), request_.at_once,
                         [this](int more) {
                           result_.simulations += more;
                           request_.progress(result_.simulations);
                         });
    fit_invalidation(waiting);
    own_->fit_ways();
    waiting.fit_contended();
    result_.simulated = simulated({Values{}}).front();
    own_->predict(result_.file_cpu);
    result_.noted.insert(result_.noted.end(), own_->notes().begin(), own_->notes().end());
    result_.waiting = waiting.said();
    take_costs(*own_);
    take_costs(waiting);
  }

  template <class Costs>
  void take_costs(const Costs& costs) {
    for (const ChangedNumber& number : costs.changed()) {
      if (latencies_before_.contains(number.path)) continue;
      result_.fitted.push_back(
          {short_path(number.path), result_.machine.keys.find(number.path)->unit, number.before, number.after});
    }
    result_.own_costs.insert(result_.own_costs.end(), costs.fitted().begin(), costs.fitted().end());
    result_.predictions.insert(result_.predictions.end(), costs.predictions().begin(), costs.predictions().end());
  }

  [[nodiscard]] std::string source_of_probe() const { return "calibrated: linebounce-probe " + request_.matrix_file; }

  void list_what_is_assumed() {
    std::map<std::string, std::vector<std::string>> tables;
    for (const KeyInfo& key : result_.machine.keys.keys()) {
      if (key.structural || !is_shown(key, result_.machine.settings)) continue;
      const std::string* source = source_of(result_.machine.sources, key.path);
      const auto setting = result_.machine.settings.find(key.path);
      if (setting != result_.machine.settings.end() && setting->second.from == Setting::From::family) continue;
      if (source != nullptr && !source->starts_with(copied())) continue;
      const std::string path = short_path(key.path);
      const std::size_t dot = path.rfind('.');
      tables[dot == std::string::npos ? "machine" : path.substr(0, dot)].push_back(
          dot == std::string::npos ? path : path.substr(dot + 1));
    }
    for (const auto& [table, names] : tables) {
      result_.assumed.push_back(fmt::format("{}: {}", table, fmt::join(names, ", ")));
    }
  }

  void complete_sources() {
    MachineTables& machine = result_.machine;
    for (const KeyInfo& key : machine.keys.keys()) {
      if (key.structural || !is_shown(key, machine.settings) || source_of(machine.sources, key.path) != nullptr) continue;
      machine.sources[key.path] = copied() + ", which gives no source";
    }
  }

  const CalibrationRequest& request_;
  Structure structure_;
  std::optional<OwnCosts> own_;
  std::vector<ProbedCache> caches_;  // of a file with the structure
  std::vector<Block> blocks_;
  std::vector<Knob> knobs_;
  Values latencies_before_;
  FitResult fit_;
  Calibration result_;
};

// Removes the values that come from the machine's contention family, and their sources, from its file.
void leave_to_family(toml::table& machine, const Settings& settings) {
  for (const auto& [path, setting] : settings) {
    if (setting.from != Setting::From::family || path == kContention) continue;
    const std::string key = short_path(path);
    const std::size_t dot = key.rfind('.');
    if (auto* table = machine.at_path(key.substr(0, dot)).as_table()) table->erase(key.substr(dot + 1));
    if (auto* sources = machine["sources"].as_table()) sources->erase(key);
  }
}

}  // namespace

Calibration calibrate(const CalibrationRequest& request) {
  return Calibrator(request).run();
}

std::string machine_file_text(const Calibration& calibration, const std::string& matrix_file) {
  std::string text = fmt::format(
      "# Written by `linebounce calibrate --from {}`: {}, with latencies fitted to that file.\n"
      "# RMS of all pairs {:.2f} ns, of a mean of {:.1f} ns.\n",
      matrix_file, calibration.base, calibration.rms, calibration.mean);
  if (!calibration.verdict.empty()) text += "# " + calibration.verdict + "\n";
  for (const auto* sentences : {&calibration.unexplained, &calibration.undetermined}) {
    for (const std::string& sentence : *sentences) text += "# " + sentence + "\n";
  }
  toml::table resolved = resolved_settings(calibration.machine.settings, calibration.machine);
  leave_to_family(*resolved["machine"].as_table(), calibration.machine.settings);
  return text + "\n" + to_toml(*resolved["machine"].as_table());
}

}  // namespace linebounce::sim
