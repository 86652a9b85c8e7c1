#include "sim/interleavings/lock_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/ordinal.hpp"
#include "workloads/locks/locks.hpp"
#include "workloads/native/native_lock.hpp"
#include "workloads/native/native_memory.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

// True for a lock in C, whose pointers are addresses of the host.
bool is_native(const workloads::LockEntry& lock) {
  return !lock.file.empty() && !lock.file.ends_with(".lua");
}

// Puts two CPUs on each node, for locks that prefer waiters of the holder's node.
std::vector<CpuPlace> places_of(int cpus) {
  std::vector<CpuPlace> places;
  for (int cpu = 0; cpu < cpus; ++cpu)
    places.push_back({.node = cpu / 2, .bus = cpu / 2, .core = cpu, .thread = 0, .os_node = cpu / 2, .cache = cpu / 2});
  return places;
}

}  // namespace

LockRun::LockRun(const LockCase& lock_case)
    : case_(lock_case),
      per_cpu_(space_, lock_case.cpus(), places_of(lock_case.cpus())),
      lock_(create_lock()),
      data_(space_.place({.name = "data", .size = 16, .fields = {{"first", 0, 8}, {"second", 8, 8}}}, "data", 64)),
      ends_of_reading_(
          space_.place({.name = "ends_of_reading", .size = 8 * lock_case.cpus(), .fields = {}}, "ends_of_reading", 64)),
      where_(lock_case.roles.size()),
      comes_(where_.size()),
      has_waited_(where_.size()),
      undisturbed_(where_.size()),
      round_(where_.size()),
      waited_(where_.size()),
      passed_(where_.size()) {
  const bool is_c11 = case_.model == MemoryModel::c11;
  memory_.emplace(store_, case_.cpus(), is_c11 ? Consistency::sc : machine_model(case_.model));
  if (is_c11)
    views_.emplace(
        store_, case_.cpus(), case_.cells != nullptr ? *case_.cells : own_cells_,
        ObjectsOf{[this](Address address) { return object_at(address); }, [this](Value value) { return object_of(value); }});
  for (int cpu = 0; cpu < case_.cpus(); ++cpu) {
    cpus_.push_back(std::make_unique<CheckedCpu>(cpu, *memory_, views_ ? &*views_ : nullptr, all_, case_.ending, clock_));
    all_.push_back(cpus_.back().get());
  }
  for (CheckedCpu* cpu : all_) {
    guarded([&] { cpu->start([this](CheckedCpu& each) { run(each); }); });
  }
}

std::unique_ptr<Lock> LockRun::create_lock() {
  per_cpu_.draw_by(*this);
  return case_.lock->create({.memory = space_, .per_cpu = per_cpu_, .name = "lock", .word = {}, .waits_in = {}});
}

std::optional<Value> LockRun::compare_exchange_weak(Cpu& cpu, Address address, Value expected, Value desired, int bytes) {
  return static_cast<CheckedCpu&>(cpu).compare_exchange_weak(address, expected, desired, bytes);
}

void LockRun::ran(int operation) {
  if (case_.ran != nullptr) case_.ran->insert(operation);
}

std::uint64_t LockRun::below(Cpu& cpu, std::uint64_t bound) {
  auto& checked = static_cast<CheckedCpu&>(cpu);
  has_left_out_draws_ = has_left_out_draws_ || bound > kTriedValues || checked.draws() >= kFreeDraws;
  return checked.draw(bound);
}

void LockRun::add_draws(const CheckedCpu& cpu, std::vector<Choice>& found) const {
  const Value bound = cpu.request().operand, tried = std::min(bound, kTriedValues);
  const bool is_free = cpu.draws() < kFreeDraws;
  for (Value value = 0; value < tried; ++value) {
    if (is_free || value == static_cast<Value>(cpu.draws()) % tried)
      found.push_back({.cpu = cpu.id().value, .drawn = value == kTriedValues - 1 ? bound - 1 : value});
  }
}

// Lua's pointers are simulated addresses; those of C are the host's.
int LockRun::object_of(Value value) const {
  if (!is_native(*case_.lock)) return object_at(value);
  return value >= workloads::mirror() ? object_at(value - workloads::mirror()) : -1;
}

int LockRun::object_at(Address address) const {
  const AddressSpace::Place place = space_.find_byte(address);
  return place.object == AddressSpace::kNoObject ? -1 : static_cast<int>(place.object);
}

