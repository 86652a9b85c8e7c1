// Records a timed run as a trace: the operations of every CPU's program and interrupt handlers, without time and values. Which
// words are awaited is known only at the end, so operations stay in memory until then, 16 bytes each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "models/core/cpu.hpp"
#include "models/core/program_tap.hpp"
#include "models/timebase.hpp"
#include "models/units.hpp"
#include "trace/summary.hpp"
#include "trace/writer.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::workloads {

// How often each word has been written so far, in the order in which the writes take effect.
class WrittenWords {
 public:
  void written(Address address, int bytes) {
    std::vector<Kind>& kinds = granules_[address / kGranule];
    for (Kind& kind : kinds) {
      if (kind.address != address || kind.bytes != bytes) continue;
      ++kind.times;
      return;
    }
    kinds.push_back({address, bytes, 1});
  }

  // Counts every write that shares a byte with the word.
  [[nodiscard]] std::uint64_t times(Address address, int bytes) const {
    const auto found = granules_.find(address / kGranule);
    if (found == granules_.end()) return 0;
    std::uint64_t sum = 0;
    for (const Kind& kind : found->second) sum += overlap(kind, address, bytes) ? kind.times : 0;
    return sum;
  }

  // Whether every write so far to a byte of the word covered all its bytes.
  [[nodiscard]] bool only_as_a_whole(Address address, int bytes) const {
    const auto found = granules_.find(address / kGranule);
    return found == granules_.end() || std::ranges::all_of(found->second, [&](const Kind& kind) {
             return !overlap(kind, address, bytes) || covers(kind.address, kind.bytes, address, bytes);
           });
  }

  static bool covers(Address write, int write_bytes, Address word, int bytes) {
    return write <= word && word + static_cast<Address>(bytes) <= write + static_cast<Address>(write_bytes);
  }

 private:
  static constexpr Address kGranule = 8;  // a word is naturally aligned, so it lies in one granule
  struct Kind {
    Address address;
    int bytes;
    std::uint64_t times;
  };
  static bool overlap(const Kind& kind, Address address, int bytes) {
    return kind.address < address + static_cast<Address>(bytes) && address < kind.address + static_cast<Address>(kind.bytes);
  }
  std::unordered_map<Address, std::vector<Kind>> granules_;
};

class Recorder final : public ProgramTap {
 public:
  // REQUIRES: the workload is set up, so that `memory` and `locks` are complete; both outlive the recorder.
  Recorder(const AddressSpace& memory, const LockSet& locks, const Timebase& timebase, int cpus);

  // Completes what the end of the run has cut off, and writes the whole trace. Adds sentences to `summary` about what could
  // not be recorded. REQUIRES: the simulation is over; called once. Errors: trace::WriteError.
  void write(trace::Writer& writer, trace::Summary summary);
  [[nodiscard]] std::uint64_t operations() const;

  void called(const Cpu& cpu, const ProgramCall& call) override;
  void applied(const Cpu& cpu, const Operation& operation, Value old) override;
  void forwarded(const Cpu& cpu, Address address) override;
  void spin_begins(const Cpu& cpu, std::span<const Address> words, int bytes) override;
  void spin_polled(const Cpu& cpu) override;
  void spin_ends(const Cpu& cpu) override;
  void composite_begins(const Cpu& cpu, const Composite& composite) override;
  void composite_ends(const Cpu& cpu, bool failed) override;
  void handler_begins(const Cpu& cpu, int vector) override;
  void handler_ends(const Cpu& cpu) override;

 private:
  using Operations = std::vector<trace::Operation>;
  struct Held {
    std::uint32_t lock;
    bool shared;
  };
  // One of the words that a spin looks at.
  struct Looked {
    Address address = 0;
    std::uint64_t before = 0, now = 0;  // how often the word had been written at the previous look, and at this one
    bool now_forwarded = false;         // true if this look found a value from the CPU's own store buffer
    int own = 0;                        // writes by handlers of the same thread since the spin began
    int own_before = 0, own_now = 0;    // writes by these handlers up to the previous look, and up to this one
    // Whether the word has changed between the previous look and this one, so that the spin ends.
    [[nodiscard]] bool has_changed() const { return now_forwarded ? own_now > own_before : now > before; }
  };
  struct Spin {
    std::vector<Looked> words;
    int bytes = 0;
  };
  // A program, or a handler that has interrupted it.
  struct Context {
    explicit Context(Operations& operations) : to(&operations) {}
    Operations* to;
    int inside = 0;  // depth of nested composites
    bool spins = false, paired = false;
    Composite::What composite{};
    std::int64_t slept_until = 0;  // wake-ups that the latest sleep in this composite had used up when it ended
    std::vector<Held> held;
    Spin spin;
  };
  using AwaitedWord = std::pair<Address, int>;

  Context& top(const Cpu& cpu) { return contexts_[cpu.id().value].back(); }
  [[nodiscard]] static bool records(const Context& context) { return context.inside == 0 && !context.spins; }
  void append_memory(Context& context, const ProgramCall& call);
  [[nodiscard]] trace::Operation at(trace::Kind kind, Address address, int bytes) const;
  void note_own_write(const Cpu& cpu, const Operation& operation);
  [[nodiscard]] bool holds_any(const Cpu& cpu) const;
  void append_awaits(Context& context);
  void append_looks(Context& context, const Spin& spin);

  // Called at the end of the run.
  void cut_off();
  void forget_barriers_without_end();
  template <class Function>
  void for_all(Function function);
  void find_words();
  void mark(Operations& operations);
  [[nodiscard]] bool is_counted(Address address, int bytes) const;
  [[nodiscard]] std::vector<bool> touched_objects();
  [[nodiscard]] trace::Lock lock_facts(std::size_t lock, const std::vector<std::uint32_t>& objects) const;
  void add_missing(trace::Summary& summary) const;

  const AddressSpace& memory_;
  const LockSet& locks_;
  const Timebase& timebase_;
  std::unordered_map<const void*, std::uint32_t> lock_numbers_;
  std::map<Address, std::uint32_t> barrier_numbers_;  // numbered by first use, until the end
  std::map<Address, int> parties_;
  std::vector<std::deque<Context>> contexts_;                       // by CPU
  std::vector<Operations> programs_;                                // by CPU
  std::map<std::pair<int, int>, std::deque<Operations>> handlers_;  // by CPU and vector, each handler's operations in order
  std::set<std::uint32_t> in_handlers_, readers_write_;
  WrittenWords written_;
  std::map<AwaitedWord, std::uint32_t> words_;  // awaited words, numbered by first use until the end
  struct Word {
    Address address = 0;
    int bytes = 0;
    std::uint32_t number = 0;  // number in the trace; kNone: the word can't be counted
  };
  std::map<std::uint32_t, Word> word_by_use_;
  std::set<std::pair<Address, int>> counted_;  // addresses and sizes of counted words
  std::int64_t looks_in_sections_ = 0, looks_at_odd_words_ = 0;
};

}  // namespace linebounce::workloads
