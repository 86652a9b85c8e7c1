#include "workloads/replay/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <stdexcept>

namespace linebounce::workloads {
namespace {

constexpr Address kNear = 256;  // in bytes: objects in new memory whose recorded distance is smaller keep it
constexpr Address kPage = Address{1} << RecordedMemory::kPageBits;

// The largest size of a layout, in bytes.
constexpr std::int64_t kLargest = std::numeric_limits<int>::max();

// The layout of a structure, and that of an object without one.
}  // namespace

Layout layout_of_recorded(const trace::Structure& structure) {
  if (structure.size > kLargest) {
    throw std::invalid_argument(fmt::format("workload.trace: structure {} has {} bytes; those of a replay have at most {}",
                                            structure.name, structure.size, kLargest));
  }
  Layout layout{.name = structure.name,
                .size = static_cast<int>(structure.size),
                .alignment = structure.alignment,
                .fields = {},
                .base_offset = structure.base_offset,
                .subsystem = structure.subsystem};
  for (const trace::Field& field : structure.fields)
    layout.fields.push_back({.name = field.name,
                             .offset = static_cast<int>(field.offset),
                             .size = static_cast<int>(field.size),
                             .alignment = field.alignment});
  for (const trace::Field& bytes : structure.unexplained)
    layout.unexplained.push_back({"", static_cast<int>(bytes.offset), static_cast<int>(bytes.size)});
  return layout;
}

namespace {

Layout bytes_layout(const trace::Object& object) {
  return {.name = object.name, .size = static_cast<int>(object.size), .alignment = std::max(object.alignment, 1), .fields = {}};
}

constexpr std::string_view kNode = "node ";
constexpr std::array<std::pair<std::string_view, Placement>, 3> kPolicies = {
    {{"local", Placement::local}, {"first_touch", Placement::first_touch}, {"interleaved", Placement::interleaved}}};

}  // namespace

LayoutSet layouts_of(const trace::Symbols& symbols) {
  LayoutSet layouts;
  for (const trace::Object& object : symbols.objects) {
    if (object.structure == trace::kNone && object.size <= kLargest) layouts.add(bytes_layout(object));
  }
  for (const trace::Structure& structure : symbols.structures) layouts.add(layout_of_recorded(structure));
  return layouts;
}

bool ReplayPlaces::tells_lines_apart(const trace::Object& object) {
  constexpr std::int64_t kMostBytes = 4096;
  if (object.structure != trace::kNone) return true;
  return object.address ? object.size <= kMostBytes : object.alignment != 0;
}

ReplayPlaces::ReplayPlaces(const trace::Symbols& symbols, const WorkloadSetup& setting, const Choices& choices)
    : symbols_(symbols),
      setting_(setting),
      choices_(choices),
      recorded_(layouts_of(symbols)),
      objects_(symbols.objects.size()),
      locks_(symbols.locks.size()),
      barriers_(symbols.barriers.size()),
      words_(symbols.objects.size()) {
  for (const trace::Structure& structure : symbols.structures) layouts_.push_back(layout_of_recorded(structure));
  for (const trace::Word& word : symbols.words) words_[word.object].push_back(word);
  for (const trace::Lock& lock : symbols.locks) {
    if (lock.object != trace::kNone) objects_[lock.object].holds_lock = true;
  }
  for (const trace::Function& function : symbols.functions)
    functions_.push_back(setting.memory.function(function.name, function.user ? Mode::user : Mode::kernel));
  place_all();
  place_beside_locks();
  place_recorded_addresses();
  place_counts();
  for (const CountChoice& choice : choices_.counts) place_other_count(choice);
}

// Places objects with a recorded address after all others. A lock inside one of them follows its object.
void ReplayPlaces::place_all() {
  for (const trace::Symbols::Placed& placed : symbols_.placed) {
    switch (placed.what) {
      case trace::Symbols::Placed::What::object:
        if (!symbols_.objects[placed.id].address) place(placed.id);
        break;
      case trace::Symbols::Placed::What::lock: {
        const std::uint32_t object = symbols_.locks[placed.id].object;
        if (object == trace::kNone || !symbols_.objects[object].address) create_lock(placed.id);
        break;
      }
      case trace::Symbols::Placed::What::barrier: {
        const trace::Barrier& barrier = symbols_.barriers[placed.id];
        barriers_[placed.id] = Barrier(setting_.memory, barrier.name, barrier.parties);
        break;
      }
    }
  }
}

const Layout& ReplayPlaces::now(const Layout& recorded) const {
  if (setting_.layouts == nullptr) return recorded;
  const auto changed = setting_.layouts->all().find(recorded.name);
  const bool is_it = changed != setting_.layouts->all().end() && recorded_.find(recorded.name) == recorded;
  return is_it ? changed->second : recorded;
}

void ReplayPlaces::place(std::uint32_t id) {
  const trace::Object& object = symbols_.objects[id];
  const std::optional<Home> home = choices_.home_of(object);
  Placed& placed = objects_[id];
  placed.fields = moved_fields(id);
  if (placed.fields != nullptr) {
    placed.object = place_object(setting_.memory, now(recorded_layout(id)), object.name, setting_.layout, home);
    placed.begin = placed.object.address();
    placed.in_one_piece = false;
  } else if (object.structure == trace::kNone && object.alignment == 0) {
    placed.begin = setting_.memory.place_array(object.name, object.size, home);
  } else if (object.structure == trace::kNone) {
    placed.begin = setting_.memory.place_plain(object.name, object.size, object.alignment, home);
  } else {
    placed.begin = setting_.memory.place(layouts_[object.structure], object.name, object.alignment, home);
  }
}

Layout ReplayPlaces::recorded_layout(std::uint32_t id) const {
  const trace::Object& object = symbols_.objects[id];
  return object.structure == trace::kNone ? bytes_layout(object) : layouts_[object.structure];
}

// The present place of each byte of the recorded object; null if no field has moved. Padding stays behind the field that
// precedes it.
const std::vector<FieldPlace>* ReplayPlaces::moved_fields(std::uint32_t id) {
  if (symbols_.objects[id].size > kLargest) return nullptr;
  const Layout recorded = recorded_layout(id);
  const Layout& changed = now(recorded);
  if (changed == recorded) return nullptr;
  auto& known = fields_[recorded.name];
  if (known != nullptr) return known.get();
  known = std::make_unique<std::vector<FieldPlace>>(recorded.size);
  MovedBytes last;
  auto next = changed.moved.begin();
  for (int offset = 0; offset < recorded.size; ++offset) {
    if (next != changed.moved.end() && next->from == offset) last = *next++;
    (*known)[offset] = {last.to + offset - last.from, 1, last.section};
  }
  return known.get();
}

void ReplayPlaces::create_lock(std::uint32_t id) {
  const trace::Lock& lock = symbols_.locks[id];
  LockSet::Options options{.word = {}, .waits_in = {}, .word_bytes = lock.word_bytes, .figures = lock.figures};
  if (lock.object != trace::kNone) options.word = at(lock.object, static_cast<std::uint64_t>(lock.offset), 0);
  std::optional<FunctionId> everywhere;
  std::map<FunctionId, FunctionId> by_call_site;
  for (const trace::WaitsIn& waits : lock.waits_in) {
    if (waits.taker == trace::kNone) {
      everywhere = functions_[waits.function];
    } else {
      by_call_site.emplace(functions_[waits.taker], functions_[waits.function]);
    }
  }
  options.waits_in = WaitsIn(everywhere, std::move(by_call_site));
  locks_[id] = &setting_.locks.create(choices_.algorithm_of(lock), lock.name, options);
}

// Places the memory of locks that the program accesses directly: inside the present lock if it has such memory, else
// separately.
void ReplayPlaces::place_beside_locks() {
  std::map<std::string, Address> known;
  for (const AddressSpace::Object& object : setting_.memory.objects()) known.emplace(object.name, object.begin);
  for (std::uint32_t id = 0; id < symbols_.objects.size(); ++id) {
    const trace::Object& object = symbols_.objects[id];
    if (object.of_lock == trace::kNone) continue;
    const auto there = known.find(object.name);
    if (there != known.end()) {
      objects_[id].begin = there->second;
      objects_[id].holds_lock = true;
    } else {
      place(id);
    }
  }
}

// Objects whose layout has grown beyond their place lie in new memory, so that all others keep their place and their frame. The
// last element of an array, behind which there is room, stays with the others.
void ReplayPlaces::place_recorded_addresses() {
  RecordedMemory::Options options = choices_.memory;
  options.begin = (setting_.memory.next() / RecordedMemory::kBegin + 1) * RecordedMemory::kBegin;
  const RecordedMemory recorded(*setting_.trace, options);
  std::vector<const RecordedMemory::Place*> grown;
  for (const RecordedMemory::Place& place : recorded.places()) {
    const bool follows =
        !grown.empty() && &place == grown.back() + 1 && place.gap < kNear && moved_fields(place.object) != nullptr;
    if (follows || !fits(place)) {
      grown.push_back(&place);
    } else {
      place_at(place);
    }
  }
  frames_ = recorded.frames();
  Address end = recorded.end();
  if (!grown.empty()) {
    setting_.memory.go_to_exactly(end);
    const Address grown_end = place_grown(grown);
    end = frames_.draw(end, grown_end, options.least_page_bits);
  }
  setting_.memory.set_frames(frames_);
  for (const RecordedMemory::Place& place : recorded.places()) find_pieces(place);
  if (!recorded.places().empty()) setting_.memory.go_to_exactly(end);
  for (const trace::Symbols::Placed& placed : symbols_.placed) {
    if (placed.what == trace::Symbols::Placed::What::lock && locks_[placed.id] == nullptr) create_lock(placed.id);
  }
}

// Whether the object's present layout fits into its recorded place.
bool ReplayPlaces::fits(const RecordedMemory::Place& place) {
  if (moved_fields(place.object) == nullptr) return true;
  const Layout& layout = now(recorded_layout(place.object));
  const auto alignment = static_cast<Address>(layout.alignment);
  const auto size = static_cast<Address>(layout.size);
  return is_in_one_section(layout) && !layout.base_offset && place.begin % alignment == 0 &&
         size <= place.room_end - place.begin;
}

void ReplayPlaces::place_at(const RecordedMemory::Place& place) {
  const trace::Object& object = symbols_.objects[place.object];
  setting_.memory.go_to_exactly(place.begin);
  if (moved_fields(place.object) != nullptr) return this->place(place.object);
  const std::optional<Home> home = choices_.home_of(object);
  Address& begin = objects_[place.object].begin;
  if (object.structure != trace::kNone) {
    begin = setting_.memory.place(layouts_[object.structure], object.name, 1, home);
  } else if (tells_lines_apart(object)) {
    begin = setting_.memory.place_plain(object.name, object.size, 1, home);
  } else {
    begin = setting_.memory.place_bytes(object.name, object.size, home);
  }
}

// Places objects one behind the other. Those that were near each other keep their distance, others share no page. Returns the
// end of their last page.
Address ReplayPlaces::place_grown(const std::vector<const RecordedMemory::Place*>& grown) {
  AddressSpace& memory = setting_.memory;
  const RecordedMemory::Place* before = nullptr;
  for (const RecordedMemory::Place* place : grown) {
    const bool is_near = before != nullptr && place == before + 1 && place->gap < kNear;
    if (is_near) {
      memory.leave_out(place->gap);
    } else {
      memory.go_to(0, kPage);
      memory.leave_out(place->begin % kPage);
    }
    this->place(place->object);
    before = place;
  }
  memory.go_to(0, kPage);
  return memory.next();
}

// Translates the object's place, if it lies in one page. If not, or if fields have moved, at() translates each address.
void ReplayPlaces::find_pieces(const RecordedMemory::Place& place) {
  Placed& placed = objects_[place.object];
  const bool in_one_page =
      place.page_bits == 0 || place.begin == place.end || (place.begin ^ (place.end - 1)) >> place.page_bits == 0;
  placed.in_one_piece = placed.fields == nullptr && in_one_page;
  if (placed.in_one_piece) placed.begin = frames_.to_physical(placed.begin);
}

Address ReplayPlaces::at_in_pieces(const Placed& placed, std::uint64_t offset, int cpu) const {
  const Address address = placed.fields == nullptr ? placed.begin + offset : placed.object.at((*placed.fields)[offset], cpu);
  const Address page = address / kPage;
  KnownPage& known = known_pages_[page % kKnownPages];
  if (known.page != page) known = {page, frames_.to_physical(page * kPage)};
  return known.frame + address % kPage;
}

void ReplayPlaces::place_counts() {
  const auto word = [this](const std::string& name) { return setting_.memory.place_array(name, setting_.memory.line_bytes()); };
  for (const trace::Event& event : symbols_.events) events_.push_back(word(event.name));
  for (const trace::Stream& stream : symbols_.streams) {
    const bool used = stream.created;
    begun_.push_back(used ? word(stream.name + ".begun") : 0);
    ended_.push_back(used ? word(stream.name + ".ended") : 0);
  }
}

void ReplayPlaces::place_other_count(const CountChoice& choice) {
  const auto threads = std::ranges::count_if(symbols_.streams, [](const trace::Stream& stream) { return stream.vector < 0; });
  const auto copies = choice.form == CountForm::striped ? std::min<std::ptrdiff_t>(threads, kStripes) : threads;
  bool found = false;
  for (std::uint32_t id = 0; id < symbols_.objects.size(); ++id) {
    const trace::Object& object = symbols_.objects[id];
    const std::string& layout = object.structure == trace::kNone ? object.name : symbols_.structures[object.structure].name;
    if (layout != choice.layout || choice.offset >= static_cast<std::uint64_t>(object.size)) continue;
    found = true;
    OtherCount& count = other_counts_[{id, choice.offset}];
    count.form = choice.form;
    for (std::ptrdiff_t copy = 0; copy < copies; ++copy) {
      const std::string name = fmt::format("{}.count[{}]", object.name, copy);
      count.copies.push_back(setting_.memory.place_array(name, setting_.memory.line_bytes()));
    }
  }
  if (!found)
    throw std::invalid_argument(fmt::format("workload.count: the trace has no word {}+{}", choice.layout, choice.offset));
}

Value ReplayPlaces::count_of(std::uint32_t object, std::uint64_t offset, int bytes) const {
  Value count = 0;
  for (const trace::Word& word : words_[object]) {
    const auto begin = static_cast<std::uint64_t>(word.offset);
    if (begin < offset || begin + static_cast<std::uint64_t>(word.bytes) > offset + static_cast<std::uint64_t>(bytes)) continue;
    count |= Value{1} << (8 * (begin - offset));
  }
  return count;
}

std::string text_of(const Home& home) {
  for (const auto& [name, policy] : kPolicies) {
    if (home.policy == policy) return std::string(name);
  }
  return fmt::format("{}{}", kNode, home.node);
}

std::optional<Home> home_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  for (const auto& [name, policy] : kPolicies) {
    if (text == name) return Home::by(policy);
  }
  int node = 0;
  const char* const end = text.data() + text.size();
  if (text.starts_with(kNode)) {
    const auto [rest, error] = std::from_chars(text.data() + kNode.size(), end, node);
    if (error == std::errc{} && rest == end && node >= 0) return Home::on_os_node(node);
  }
  throw std::invalid_argument(
      fmt::format("\"{}\" is not a place for an object; legal: local, first_touch, interleaved, node N", text));
}

}  // namespace linebounce::workloads
