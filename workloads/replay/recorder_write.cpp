// The end of a recording: completes what was cut off, finds the awaited words, defines names, and writes everything.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "workloads/replay/places.hpp"
#include "workloads/replay/recorder.hpp"

namespace linebounce::workloads {
namespace {

using trace::Kind;

constexpr std::uint32_t kNone = trace::kNone;

trace::Structure structure_of(const Layout& layout) {
  trace::Structure structure{.name = layout.name,
                             .size = layout.size,
                             .alignment = layout.alignment,
                             .fields = {},
                             .base_offset = layout.base_offset,
                             .subsystem = layout.subsystem};
  for (const Field& field : layout.fields) structure.fields.push_back({field.name, field.offset, field.size});
  return structure;
}

// Defines the symbols that operations name, in the order of their addresses, and maps the recorder's numbers to them.
class Names {
 public:
  Names(trace::Writer& writer, const AddressSpace& memory, const LockSet& locks)
      : writer_(writer), memory_(memory), locks_(locks), objects_(memory.objects().size(), kNone) {}

  std::vector<std::uint32_t> objects() const { return objects_; }
  [[nodiscard]] std::uint32_t object(std::uint32_t recorded) const { return objects_[recorded]; }

  void define_functions() {
    for (const Function& function : memory_.functions())
      writer_.define(trace::Function{function.name, function.mode == Mode::user});
  }

  // `barriers`: by address. `used`: objects that an operation accesses.
  void define_placed(const std::map<Address, int>& parties, const std::vector<bool>& used,
                     const std::function<trace::Lock(std::size_t)>& lock_facts, std::map<Address, std::uint32_t>& barriers) {
    const auto& objects = memory_.objects();
    const auto& created = locks_.created();
    std::size_t lock = 0;
    for (std::size_t i = 0; i <= objects.size(); ++i) {
      while (lock < created.size() && created[lock].first_object <= i) {
        const std::uint32_t number = writer_.define(lock_facts(lock));
        for (std::size_t own = i; own < created[lock].end_object; ++own) {
          if (used[own]) define_object(own, number);
        }
        i = std::max(i, created[lock].end_object);
        ++lock;
      }
      if (i == objects.size()) break;
      if (const auto barrier = parties.find(objects[i].begin); barrier != parties.end()) {
        barriers[barrier->first] = writer_.define(trace::Barrier{objects[i].name, barrier->second});
      } else {
        define_object(i, kNone);
      }
    }
  }

 private:
  void define_object(std::size_t index, std::uint32_t of_lock) {
    const AddressSpace::Object& object = memory_.objects()[index];
    trace::Object symbol;
    symbol.name = object.name;
    symbol.size = object.size;
    symbol.alignment = object.array ? 0 : object.alignment;
    symbol.of_lock = of_lock;
    if (object.home) symbol.home = text_of(*object.home);
    if (object.begin >= RecordedMemory::kBegin && of_lock == kNone) {  // the recorded run was itself a replay of a real program
      symbol.address = object.begin;
      symbol.page_bytes = memory_.frames().page_bytes(object.begin);
    }
    if (!object.array) symbol.structure = structure(object.layout);
    objects_[index] = writer_.define(symbol);
  }

  std::uint32_t structure(std::size_t layout) {
    const auto known = structures_.find(layout);
    if (known != structures_.end()) return known->second;
    const std::uint32_t number = writer_.define(structure_of(memory_.layouts()[layout]));
    return structures_.emplace(layout, number).first->second;
  }

