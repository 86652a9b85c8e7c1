// Places a trace's objects, locks and barriers in simulated memory. Those of a simulated run, which have no recorded addresses,
// are placed in the order in which the run placed them, so that on the same machine each has its old address. Objects with
// recorded addresses are placed behind all others, as RecordedMemory says.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/memory/homes.hpp"
#include "trace/symbols.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/program/barrier.hpp"
#include "workloads/program/layout_set.hpp"
#include "workloads/program/object.hpp"
#include "workloads/program/workload.hpp"
#include "workloads/replay/count_form.hpp"
#include "workloads/replay/recorded_memory.hpp"

namespace linebounce::workloads {

class ReplayPlaces {
 public:
  // `algorithm_of`: the lock that replaces a recorded one. `home_of`: an object's home.
  struct Choices {
    std::function<std::string(const trace::Lock&)> algorithm_of;
    std::function<std::optional<Home>(const trace::Object&)> home_of;
    RecordedMemory::Options memory = {};
    std::vector<CountChoice> counts = {};
  };
  // Whether reports distinguish the lines of the object. Large arrays would have too many.
  static bool tells_lines_apart(const trace::Object& object);

  // Errors: std::invalid_argument.
  ReplayPlaces(const trace::Symbols& symbols, const WorkloadSetup& setting, const Choices& choices);

  // The physical address of a byte of the object. A field that a layout change gives to each CPU has one for each.
  [[nodiscard]] Address at(std::uint32_t object, std::uint64_t offset, int cpu) const {
    const Placed& placed = objects_[object];
    if (placed.in_one_piece) [[likely]]
      return placed.begin + offset;
    return at_in_pieces(placed, offset, cpu);
  }
  // Whether a lock lies inside the object. A store must leave the lock's word alone.
  [[nodiscard]] bool holds_lock(std::uint32_t object) const { return objects_[object].holds_lock; }
  // A count that the replay keeps in another form, and the addresses of its copies.
  struct OtherCount {
    CountForm form{};
    std::vector<Address> copies;
  };
  [[nodiscard]] bool has_other_counts() const { return !other_counts_.empty(); }
  // Null if the replay keeps the word as recorded.
  [[nodiscard]] const OtherCount* other_count(std::uint32_t object, std::uint64_t offset) const {
    const auto count = other_counts_.find({object, offset});
    return count == other_counts_.end() ? nullptr : &count->second;
  }
  // The amount that a write must add, so that each awaited word that the write covers grows by one.
  [[nodiscard]] Value count_of(std::uint32_t object, std::uint64_t offset, int bytes) const;

  [[nodiscard]] FunctionId function(std::uint32_t id) const { return functions_[id]; }
  [[nodiscard]] MeteredLock& lock(std::uint32_t id) { return *locks_[id]; }
  [[nodiscard]] const Barrier& barrier(std::uint32_t id) const { return barriers_[id]; }
  // event(): the word that counts an event's signals. The others: the words that say whether a stream has begun or ended.
  [[nodiscard]] Address event(std::uint32_t id) const { return events_[id]; }
  [[nodiscard]] Address begun(std::uint32_t stream) const { return begun_[stream]; }
  [[nodiscard]] Address ended(std::uint32_t stream) const { return ended_[stream]; }

 private:
  struct Placed {
    Address begin = 0;         // physical if the object is in one piece, else virtual
    bool in_one_piece = true;  // no field has moved, and the object lies in one page
    bool holds_lock = false;
    const std::vector<FieldPlace>* fields = nullptr;  // by offset: the present place; null if no field has moved
    Object object;
  };

  void place_all();
  void place(std::uint32_t id);
  void place_beside_locks();
  void place_recorded_addresses();
  void place_at(const RecordedMemory::Place& place);
  [[nodiscard]] bool fits(const RecordedMemory::Place& place);
  Address place_grown(const std::vector<const RecordedMemory::Place*>& grown);
  void find_pieces(const RecordedMemory::Place& place);
  [[nodiscard]] Address at_in_pieces(const Placed& placed, std::uint64_t offset, int cpu) const;
  void create_lock(std::uint32_t id);
  void place_counts();
  // Errors: std::invalid_argument if no object has the chosen layout.
  void place_other_count(const CountChoice& choice);
  // The experiment's version of a layout. A different layout with the same name stays as recorded.
  [[nodiscard]] const Layout& now(const Layout& recorded) const;
  [[nodiscard]] Layout recorded_layout(std::uint32_t id) const;
  const std::vector<FieldPlace>* moved_fields(std::uint32_t id);

  const trace::Symbols& symbols_;
  const WorkloadSetup& setting_;  // for the constructor alone, like the choices
  const Choices& choices_;
  PageFrames frames_;
  LayoutSet recorded_;
  std::vector<Layout> layouts_;  // by structure, as recorded
  // by layout, for layouts in which a change has moved fields
  std::map<std::string, std::unique_ptr<std::vector<FieldPlace>>> fields_;
  std::vector<FunctionId> functions_;
  std::vector<Placed> objects_;
  std::vector<MeteredLock*> locks_;
  std::vector<Barrier> barriers_;
  std::vector<std::vector<trace::Word>> words_;  // by object
  std::vector<Address> events_, begun_, ended_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, OtherCount> other_counts_;  // by object and offset
  // The frames of pages that were used recently, by the low bits of the page's number. Finding a page's frame takes longer.
  struct KnownPage {
    Address page = ~Address{0}, frame = 0;
  };
  static constexpr std::size_t kKnownPages = 256;
  mutable std::array<KnownPage, kKnownPages> known_pages_ = {};
};

// The layouts that an experiment may change: those of the trace's structures, and those of objects without a structure, under
// the objects' names. Among equal names the last counts, structures before objects. Objects of 2 GiB and more have none;
// structures must be smaller, or std::invalid_argument is thrown.
LayoutSet layouts_of(const trace::Symbols& symbols);

// Errors: std::invalid_argument for a structure that is too large to replay.
Layout layout_of_recorded(const trace::Structure& structure);

// The text of a home in a trace: "node 3", "first_touch", "interleaved", "local".
std::string text_of(const Home& home);
// Parses such a text; an empty one gives none. Errors: std::invalid_argument.
std::optional<Home> home_of(const std::string& text);

}  // namespace linebounce::workloads