void LockRun::add_places(const CheckedCpu& cpu, bool fails, std::vector<Choice>& found) const {
  bool is_old = false;
  for (const int place : cpu.places(fails)) {
    found.push_back({.cpu = cpu.id().value, .drawn = fails ? 1U : 0U, .place = place, .is_old = is_old});
    is_old = true;
  }
}

// The possible results of the operation that the CPU requests, one choice for each.
void LockRun::add_own_steps(const CheckedCpu& cpu, std::vector<Choice>& found) const {
  const int number = cpu.id().value;
  switch (cpu.request().kind) {
    case StepKind::draw: return add_draws(cpu, found);
    case StepKind::clock:
      if (!cpu.time_must_pass()) found.push_back({.cpu = number, .drawn = 0});
      if (cpu.time_must_pass() || (has_read_clock_ && cpu.seconds() < kFreeSeconds))
        found.push_back({.cpu = number, .drawn = 1});
      return;
    default:
      add_places(cpu, false, found);
      if (cpu.may_fail_weakly()) add_places(cpu, true, found);
  }
}

// Reports an error in the lock's code as a violation, like a broken property.
void LockRun::guarded(const std::function<void()>& step) {
  try {
    step();
  } catch (const NotCheckable&) {
    throw;
  } catch (const std::exception& error) {
    violation_ = fmt::format("the lock's code stops with an error: {}", error.what());
  }
}

void LockRun::run(CheckedCpu& cpu) {
  for (int i = 0; i < case_.acquisitions; ++i) {
    round_[index(cpu)] = i;
    forget(cpu, Place::before_all);
    comes_[index(cpu)] = true;
    switch (case_.roles[index(cpu)]) {
      case Role::reads: read(cpu); break;
      case Role::tries: attempt(cpu); [[fallthrough]];
      case Role::writes: write(cpu); break;
    }
  }
}

// Between two calls of a lock in C, a CPU's future depends on simulated memory and on its place here, but not on what it has
// seen. A lock in Lua or C++ may have kept that in variables.
void LockRun::forget(CheckedCpu& cpu, Place place) {
  constexpr int kPlaces = 4;
  cpu.begin_call();
  if (leaves_nothing_behind(*lock_)) cpu.forget(static_cast<std::uint64_t>(kPlaces * round_[index(cpu)] + ordinal(place)));
}

// Tries once to take the lock. The try may fail only if another CPU uses the lock or a weak compare-exchange fails for no
// reason, and must then leave the lock unchanged, which the following acquisition tests.
void LockRun::attempt(CheckedCpu& cpu) {
  if (lock_->try_acquire(cpu)) {
    forget(cpu, Place::after_try);
    enter(cpu, true);
    change_data(cpu);
    leave(cpu);
    lock_->release(cpu);
    give_back(cpu);
  } else if (undisturbed_[index(cpu)] && !cpu.has_failed_weakly()) {
    violation_ = fmt::format("CPU {} fails in try_acquire, though nobody else has the lock or wants it", cpu.id().value);
  }
  waited_[index(cpu)].clear();
  for (auto& waited : waited_) std::erase(waited, cpu.id().value);
  has_waited_[index(cpu)] = false;
  give_back(cpu);
  forget(cpu, Place::before_write);
  comes_[index(cpu)] = true;
}

void LockRun::write(CheckedCpu& cpu) {
  lock_->acquire(cpu);
  forget(cpu, Place::inside);
  enter(cpu, true);
  change_data(cpu);
  leave(cpu);
  lock_->release(cpu);
  give_back(cpu);
}

// Skipped for a lock without readers under a memory model that keeps stores in order: the writers' updates then can't be
// reordered or seen half done. Under ia64 a section's stores may become visible after the store that releases the lock, and
// under c11 a section may besides read old values.
void LockRun::change_data(CheckedCpu& cpu) {
  if (!case_.has_readers() && case_.model != MemoryModel::ia64 && !views_) return;
  const Value before = cpu.load(data_, 8);
  if (before != static_cast<Value>(written_))
    violation_ = fmt::format("an update was lost: CPU {} reads {} after {} updates", cpu.id().value, before, written_);
  cpu.store(data_, before + 1, 8);
  if (case_.has_readers()) cpu.store(data_ + 8, before + 1, 8);
  ++written_;
}

