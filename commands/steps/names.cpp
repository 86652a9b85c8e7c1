#include "commands/steps/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "models/ordinal.hpp"

namespace linebounce::sim {
namespace {

// Names of bus messages that no protocol defines, in the order of SentMessage::What from `shared` to `word`.
constexpr std::array<const char*, 6> kBusAnswers = {"Shared", "Owned", "Alone", "Deferred", "Data", "Word"};

std::string cache_label(const std::vector<int>& cpus) {
  if (cpus.size() == 1) return fmt::format("CPU {}'s cache", cpus.front());
  std::string text = "CPUs ";
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    if (i > 0) text += i + 1 == cpus.size() ? " and " : ", ";
    text += fmt::format("{}", cpus[i]);
  }
  return text + "' cache";
}

}  // namespace

std::string plain_state(const std::string& name) {
  static const std::map<std::string, std::string> kPlain = {{"M", "Modified"},      {"E", "Exclusive"},       {"S", "Shared"},
                                                            {"I", "Invalid"},       {"O", "Owned"},           {"F", "Forward"},
                                                            {"Sc", "Shared-clean"}, {"Sm", "Shared-modified"}};
  const auto found = kPlain.find(name);
  return found == kPlain.end() ? name : found->second;
}

bool caches_learn_of_copies(const RecordedSteps& run) {
  const std::vector<BaseEvent>& events = run.input.protocols.bus.cache.base_events;
  return std::ranges::any_of(events, [](const BaseEvent& event) { return event.guard == GuardGroup::shared_alone; });
}

std::vector<std::string> message_names(const RecordedSteps& run) {
  std::vector<std::string> names;
  for (const Message& message : run.input.protocols.bus.messages) names.push_back(message.name);
  if (run.input.machine.has_nodes()) {
    for (const Message& message : run.input.protocols.directory.messages) names.push_back(message.name);
  }
  for (const char* answer : kBusAnswers)
    names.emplace_back(answer == std::string_view("Alone") && !caches_learn_of_copies(run) ? "Clean" : answer);
  return names;
}

std::size_t message_number(const RecordedSteps& run, const RunStep& step) {
  const std::size_t bus = run.input.protocols.bus.messages.size();
  const std::size_t network = run.input.machine.has_nodes() ? run.input.protocols.directory.messages.size() : 0;
  switch (static_cast<SentMessage::What>(step.what)) {
    case SentMessage::What::request:
    case SentMessage::What::again: return step.message;
    case SentMessage::What::packet: return bus + step.message;
    default: return bus + network + step.what - ordinal(SentMessage::What::shared);
  }
}

Endpoints::Endpoints(const RecordedSteps& run) {
  if (run.known) *this = Endpoints(run.input.machine);
}

Endpoints::Endpoints(const MachineSpec& machine) {
  using Kind = Endpoint::Kind;
  const MachineLayout layout = lay_out(machine);
  std::map<int, Entry> caches;
  for (std::size_t cpu = 0; cpu < layout.cpus.size(); ++cpu) {
    const CpuPlace& place = layout.cpus[cpu];
    Entry& cache = caches[place.core];
    cache.node = place.node;
    cache.bus = place.bus;
    cache.cpus.push_back(static_cast<int>(cpu));
  }
  for (auto& [core, cache] : caches) add({Kind::cache, core}, cache.node, cache.bus, cache_label(cache.cpus), cache.cpus);
  const int buses = static_cast<int>(layout.cores_on_bus.size());
  const bool several = buses > 1;
  for (int bus = 0; bus < buses; ++bus)
    add({Kind::bus, bus}, layout.node_of_bus(bus), bus, several ? fmt::format("bus {}", bus) : "the bus");
  if (!machine.has_nodes()) {
    add({Kind::memory, 0}, 0, 0, "memory");
    return;
  }
  for (int bus = 0; bus < buses; ++bus)
    add({Kind::controller, bus}, layout.node_of_bus(bus), bus, fmt::format("node controller {}", bus));
  for (int node = 0; node < layout.nodes(); ++node) add({Kind::directory, node}, node, -1, fmt::format("directory {}", node));
  for (std::size_t group = 0; group < layout.groups.size(); ++group)
    add({Kind::group, static_cast<int>(group)}, layout.groups[group].node, -1, fmt::format("group {}", group));
  for (const int agent : layout.agents) {
    const bool group = agent >= layout.first_group();
    home_agents_.push_back({group ? Kind::group : Kind::controller, group ? agent - layout.first_group() : agent});
  }
}

