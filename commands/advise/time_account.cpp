#include "commands/advise/time_account.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "commands/advise/line_histories.hpp"
#include "models/core/cpu.hpp"
#include "models/machine/machine.hpp"
#include "models/ordinal.hpp"
#include "models/text/template_arguments.hpp"
#include "sim/simulation/simulate.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/program/address_space.hpp"
#include "workloads/program/layout_set.hpp"

namespace linebounce::sim {
namespace {

using namespace workloads;

struct ClassNames {
  const char *name, *key;
};
constexpr std::array<ClassNames, kTimeClasses> kNames = {{{"computation", "compute"},
                                                          {"private misses", "private_misses"},
                                                          {"a lock", "lock"},
                                                          {"false sharing", "false_sharing"},
                                                          {"true sharing", "true_sharing"},
                                                          {"communication", "communication"},
                                                          {"waiting", "waiting"},
                                                          {"waiting for threads to end", "joining"}}};

// What a thread is doing. The thread's time is charged to it, except for the time of its misses.
struct Doing {
  enum class What : std::uint8_t { nothing, compute, access, lock, wait, join };
  What what = What::compute;
  std::uint32_t subject = 0;             // the number of the lock, or of the object that the thread waits for
  linebounce::Operation operation = {};  // for an access
  FunctionId function = 0;
};

// A miss, and the time that its thread waited for it.
struct TimedMiss {
  MissCause cause;
  Miss miss;
  std::optional<std::uint32_t> lock;  // the lock whose algorithm missed; none: the program itself
  Tick waited = 0;
};

// A program, or a handler that interrupts it.
struct Context {
  int inside = 0;  // depth of nested composites and spins
  Doing doing;
};

struct Thread {
  Tick accounted = 0;  // all time before this tick has been charged
  std::vector<Context> contexts = std::vector<Context>(1);
  std::vector<TimedMiss*> misses;   // misses that have completed, possibly after `accounted`
  TimedMiss* unseen = nullptr;      // the latest miss, until its operation has taken effect
  linebounce::Operation last = {};  // the latest operation that has taken effect
  MissCause last_cause = {};        // the cause of a miss by `last`, in case the miss is reported later
};

struct Key {
  TimeClass what{};
  std::string name;
  auto operator<=>(const Key&) const = default;
};

struct Sum {
  Tick ticks = 0;
  std::map<FunctionId, Tick> by_function;
  std::optional<std::uint32_t> object;
  std::set<Address> words;

  void add(Tick more, FunctionId function) {
    ticks += more;
    by_function[function] += more;
  }
};

// Removes an index: "node" for "node[3]".
std::string without_number(const std::string& name) {
  const std::size_t open = name.rfind('[');
  const bool numbered = open != std::string::npos && open > 0 && name.ends_with("]") &&
                        name.find_first_not_of("0123456789", open + 1) == name.size() - 1;
  return numbered ? name.substr(0, open) : name;
}

// True if one thread makes at least nine in ten writes. Others may only have initialised the word.
bool has_one_writer(const std::vector<WordUse>& users) {
  constexpr double kOneWriter = 0.9;
  std::int64_t all = 0, most = 0;
  for (const WordUse& use : users) {
    all += use.writes;
    most = std::max(most, use.writes);
  }
  return static_cast<double>(most) >= kOneWriter * static_cast<double>(all);
}

class TimeAccountant final : public SimulationTap, public ProgramTap {
 public:
  TimeAccountant(const SimulationInput& input, const trace::Symbols& symbols)
      : input_(input), symbols_(symbols), lines_(input.machine.caches.back().line_bytes) {}

  [[nodiscard]] TimeAccount take() { return std::move(account_); }