void LockRun::read(CheckedCpu& cpu) {
  for (;;) {
    lock_->acquire_shared(cpu);
    forget(cpu, Place::inside);
    enter(cpu, case_.lock->traits.readers == Readers::one_by_one);
    const Value first = cpu.load(data_, 8), second = cpu.load(data_ + 8, 8);
    leave(cpu);
    const bool accepted = lock_->release_shared(cpu);
    if (reads_late(cpu)) cpu.mark();  // by this step, the section's loads have completed
    give_back(cpu);
    if (!accepted) continue;
    if (first != second)
      violation_ = fmt::format("CPU {} has read half of a writer's data: {} and {}", cpu.id().value, first, second);
    return;
  }
}

// Notes which CPUs came before this one. Only those count that have already waited, because the order of other arrivals can't
// be observed.
void LockRun::arrive(const CheckedCpu& cpu) {
  auto& waited = waited_[index(cpu)];
  waited.clear();
  for (const CheckedCpu* other : all_) {
    const bool waits = where_[index(*other)] == Where::acquires && has_waited_[index(*other)];
    if (other != &cpu && waits) waited.push_back(other->id().value);
  }
  passed_[index(cpu)] = 0;
  comes_[index(cpu)] = false;
  undisturbed_[index(cpu)] = is_quiet(cpu.id().value);
  where_[index(cpu)] = Where::acquires;
  for (const CheckedCpu* other : all_) {
    if (other != &cpu) undisturbed_[index(*other)] = false;
  }
}

// True if no other CPU uses the lock, no other CPU has buffered stores, and this one must see all that others have stored.
bool LockRun::is_quiet(int cpu) const {
  if (views_ && !views_->sees_everything(cpu)) return false;
  return std::ranges::all_of(all_, [&](const CheckedCpu* other) {
    const int number = other->id().value;
    return number == cpu || (where_[number] == Where::outside && memory_->is_drained(number));
  });
}

void LockRun::enter(const CheckedCpu& cpu, bool alone) {
  const int me = cpu.id().value;
  const bool reads_again = case_.lock->traits.readers == Readers::read_again;
  for (const CheckedCpu* other : all_) {
    const Where its = where_[index(*other)];
    const int number = other->id().value;
    const bool reads = its == Where::reads || its == Where::reads_late;
    const bool together = reads ? !alone || reads_again : !alone && reads_again;
    if (other == &cpu || together || (its != Where::writes && !reads)) continue;
    violation_ =
        its == Where::reads_late
            ? fmt::format("CPU {} holds the lock, but CPU {} may still be reading: its loads may pass its plain stores", me,
                          number)
            : fmt::format("CPU {} and CPU {} both hold the lock", std::min(me, number), std::max(me, number));
  }
  for (int other = 0; alone && !reads_again && other < case_.cpus(); ++other) {
    if (may_still_read(other, me))
      violation_ = fmt::format(
          "CPU {} holds the lock, but CPU {} may still be reading: nothing orders its loads before what CPU {} stores", me,
          other, me);
  }
  where_[index(cpu)] = alone ? Where::writes : Where::reads;
  has_waited_[index(cpu)] = false;
  for (const int before : waited_[index(cpu)]) {
    const int passed = ++passed_[before];
    most_passed_ = std::max(most_passed_, passed);
    const bool both_read = !alone && case_.roles[before] == Role::reads;
    if (case_.lock->traits.fifo && !both_read)
      violation_ = fmt::format(
          "CPU {} has passed CPU {}, which already waited; the lock says that it is first come, first served", me, before);
  }
  for (auto& waited : waited_) std::erase(waited, me);
}

// Leaving is a step of its own, so that other CPUs can enter while this one is still inside. The search executes a reader's
// loads in order, but under ia64 a processor may delay them up to the next operation that orders loads.
void LockRun::leave(CheckedCpu& cpu) {
  cpu.mark();
  if (where_[index(cpu)] == Where::reads) note_end_of_reading(cpu.id().value);
  const bool late = where_[index(cpu)] == Where::reads && case_.model == MemoryModel::ia64;
  where_[index(cpu)] = late ? Where::reads_late : Where::releases;
}

// Under c11 no load of the search takes effect after a later store, though a reader's may. So a reader stores to a word of its
// own at the end of its section: a writer that need not see this store is not ordered after the section's loads either.
void LockRun::note_end_of_reading(int cpu) {
  if (!views_) return;
  const ViewMemory::Word word = end_of_reading(cpu);
  const int newest = views_->storable(cpu, word, MemoryOrder::relaxed).front();
  views_->store(cpu, word, newest, views_->value_at(word, newest) + 1, MemoryOrder::relaxed);
}