void Endpoints::add(Endpoint endpoint, int node, int bus, std::string label, std::vector<int> cpus) {
  numbers_[{static_cast<int>(endpoint.kind), endpoint.number}] = all_.size();
  all_.push_back({endpoint, node, bus, std::move(cpus), std::move(label)});
}

std::size_t Endpoints::number(const Endpoint& endpoint) const {
  return numbers_.at({static_cast<int>(endpoint.kind), endpoint.number});
}

const std::string& Endpoints::label(Controller controller, int agent) const {
  using Kind = Endpoint::Kind;
  constexpr std::array<Kind, kControllers> kKinds = {Kind::cache, Kind::memory, Kind::directory, Kind::controller, Kind::group};
  return label(Endpoint{kKinds[ordinal(controller)], agent});
}

WordNames::WordNames(const RecordedSteps& run) : run_(&run) {
  for (const auto& [word, name] : run.facts.words) {
    if (name.empty()) continue;
    names_.emplace(word.first, name);
    lines_[run.line_of(word.first).value].insert(name);
  }
}

std::string WordNames::word(Address address) const {
  const auto found = names_.find(address);
  return found == names_.end() ? fmt::format("address 0x{:x}", address) : found->second;
}

// The accessed words on the line; if none was accessed, the line's object.
std::string WordNames::line(LineAddr line) const {
  const auto found = lines_.find(line.value);
  if (found != lines_.end()) {
    const std::set<std::string>& names = found->second;
    const std::string& first = *names.begin();
    if (names.size() == 1) return first;
    if (const std::string whole = whole_object(line, names); !whole.empty()) return whole;
    if (names.size() == 2) return fmt::format("the line of {} and {}", first, *names.rbegin());
    return fmt::format("the line of {} and {} others", first, names.size() - 1);
  }
  const Address address = line.value * static_cast<Address>(run_->facts.line_bytes);
  const Address begin = run_->facts.frames.to_virtual(address);
  const Address end = begin + static_cast<Address>(run_->facts.line_bytes);
  for (const StepRecorder::Object& object : run_->facts.objects) {
    if (object.begin < end && begin < object.begin + static_cast<Address>(object.size)) return "a line of " + object.name;
  }
  return fmt::format("line 0x{:x}", address);
}

// The object that all these words belong to, if it lies entirely on this line; empty if there is none.
std::string WordNames::whole_object(LineAddr line, const std::set<std::string>& names) const {
  const PageFrames& frames = run_->facts.frames;
  for (const StepRecorder::Object& object : run_->facts.objects) {
    const Address end = object.begin + static_cast<Address>(object.size) - 1;
    if (run_->line_of(frames.to_physical(object.begin)) != line || run_->line_of(frames.to_physical(end)) != line) continue;
    const bool all = std::ranges::all_of(names, [&object](const std::string& name) {
      return name.compare(0, object.name.size(), object.name) == 0 &&
             (name[object.name.size()] == '.' || name[object.name.size()] == '[');
    });
    if (all) return object.name;
  }
  return "";
}

std::vector<std::pair<Address, int>> WordNames::called(const std::string& name) const {
  std::vector<std::pair<Address, int>> words;
  for (const auto& [word, own] : run_->facts.words) {
    const bool part = own.size() > name.size() && own.compare(0, name.size(), name) == 0 &&
                      (own[name.size()] == '.' || own[name.size()] == '[');
    if (own == name || part) words.push_back(word);
  }
  return words;
}

std::vector<std::string> WordNames::names() const {
  std::vector<std::string> names;
  for (const auto& [word, name] : run_->facts.words) {
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace linebounce::sim