  // ---- SimulationTap ----
  ProgramTap& begin(Machine& machine, const AddressSpace& memory, const LockSet& locks) override {
    memory_ = &memory;
    timebase_ = &machine.timebase();
    const CpuSpec& cpu = input_.machine.cpu;
    nearest_hit_ = input_.machine.caches.front().hit_latency_cycles * timebase_->period(cpu.clock);
    threads_.resize(machine.cpus());
    for (const LockSet::Created& created : locks.created()) {
      lock_numbers_.emplace(created.lock, static_cast<std::uint32_t>(lock_names_.size()));
      lock_names_.push_back(created.options.figures.empty() ? created.lock->name() : created.options.figures);
    }
    return *this;
  }
  void miss(const Miss& miss) override {
    Thread& thread = threads_[miss.cpu.value];
    resolve(thread);
    const Context& context = thread.contexts.back();
    TimedMiss& timed = misses_.emplace_back(TimedMiss{.cause = {}, .miss = miss, .lock = {}});
    if (context.doing.what == Doing::What::lock) timed.lock = context.doing.subject;
    thread.misses.push_back(&timed);
    thread.unseen = &timed;
  }
  void program_ended(const Cpu& cpu) override { now_does(cpu, {.what = Doing::What::nothing}); }
  void end(const PointData& point) override;

  // ---- ProgramTap ----
  void called(const Cpu& cpu, const ProgramCall& call) override {
    if (context_of(cpu).inside > 0) return;
    const bool accesses = call.what == ProgramCall::What::memory || call.what == ProgramCall::What::fence;
    Doing doing{.what = accesses ? Doing::What::access : Doing::What::compute};
    if (call.what == ProgramCall::What::memory) doing.operation = call.operation;
    if (call.what == ProgramCall::What::fence) doing.operation.kind = OperationKind::exchange;  // waits for earlier stores
    now_does(cpu, doing);
  }
  void applied(const Cpu& cpu, const linebounce::Operation& operation, Value old) override;
  void forwarded(const Cpu&, Address) override {}
  void spin_begins(const Cpu& cpu, std::span<const Address> words, int) override {
    if (context_of(cpu).inside++ == 0) now_does(cpu, waiting_for(words.front()));
  }
  void spin_polled(const Cpu&) override {}
  void spin_ends(const Cpu& cpu) override { leave(cpu); }
  void composite_begins(const Cpu& cpu, const Composite& composite) override {
    if (context_of(cpu).inside++ > 0) return;
    Doing doing{.what = Doing::What::wait, .subject = AddressSpace::kNoObject};
    if (composite.what == Composite::What::barrier) doing = waiting_for(composite.barrier);
    if (composite.lock != nullptr) doing = {.what = Doing::What::lock, .subject = lock_numbers_.at(composite.lock)};
    now_does(cpu, doing);
  }
  void composite_ends(const Cpu& cpu, bool) override { leave(cpu); }
  void handler_begins(const Cpu& cpu, int) override {
    Thread& thread = threads_[cpu.id().value];
    account_until(thread, cpu.local_time());
    thread.contexts.push_back({.doing = {.function = cpu.function()}});
  }
  void handler_ends(const Cpu& cpu) override {
    Thread& thread = threads_[cpu.id().value];
    account_until(thread, cpu.local_time());
    thread.contexts.pop_back();
  }

 private:
  Context& context_of(const Cpu& cpu) { return threads_[cpu.id().value].contexts.back(); }

  // Charges the time up to now to what the thread was doing, and notes what it does next.
  void now_does(const Cpu& cpu, Doing doing) {
    Thread& thread = threads_[cpu.id().value];
    account_until(thread, cpu.local_time());
    doing.function = cpu.function();
    thread.contexts.back().doing = doing;
  }
  void leave(const Cpu& cpu) {
    if (--context_of(cpu).inside == 0) now_does(cpu, {});
  }

  // A created thread starts once the replay has written the word for which it waits.
  [[nodiscard]] Doing waiting_for(Address word) const {
    const std::uint32_t object = memory_->find_byte(word).object;
    const std::string& name = memory_->objects().at(object).name;
    if (name.ends_with(".begun")) return {.what = Doing::What::nothing};
    return {.what = name.ends_with(".ended") ? Doing::What::join : Doing::What::wait, .subject = object};
  }

  void resolve(Thread& thread) {
    if (thread.unseen == nullptr) return;
    // The operation took effect before its miss was reported. This happens if it ran at the line's home, or at its order
    // step.
    if (thread.last.address == thread.unseen->miss.address) thread.unseen->cause = thread.last_cause;
    thread.unseen = nullptr;
  }