bool LockRun::may_still_read(int reader, int writer) const {
  return views_ && reader != writer && views_->loadable(writer, end_of_reading(reader), MemoryOrder::relaxed).size() > 1;
}

// Forgets what the checks noted about this acquisition, so that it does not tell states apart.
void LockRun::give_back(const CheckedCpu& cpu) {
  where_[index(cpu)] = Where::outside;
  waited_[index(cpu)].clear();
  passed_[index(cpu)] = 0;
  undisturbed_[index(cpu)] = false;
}

TouchedBytes LockRun::touched(const Choice& choice) const {
  if (choice.drains != Choice::kProgram) {
    const CheckedMemory::Store& store = memory_->buffer(choice.cpu)[choice.drains];
    return {store.address, store.bytes};
  }
  const Request& request = all_[choice.cpu]->request();
  if (views_) {
    if (request.kind >= StepKind::fence) return {};
    const auto [address, bytes] = views_->cell_of({request.address, request.bytes});
    return {address, bytes};
  }
  const bool buffered = request.kind == StepKind::store && case_.model != MemoryModel::sc;
  return request.kind < StepKind::fence && !buffered ? TouchedBytes{request.address, request.bytes} : TouchedBytes{};
}

bool LockRun::shares_views(const Choice& choice) const {
  return views_ && choice.drains == Choice::kProgram && all_[choice.cpu]->request().order == MemoryOrder::full;
}

Digest LockRun::noticeable() const {
  Digest digest;
  add_checks(digest);
  for (const CheckedCpu* cpu : all_) {
    digest.add(static_cast<std::uint64_t>(cpu->wakes()));
    digest.add(comes_[index(*cpu)] ? 1 : 0);
  }
  digest.add(static_cast<std::uint64_t>(written_));
  digest.add(static_cast<std::uint64_t>(most_passed_));
  digest.add(violation_.empty() ? 0 : 1);
  return digest;
}

std::vector<Choice> LockRun::choices(bool reduced, int steps) const {
  std::vector<Choice> found;
  for (const CheckedCpu* cpu : all_) {
    const int number = cpu->id().value;
    if (!cpu->has_ended() && cpu->is_ready()) {
      // A CPU's arrival and the end of a reader's loads are not private: they change what the checks of other CPUs see.
      const bool is_private = cpu->is_private() && !comes_[index(*cpu)] && !reads_late(*cpu);
      const Choice own = {number, Choice::kProgram, is_private};
      if (reduced && own.is_private) return {own};
      add_own_steps(*cpu, found);
    }
    if (cpu->seconds() < kFreeSeconds && cpu->may_time_out()) found.push_back({.cpu = number, .times_out = true});
    for (const int place : memory_->drainable(number)) found.push_back({number, place});
  }
  if (!found.empty()) return found;
  for (const CheckedCpu* cpu : all_) {
    if (cpu->may_time_out() && cpu->steps() < steps) found.push_back({.cpu = cpu->id().value, .times_out = true});
  }
  return found;
}

void LockRun::take(const Choice& choice) {
  do_step(choice);
  for (const CheckedCpu* cpu : all_) {
    if (where_[index(*cpu)] == Where::acquires && !cpu->has_ended() && cpu->waits()) has_waited_[index(*cpu)] = true;
    const bool looks = !cpu->has_ended() && cpu->request().kind == StepKind::clock;
    if (cpu->seconds() >= kFreeSeconds && (looks || cpu->may_time_out())) has_left_out_seconds_ = true;
  }
}

