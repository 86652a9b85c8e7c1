#include "commands/course/state_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/ordinal.hpp"
#include "sim/results/csv.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

constexpr const char* kNone = "-";

std::string cpu_name(int cpu) {
  return fmt::format("P{}", cpu);
}

int caches_for(const std::vector<int>& cpus) {
  return cpus.empty() ? 1 : 1 + *std::ranges::max_element(cpus);
}

// True if a cache sends a word by this message, in any of its states.
bool is_update(const Protocol& protocol, MessageId message) {
  const BaseEvent& own = protocol.cache.base_events[own_event(message)];
  for (std::size_t state = 0; state < protocol.cache.states.size(); ++state) {
    for (int word = 0; word < own.count; ++word) {
      if (protocol.cache.row(static_cast<StateId>(state), static_cast<EventId>(own.first + word)).does(Verb::send_word))
        return true;
    }
  }
  return false;
}

const char* operation_word(const NamedAccess& access) {
  if (access.linked) return access.writes ? "SC" : "LL";
  return access.writes ? "W" : "R";
}

void append(std::string& list, const std::string& word) {
  list += (list.empty() ? "" : ", ") + word;
}

}  // namespace

const AtomicAccess& run_access(AtomicBus& bus, const NamedAccess& access) {
  return access.linked ? bus.linked_access(access.cpu, access.address, access.bytes, access.writes)
                       : bus.access(access.cpu, access.address, access.bytes, access.writes);
}

StateTable::StateTable(const Protocol& protocol, std::vector<int> cpus, const AtomicCacheSpec& spec)
    : protocol_(protocol),
      cpus_(std::move(cpus)),
      line_bytes_(spec.line_bytes),
      counters_(protocol, caches_for(cpus_), spec.line_bytes, spec.size_bytes / spec.line_bytes),
      bus_(protocol, caches_for(cpus_), spec, counters_) {}

std::vector<StateId> StateTable::states(LineAddr line) const {
  std::vector<StateId> states;
  for (const int cpu : cpus_) states.push_back(bus_.state(cpu, line));
  return states;
}

void StateTable::add(const NamedAccess& access) {
  const LineAddr line(access.address / static_cast<Address>(line_bytes_));
  lines_.try_emplace(line.value, access.line);
  Row row{.cpu = access.cpu, .operation = operation_word(access), .place = access.place, .before = states(line)};
  const bool had_copy = protocol_.cache.states[bus_.state(access.cpu, line)].readable;
  const AtomicAccess& ran = run_access(bus_, access);
  row.after = states(line);
  tell_transactions(ran, had_copy, row);
  if (ran.evicted) {
    row.evicted = lines_.at(ran.evicted->line.value);
    row.evicted_state = state_name(ran.evicted->state);
  }
  rows_.push_back(std::move(row));
  follow_miss(access, line, ran);
}

void StateTable::tell_transactions(const AtomicAccess& ran, bool had_copy, Row& row) const {
  bool is_miss = false, updates = false, writes_through = false;
  for (const AtomicTransaction& transaction : ran.transactions) {
    append(row.bus, protocol_.messages[transaction.message].name);
    if (transaction.to_memory != kNobody) append(row.to_memory, cpu_name(transaction.to_memory));
    if (transaction.of_eviction) continue;
    updates = updates || is_update(protocol_, transaction.message);
    writes_through = writes_through || transaction.operated;
    is_miss = is_miss || (transaction.operated && !had_copy);
    if (transaction.supplier == kNobody) continue;
    is_miss = true;
    row.supplier = transaction.supplier == kMemory ? "memory" : cpu_name(transaction.supplier);
  }
  row.result = ran.failed       ? "fails"
               : ran.hit        ? "hit"
               : is_miss        ? "miss"
               : updates        ? "update"
               : writes_through ? "write-through"
                                : "upgrade";
}

// Enters the class of the miss that brought the copy. Whether a miss was true sharing may turn out at a later access.
void StateTable::follow_miss(const NamedAccess& access, LineAddr line, const AtomicAccess& ran) {
  const auto [was, is] = ran.miss;
  if (was == is) return;
  std::size_t& row = latest_miss_[{access.cpu, line.value}];
  if (was == MissClass::none) row = rows_.size() - 1;
  rows_[row].miss = is;
}

std::string StateTable::states_text(const Row& row, std::size_t column) const {
  const std::string& before = state_name(row.before[column]);
  const std::string& after = state_name(row.after[column]);
  return before == after ? before : fmt::format("{}→{}", before, after);
}

std::string StateTable::result_text(const Row& row) const {
  const std::string_view words = kMissClassWords[ordinal(row.miss)];
  return words.empty() ? row.result : fmt::format("{}: {}", row.result, words);
}

std::vector<std::vector<std::string>> StateTable::cells() const {
  const bool any_to_memory = std::ranges::any_of(rows_, [](const Row& row) { return !row.to_memory.empty(); });
  const bool any_evicted = std::ranges::any_of(rows_, [](const Row& row) { return !row.evicted.empty(); });
  const auto or_none = [](const std::string& text) { return text.empty() ? std::string(kNone) : text; };
  std::vector<std::vector<std::string>> cells = {{"no.", "CPU", "op", "address"}};
  std::vector<std::string>& titles = cells.front();
  for (const int cpu : cpus_) titles.push_back(cpu_name(cpu));
  titles.insert(titles.end(), {"bus", "data from"});
  if (any_to_memory) titles.emplace_back("to memory");
  if (any_evicted) titles.emplace_back("evicts");
  titles.emplace_back("result");
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    std::vector<std::string> texts = {fmt::format("{}", i + 1), cpu_name(row.cpu), row.operation, row.place};
    for (std::size_t column = 0; column < cpus_.size(); ++column) texts.push_back(states_text(row, column));
    texts.insert(texts.end(), {or_none(row.bus), or_none(row.supplier)});
    if (any_to_memory) texts.push_back(or_none(row.to_memory));
    if (any_evicted) texts.push_back(row.evicted.empty() ? kNone : fmt::format("{} ({})", row.evicted, row.evicted_state));
    texts.push_back(result_text(row));
    cells.push_back(std::move(texts));
  }
  return cells;
}

std::string StateTable::text(const Painter& paint) const {
  const std::vector<std::vector<std::string>> all = cells();
  std::vector<Column> columns;
  for (const std::string& title : all.front()) columns.push_back(columns.empty() ? figures(title, 0) : words(title, 0, 2));
  Table table(columns, paint);
  for (std::size_t i = 1; i < all.size(); ++i) table.add({all[i].begin(), all[i].end()});
  return table.text();
}

std::string StateTable::csv() const {
  std::string out = "number,cpu,operation,address";
  for (const int cpu : cpus_) out += fmt::format(",{0}_before,{0}_after", cpu_name(cpu));
  out += ",bus,data_from,to_memory,evicts,evicted_state,result,miss_class\n";
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    out += fmt::format("{},{},{},{}", i + 1, cpu_name(row.cpu), row.operation, csv_field(row.place));
    for (std::size_t column = 0; column < cpus_.size(); ++column)
      out += fmt::format(",{},{}", state_name(row.before[column]), state_name(row.after[column]));
    out += fmt::format(",{},{},{},{},{},{},{}\n", csv_field(row.bus), row.supplier, csv_field(row.to_memory),
                       csv_field(row.evicted), row.evicted_state, row.result, kMissClassWords[ordinal(row.miss)]);
  }
  return out;
}

}  // namespace linebounce::sim