  trace::Writer& writer_;
  const AddressSpace& memory_;
  const LockSet& locks_;
  std::vector<std::uint32_t> objects_;
  std::map<std::size_t, std::uint32_t> structures_;
};

}  // namespace

template <class Function>
void Recorder::for_all(Function function) {
  for (Operations& program : programs_) function(program);
  for (auto& [key, handlers] : handlers_) {
    for (Operations& handler : handlers) function(handler);
  }
}

// Removes the arrival of a thread at a barrier that no thread has left: in a trace, the thread never arrived.
void Recorder::forget_barriers_without_end() {
  const auto waits = [this](std::size_t cpu) {
    const Context& program = contexts_[cpu].front();
    return program.inside > 0 && program.composite == Composite::What::barrier;
  };
  std::map<std::uint32_t, std::int64_t> passed;  // how often the CPU that has passed the barrier most often has passed it
  const auto times = [this](std::size_t cpu, std::uint32_t barrier) {
    return std::ranges::count_if(programs_[cpu], [barrier](const trace::Operation& operation) {
      return operation.kind == Kind::barrier && operation.id == barrier;
    });
  };
  for (const auto& [address, barrier] : barrier_numbers_) {
    for (std::size_t cpu = 0; cpu < programs_.size(); ++cpu) {
      const bool waits_here = waits(cpu) && programs_[cpu].back().id == barrier;
      passed[barrier] = std::max(passed[barrier], times(cpu, barrier) - (waits_here ? 1 : 0));
    }
  }
  for (std::size_t cpu = 0; cpu < programs_.size(); ++cpu) {
    if (!waits(cpu)) continue;
    const std::uint32_t barrier = programs_[cpu].back().id;
    if (times(cpu, barrier) > passed[barrier]) programs_[cpu].pop_back();
  }
}

// Ends each thread at the end of the run. It releases its locks, because threads of a longer replay would wait for them for
// ever. What it still waited for never came, and is not an operation.
void Recorder::cut_off() {
  forget_barriers_without_end();
  for (auto& contexts : contexts_) {
    for (std::size_t i = contexts.size(); i-- > 0;) {
      Context& context = contexts[i];
      Operations& to = *context.to;
      if (context.spins) append_looks(context, context.spin);
      if (!to.empty() && to.back().kind == Kind::load) to.back().flags &= static_cast<std::uint16_t>(~trace::kPaired);
      if (context.inside > 0 && context.composite == Composite::What::try_acquire) to.back().flags |= trace::kFailed;
      const bool takes = context.composite == Composite::What::acquire || context.composite == Composite::What::acquire_shared;
      if (context.inside > 0 && takes)
        context.held.push_back({to.back().id, context.composite == Composite::What::acquire_shared});
      for (auto held = context.held.rbegin(); held != context.held.rend(); ++held)
        to.push_back({.kind = held->shared ? Kind::release_shared : Kind::release, .id = held->lock});
      if (i > 0) to.push_back({.kind = Kind::handler_end});
    }
  }
}

// Finds the words whose writes can be counted. Only the program writes them, and always as a whole, and no lock lies in them.
void Recorder::find_words() {
  std::vector<std::pair<Address, Address>> of_locks;
  for (const LockSet::Created& created : locks_.created()) {
    const Address word = created.options.word.value_or(0);
    of_locks.emplace_back(word, word + static_cast<Address>(created.options.word_bytes));
    for (std::size_t i = created.first_object; i < created.end_object; ++i) {
      const AddressSpace::Object& object = memory_.objects()[i];
      of_locks.emplace_back(object.begin, object.begin + static_cast<Address>(object.size));
    }
  }
  std::ranges::sort(of_locks);
  const auto is_of_lock = [&of_locks](Address begin, Address end) {
    const auto after = std::ranges::lower_bound(of_locks, std::pair(end, Address{0}));
    return after != of_locks.begin() && std::prev(after)->second > begin;
  };
  std::uint32_t next = 0;
  for (auto& [word, number] : words_) {
    const auto [address, bytes] = word;
    const bool counted =
        !is_of_lock(address, address + static_cast<Address>(bytes)) && written_.only_as_a_whole(address, bytes);
    word_by_use_[number] = {address, bytes, counted ? next++ : kNone};
    if (counted) counted_.emplace(address, bytes);
  }
}

bool Recorder::is_counted(Address address, int bytes) const {
  for (auto word = counted_.lower_bound({address, 0});
       word != counted_.end() && word->first < address + static_cast<Address>(bytes); ++word) {
    if (WrittenWords::covers(address, bytes, word->first, word->second)) return true;
  }
  return false;
}

// Marks the writes that a thread counts. A spin on a word that can't be counted becomes loads.
void Recorder::mark(Operations& operations) {
  for (std::size_t i = 0; i < operations.size(); ++i) {
    trace::Operation& operation = operations[i];
    if (operation.is_memory() && operation.kind != Kind::load && operation.kind != Kind::prefetch &&
        (operation.flags & trace::kFailed) == 0 && operation.id != AddressSpace::kNoObject) {
      const Address address = memory_.address({operation.id, static_cast<std::uint32_t>(operation.argument)});
      if (is_counted(address, operation.bytes)) operation.flags |= trace::kCounted;
    }
    if (operation.kind != Kind::await) continue;
    std::size_t last = i;
    while ((operations[last].flags & trace::kPaired) != 0) ++last;
    bool all = true;
    for (std::size_t word = i; word <= last; ++word) all = all && word_by_use_.at(operations[word].id).number != kNone;
    if (!all) ++looks_at_odd_words_;
    for (std::size_t word = i; word <= last; ++word) {
      const Word& awaited = word_by_use_.at(operations[word].id);
      if (all) {
        operations[word].id = awaited.number;
      } else {
        operations[word] = at(Kind::load, awaited.address, awaited.bytes);
      }
    }
    i = last;
  }
}

std::vector<bool> Recorder::touched_objects() {
  std::vector<bool> touched(memory_.objects().size() + 1);
  for_all([&](const Operations& operations) {
    for (const trace::Operation& operation : operations) {
      if (operation.is_memory() && operation.id != AddressSpace::kNoObject) touched[operation.id] = true;
    }
  });
  return touched;
}

void Recorder::write(trace::Writer& writer, trace::Summary summary) {
  cut_off();
  find_words();
  for_all([this](Operations& operations) { mark(operations); });
  Names names(writer, memory_, locks_);
  names.define_functions();
  std::map<Address, std::uint32_t> barriers;
  names.define_placed(
      parties_, touched_objects(), [&](std::size_t lock) { return lock_facts(lock, names.objects()); }, barriers);
  std::vector<std::uint32_t> barrier_by_use(barrier_numbers_.size());
  for (const auto& [address, use] : barrier_numbers_) barrier_by_use[use] = barriers.at(address);
  for (const auto& [address, bytes] : counted_) {
    const AddressSpace::Place place = memory_.find_byte(address);
    writer.define(trace::Word{names.object(place.object), place.offset, bytes});
  }
  const auto append = [&](std::uint32_t stream, const Operations& operations) {
    for (trace::Operation operation : operations) {
      if (operation.is_memory()) {
        if (operation.id == AddressSpace::kNoObject) continue;  // a prefetch outside all objects
        operation.id = names.object(operation.id);
      } else if (operation.kind == Kind::barrier) {
        operation.id = barrier_by_use[operation.id];
      }
      writer.append(stream, operation);
    }
  };
  const auto cpus = static_cast<int>(programs_.size());
  for (int cpu = 0; cpu < cpus; ++cpu) writer.define(trace::Stream{.name = fmt::format("cpu[{}]", cpu), .cpu = cpu});
  for (const auto& [key, handlers] : handlers_) {
    const auto [cpu, vector] = key;
    writer.define(trace::Stream{.name = fmt::format("cpu[{}].interrupt[{}]", cpu, vector), .cpu = cpu, .vector = vector});
  }
  std::uint32_t stream = 0;
  for (const Operations& program : programs_) append(stream++, program);
  for (const auto& [key, handlers] : handlers_) {
    for (const Operations& handler : handlers) append(stream, handler);
    ++stream;
  }
  add_missing(summary);
  writer.finish(summary);
}

trace::Lock Recorder::lock_facts(std::size_t lock, const std::vector<std::uint32_t>& objects) const {
  const LockSet::Created& created = locks_.created()[lock];
  const LockSet::Options& options = created.options;
  const auto number = static_cast<std::uint32_t>(lock);
  trace::Lock facts{.name = created.lock->name(),
                    .algorithm = created.algorithm,
                    .sleeps = created.lock->traits().sleeps,
                    .word_bytes = options.word_bytes,
                    .figures = options.figures,
                    .waits_in = {},
                    .in_handlers = in_handlers_.contains(number),
                    .readers_write = readers_write_.contains(number),
                    .readers_follow = {}};
  if (options.word) {
    const AddressSpace::Place place = memory_.find_byte(*options.word);
    facts.object = objects[place.object];
    facts.offset = place.offset;
  }
  for (const auto& [call_site, waits] : options.waits_in.by_call_site()) facts.waits_in.push_back({call_site, waits});
  if (const auto everywhere = options.waits_in.everywhere()) facts.waits_in.push_back({kNone, *everywhere});
  return facts;
}

void Recorder::add_missing(trace::Summary& summary) const {
  if (looks_in_sections_ > 0) {
    summary.missing.push_back(
        fmt::format("{} spins inside a lock's section are in it as loads: with another lock, waiting there could last for ever",
                    looks_in_sections_));
  }
  if (looks_at_odd_words_ > 0) {
    summary.missing.push_back(fmt::format(
        "{} spins on words of locks, or on words that are written in parts, are in it as loads", looks_at_odd_words_));
  }
}

}  // namespace linebounce::workloads