void LockRun::do_step(const Choice& choice) {
  CheckedCpu& cpu = *all_[choice.cpu];
  if (choice.drains != Choice::kProgram) {
    const CheckedMemory::Store store = memory_->drain(choice.cpu, choice.drains);
    if (describes_)
      latest_ = fmt::format("({} = {} leaves the store buffer)", place_name(store.address), value_name(store.value));
    return;
  }
  if (choice.times_out) return time_out(cpu);
  const Request request = cpu.request();
  const bool accesses = request.kind < StepKind::fence;
  if (accesses && object_at(request.address) < 0) {
    violation_ = fmt::format("CPU {} accesses 0x{:x}, where nothing is", choice.cpu, request.address);
    latest_ = fmt::format("accesses 0x{:x}", request.address);
    return;
  }
  if (comes_[index(cpu)]) arrive(cpu);
  if (request.kind == StepKind::clock) has_read_clock_ = true;
  if (reads_late(cpu) && cpu.orders_loads()) where_[index(cpu)] = Where::releases;
  const Where before = where_[index(cpu)];
  const std::string remark = describes_ && views_ ? weak_remark(request, choice) : "";
  guarded([&] { cpu.step(choice.drawn, choice.place); });
  if (!describes_) return;
  latest_ = cpu.fails() ? fmt::format("compare_exchange {} {} -> {}: fails for no reason, as a weak one may",
                                      place_name(request.address), value_name(request.expected), value_name(request.operand))
                        : step_name(request, cpu.result()) + remark;
  const Where now = where_[index(cpu)];
  if (now != before && (now == Where::writes || now == Where::reads)) latest_ += "  [inside]";
}

bool LockRun::has_ended() const {
  return std::ranges::all_of(
      all_, [this](const CheckedCpu* cpu) { return cpu->has_ended() && memory_->is_drained(cpu->id().value); });
}

Digest LockRun::digest() const {
  Digest digest;
  if (views_) {
    std::vector<bool> ended;
    for (const CheckedCpu* cpu : all_) ended.push_back(cpu->has_ended());
    views_->add_to(digest, ended);
  } else {
    memory_->add_to(digest);
  }
  for (const CheckedCpu* cpu : all_) cpu->add_to(digest);
  add_checks(digest);
  digest.add(static_cast<std::uint64_t>(written_));
  digest.add(static_cast<std::uint64_t>(clock_));
  digest.add(has_read_clock_ ? 1 : 0);
  return digest;
}

void LockRun::add_checks(Digest& digest) const {
  for (const CheckedCpu* cpu : all_) {
    digest.add(static_cast<std::uint64_t>(where_[index(*cpu)]));
    digest.add(static_cast<std::uint64_t>(passed_[index(*cpu)]));
    digest.add((has_waited_[index(*cpu)] ? 1U : 0U) + (undisturbed_[index(*cpu)] ? 2U : 0U));
    digest.add(waited_[index(*cpu)].size());
    for (const int before : waited_[index(*cpu)]) digest.add(static_cast<std::uint64_t>(before));
  }
}

Digest LockRun::known_to(int cpu) const {
  Digest digest;
  all_[cpu]->add_to(digest);
  digest.add(static_cast<std::uint64_t>(cpu));
  return digest;
}

std::vector<int> LockRun::looping() const {
  std::vector<int> found;
  for (const CheckedCpu* cpu : all_) {
    if (!cpu->has_ended() && cpu->waits_in_loop()) found.push_back(cpu->id().value);
  }
  return found;
}

// If time does not pass, a stretch of looks at the clock alone still ends by the clock, as in any other run: it only delays the
// loop's next turn.
bool LockRun::runs_on_out_of_loop(CheckedCpu& looping, bool time_passes, int turns) {
  const int cpu = looping.id().value;
  for (auto left = std::min(turns * static_cast<std::int64_t>(looping.loop().size()), kMostStepsAlone); left > 0;) {
    const bool is_look = looping.request().kind == StepKind::clock;
    if (!is_look) --left;
    if (!is_look && !looping.repeats()) return true;
    // Drains the buffer, so that an atomic operation in the loop can execute; more iterations would see the same values.
    while (!memory_->is_drained(cpu)) memory_->drain(cpu, 0);
    loop_reads_clock_ = loop_reads_clock_ || is_look;
    const bool passes = time_passes || looping.time_must_pass();
    guarded([&] { looping.step(is_look && passes ? 1 : 0, looping.places().front()); });
    if (looping.has_ended() || !violation_.empty()) return true;
  }
  return false;
}

// The turns until then see the same values as the turns before, so no other CPU can tell when they run: one step stands for
// all.
void LockRun::time_out(CheckedCpu& cpu) {
  const int steps = cpu.steps(), seconds = cpu.seconds();
  runs_on_out_of_loop(cpu, true, kProbedTurns);
  cpu.count_as_one(steps, seconds);
  latest_ = "waits in vain, until time has passed";
}

int LockRun::longest() const {
  int most = 0;
  for (const CheckedCpu* cpu : all_) most = std::max(most, cpu->steps());
  return most;
}

}  // namespace linebounce::sim