  void account_until(Thread& thread, Tick now);
  // Charges the part of a stall during which the miss was outstanding. Earlier time is charged to what the thread was doing.
  void account_miss(Thread& thread, TimedMiss& miss, Tick until);
  void account_rest(Thread& thread, Tick now);
  Sum& sum(TimeClass what, const std::string& name) { return sums_[{what, name}]; }

  void add_miss(const TimedMiss& timed);
  [[nodiscard]] std::string word_name(Address word, bool with_field) const;
  [[nodiscard]] std::string source_of(const Key& key, const Sum& of) const;
  [[nodiscard]] CountWord count_at(Address word) const;
  [[nodiscard]] TimeShare share_of(const Key& key, const Sum& of) const;
  void find_beside();

  const SimulationInput& input_;
  const trace::Symbols& symbols_;
  LineHistories lines_;
  const AddressSpace* memory_ = nullptr;
  const Timebase* timebase_ = nullptr;
  std::unordered_map<const void*, std::uint32_t> lock_numbers_;
  std::vector<std::string> lock_names_;
  Tick nearest_hit_ = 0;
  std::vector<Thread> threads_;
  std::deque<TimedMiss> misses_;
  Tick all_ = 0;
  std::map<Key, Sum> sums_;
  TimeAccount account_;
};

void TimeAccountant::applied(const Cpu& cpu, const linebounce::Operation& operation, Value old) {
  Thread& thread = threads_[cpu.id().value];
  const bool failed = operation.kind == OperationKind::compare_exchange && !operation.adds && old != operation.expected;
  LineHistories::Access access{
      .cpu = cpu.id().value, .address = operation.address, .bytes = operation.bytes, .writes = operation.writes()};
  const bool writes = operation.writes() && !failed;
  access.use = {
      .reads = writes ? 0 : 1, .writes = writes ? 1 : 0, .adds = writes && operation.kind == OperationKind::fetch_add ? 1 : 0};
  TimedMiss* const miss = thread.unseen != nullptr && thread.unseen->miss.address == operation.address
                              ? std::exchange(thread.unseen, nullptr)
                              : nullptr;
  if (miss == nullptr) thread.last_cause = lines_.cause_of(access);
  thread.last = operation;
  lines_.add(access, miss == nullptr ? nullptr : &miss->cause);
}

void TimeAccountant::account_until(Thread& thread, Tick now) {
  resolve(thread);
  const Doing& doing = thread.contexts.back().doing;
  if (doing.what == Doing::What::access || doing.what == Doing::What::lock) {
    std::ranges::stable_sort(thread.misses, {}, [](const TimedMiss* it) { return it->miss.issued + it->miss.latency; });
    for (TimedMiss* miss : thread.misses) {
      // A load waits only for its own miss, while earlier stores drain.
      const bool is_load = doing.what == Doing::What::access && doing.operation.kind == OperationKind::load;
      if (is_load && (miss->miss.access != AccessKind::load || miss->miss.address != doing.operation.address)) continue;
      account_miss(thread, *miss, now);
    }
  }
  std::erase_if(thread.misses, [now](const TimedMiss* it) { return it->miss.issued + it->miss.latency <= now; });
  account_rest(thread, now);
}

void TimeAccountant::account_miss(Thread& thread, TimedMiss& miss, Tick until) {
  const Tick ended = std::min(miss.miss.issued + miss.miss.latency, until);
  if (ended <= thread.accounted) return;
  if (miss.miss.issued > thread.accounted) account_rest(thread, std::min(miss.miss.issued, ended));
  miss.waited += ended - thread.accounted;
  all_ += ended - thread.accounted;
  thread.accounted = ended;
}

void TimeAccountant::account_rest(Thread& thread, Tick now) {
  const Tick ticks = now - std::exchange(thread.accounted, now);
  if (ticks == 0) return;
  const Doing& doing = thread.contexts.back().doing;
  if (doing.what != Doing::What::nothing) all_ += ticks;
  switch (doing.what) {
    case Doing::What::nothing: return;
    case Doing::What::compute: return sum(TimeClass::compute, "").add(ticks, doing.function);
    case Doing::What::access: {
      // A load that took longer than a hit in the nearest cache, but did not miss, hit in another of the core's own caches.
      const bool farther = doing.operation.kind == OperationKind::load && ticks > nearest_hit_;
      Sum& of =
          farther ? sum(TimeClass::private_misses, word_name(doing.operation.address, false)) : sum(TimeClass::compute, "");
      if (farther) of.object = memory_->find_byte(doing.operation.address).object;
      return of.add(ticks, doing.function);
    }
    case Doing::What::lock: return sum(TimeClass::lock, lock_names_[doing.subject]).add(ticks, doing.function);
    case Doing::What::join: return sum(TimeClass::joining, "").add(ticks, doing.function);
    case Doing::What::wait: {
      const bool known = doing.subject != AddressSpace::kNoObject;
      Sum& of = sum(TimeClass::waiting, known ? memory_->objects()[doing.subject].name : "");
      if (known) of.object = doing.subject;
      return of.add(ticks, doing.function);
    }
  }
}

// Shortens names of the C++ library: the block of a shared_ptr's count, "std::_Sp_counted_ptr_inplace<Table, ...>", becomes
// "shared_ptr<Table>". Earlier recordings have it without "std::".
std::string readable(const std::string& object) {
  const std::size_t type = object.find('<');
  const bool is_count = object.starts_with("std::_Sp_counted_") || object.starts_with("_Sp_counted_");
  if (!is_count || type == std::string::npos) return object;
  return fmt::format("shared_ptr<{}>", object.substr(type + 1, object.find_first_of(",>", type) - type - 1));
}

// Names a word: "queue.slots" for a field of an object.
std::string TimeAccountant::word_name(Address word, bool with_field) const {
  const AddressSpace::Place place = memory_->find_byte(word);
  if (place.object == AddressSpace::kNoObject) return "memory without a name";
  const Symbol symbol = memory_->symbol(place);
  const std::string object = readable(without_number(symbol.object));
  const std::string field = symbol.field == "[]" ? "" : group_of(symbol.field);
  return field.empty() || !with_field ? object : object + "." + field;
}

void TimeAccountant::add_miss(const TimedMiss& timed) {
  if (timed.waited == 0) return;
  const MissCause& cause = timed.cause;
  const bool is_false = cause.why == Interference::other_bytes;
  if (timed.lock && !is_false) return sum(TimeClass::lock, lock_names_[*timed.lock]).add(timed.waited, timed.miss.function);
  // A thread's first access to a line costs the same, whether or not another thread has written the data, if memory serves
  // it. So it counts as private.
  const bool from_memory = timed.miss.source == Source::local_memory || timed.miss.source == Source::remote_memory;
  TimeClass what = TimeClass::private_misses;
  if (is_false) {
    what = TimeClass::false_sharing;
  } else if (cause.why == Interference::same_bytes && !(cause.first_touch && from_memory)) {
    what = has_one_writer(lines_.users(cause.word)) ? TimeClass::communication : TimeClass::true_sharing;
  }
  const bool same = what == TimeClass::communication || what == TimeClass::true_sharing;
  const Address word = same ? cause.word : timed.miss.address;
  Sum& of = sum(what, word_name(word, same));
  of.add(timed.waited, timed.miss.function);
  of.object = memory_->find_byte(word).object;
  if (same) of.words.insert(word);
}

std::string TimeAccountant::source_of(const Key& key, const Sum& of) const {
  const std::string name = of.object && *of.object < memory_->objects().size() ? memory_->objects()[*of.object].name : key.name;
  for (const trace::Object& object : symbols_.objects) {
    if (object.name != name) continue;
    if (!object.source.empty() || object.structure == trace::kNone) return object.source;
    return symbols_.structures[object.structure].source;
  }
  if (key.what != TimeClass::lock) return {};
  for (const trace::Lock& lock : symbols_.locks) {
    if (lock.counted_as() == key.name && lock.object != trace::kNone) return symbols_.objects[lock.object].source;
  }
  return {};
}

CountWord TimeAccountant::count_at(Address word) const {
  const AddressSpace::Place place = memory_->find_byte(word);
  if (place.object == AddressSpace::kNoObject) return {};
  return {.layout = memory_->layouts()[memory_->objects()[place.object].layout].name, .offset = place.offset};
}

// Adds a word. Words at the same offset of objects with one layout are merged.
void add_word(std::vector<CountWord>& words, const CountWord& word) {
  const auto known = std::ranges::find_if(
      words, [&word](const CountWord& it) { return it.layout == word.layout && it.offset == word.offset; });
  if (known == words.end()) {
    words.push_back(word);
  } else {
    known->writes += word.writes;
  }
}

TimeShare TimeAccountant::share_of(const Key& key, const Sum& of) const {
  constexpr std::size_t kFunctions = 2;
  TimeShare share{.what = key.what, .name = key.name, .source = source_of(key, of), .ticks = of.ticks};
  std::vector<std::pair<Tick, FunctionId>> functions;
  for (const auto& [function, ticks] : of.by_function) functions.emplace_back(-ticks, function);
  std::ranges::sort(functions);
  for (const auto& [ticks, function] : functions) {
    const bool little = -10 * ticks < of.ticks;
    if (share.functions.size() < kFunctions && !little) share.functions.push_back(memory_->functions()[function].name);
  }
  std::set<std::size_t> writers, readers;
  for (const Address word : of.words) {
    const std::vector<WordUse>& users = lines_.users(word);
    CountWord count = count_at(word);
    for (const WordUse& use : users) count.writes += use.writes;
    if (key.what == TimeClass::true_sharing) add_word(share.words, count);
    for (std::size_t cpu = 0; cpu < users.size(); ++cpu) {
      if (users[cpu].writes > 0) writers.insert(cpu);
      if (users[cpu].reads > 0) readers.insert(cpu);
      share.writes += users[cpu].writes;
      share.reads += users[cpu].reads;
    }
  }
  std::ranges::stable_sort(share.words, std::ranges::greater{}, &CountWord::writes);
  if (share.words.size() > kMostCountWords) share.words.resize(kMostCountWords);
  share.writers = static_cast<int>(writers.size());
  share.readers = static_cast<int>(readers.size());
  return share;
}

// Finds TimeAccount::beside. A word with the name of a costly one, such as another element of the array, joins its share.
void TimeAccountant::find_beside() {
  const auto line_bytes = static_cast<Address>(memory_->line_bytes());
  std::set<Address> lines, costly;
  for (const auto& [key, of] : sums_) {
    if (key.what != TimeClass::true_sharing || account_.pct(of.ticks) < kCostlyPct) continue;
    costly.insert(of.words.begin(), of.words.end());
    for (const Address word : of.words) lines.insert(word / line_bytes);
  }
  std::map<Key, Sum> beside;
  for (const Address line : lines) {
    for (Address word = line * line_bytes; word < (line + 1) * line_bytes; ++word) {
      if (costly.contains(word) || has_one_writer(lines_.users(word))) continue;
      const Key key{TimeClass::true_sharing, word_name(word, true)};
      const auto known = sums_.find(key);
      const bool joins = known != sums_.end() && account_.pct(known->second.ticks) >= kCostlyPct;
      Sum& of = joins ? known->second : beside[key];
      of.words.insert(word);
      if (!of.object) of.object = memory_->find_byte(word).object;
    }
  }
  for (const auto& [key, of] : beside) account_.beside.push_back(share_of(key, of));
}

void TimeAccountant::end(const PointData& point) {
  for (Thread& thread : threads_) resolve(thread);
  std::map<std::uint64_t, std::int64_t> false_lines;
  const auto line_bytes = static_cast<Address>(memory_->line_bytes());
  for (const TimedMiss& miss : misses_) {
    add_miss(miss);
    if (miss.cause.why == Interference::other_bytes)
      ++false_lines[memory_->frames().to_virtual(miss.miss.address) / line_bytes];
  }
  for (const auto& [line, misses] : false_lines) account_.false_lines.push_back({line, misses});
  account_.machine = input_.machine.name;
  account_.all = all_;
  account_.all_us = timebase_->to_ns(all_) / 1000;
  find_beside();
  for (const auto& [key, of] : sums_) {
    TimeShare share = share_of(key, of);
    for (const LockRow& row : point.locks) {
      if (key.what == TimeClass::lock && row.call_site.empty() && row.lock == name_in_figures(key.name))
        share.held_pct = row.util_pct;
    }
    account_.shares.push_back(std::move(share));
  }
  std::ranges::stable_sort(account_.shares, std::ranges::greater{}, &TimeShare::ticks);
}

}  // namespace

const char* name_of(TimeClass what) {
  return kNames[ordinal(what)].name;
}

const char* key_of(TimeClass what) {
  return kNames[ordinal(what)].key;
}

double TimeAccount::pct(Tick ticks) const {
  return all == 0 ? 0 : 100 * static_cast<double>(ticks) / static_cast<double>(all);
}

std::optional<FastAndSlow> TimeAccount::pct_over_pace(const TimeShare& share) const {
  if (!share.us_over_pace || !all_us_over_pace) return std::nullopt;
  const auto pct_of = [](double part, double whole) { return whole > 0 ? 100 * part / whole : 0; };
  return FastAndSlow{pct_of(share.us_over_pace->first, all_us_over_pace->first),
                     pct_of(share.us_over_pace->second, all_us_over_pace->second)};
}

const TimeShare* TimeAccount::bottleneck() const {
  const auto found = std::ranges::find_if(shares, [](const TimeShare& it) { return it.what != TimeClass::joining; });
  return found == shares.end() ? nullptr : &*found;
}

TimeAccount account_time(const SimulationInput& input, const trace::Symbols& symbols) {
  TimeAccountant accountant(input, symbols);
  simulate_with(accountant, input, {});
  return accountant.take();
}

void add_pace_range(TimeAccount& account, SimulationInput input, const trace::Symbols& symbols, const PaceRange& range) {
  using Times = std::map<std::pair<TimeClass, std::string>, double>;
  double all = 0;
  const auto times_with = [&](double cycles) {
    input.machine.cpu.cycles_per_instruction = cycles;
    const TimeAccount other = account_time(input, symbols);
    Times times;
    for (const TimeShare& share : other.shares) times[{share.what, share.name}] = other.pct(share.ticks) / 100 * other.all_us;
    all = other.all_us;
    return times;
  };
  Times fast = times_with(range.fast);
  account.all_us_over_pace = {all, 0};
  Times slow = times_with(range.slow);
  account.all_us_over_pace->second = all;
  for (TimeShare& share : account.shares) share.us_over_pace = {fast[{share.what, share.name}], slow[{share.what, share.name}]};
}

std::string sentence(const TimeShare& share) {
  constexpr double kFull = 90;  // in percent of the run; another algorithm can't help if the lock is held for a larger share
  std::string text;
  switch (share.what) {
    case TimeClass::compute: text = "computation and hits in the nearest cache"; break;
    case TimeClass::private_misses: text = fmt::format("misses on {} that no other thread causes", share.name); break;
    case TimeClass::lock:
      text = fmt::format("taking and releasing the lock {}, which is held {:.1f} % of the run{}", share.name, share.held_pct,
                         share.held_pct >= kFull ? ": the section itself is what takes the time" : "");
      break;
    case TimeClass::false_sharing:
      text = fmt::format("false sharing: misses on {} because other threads used other bytes of the line", share.name);
      break;
    case TimeClass::true_sharing:
      text = fmt::format("true sharing of {}{}, which {} threads write", share.name,
                         share.role.empty() ? "" : fmt::format(" ({})", share.role), share.writers);
      break;
    case TimeClass::communication:
      text = fmt::format("communication: {}, which one thread writes and others need", share.name);
      break;
    case TimeClass::waiting: text = share.name.empty() ? "sleeping" : fmt::format("waiting for {}", share.name); break;
    case TimeClass::joining: text = "waiting for threads to end"; break;
  }
  if (!share.functions.empty()) text += fmt::format(", in {}", fmt::join(share.functions, " and "));
  text = without_template_arguments(text);
  return share.source.empty() ? text : fmt::format("{} ({})", text, share.source);
}

}  // namespace linebounce::sim
