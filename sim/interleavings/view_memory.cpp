#include "sim/interleavings/view_memory.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace linebounce::sim {
namespace {

constexpr int kBitsOfByte = 8;

bool acquires(MemoryOrder order) {
  return order == MemoryOrder::acquire || order == MemoryOrder::both || order == MemoryOrder::sequential ||
         order == MemoryOrder::full;
}

bool releases(MemoryOrder order) {
  return order != MemoryOrder::relaxed && order != MemoryOrder::acquire;
}

bool is_sequential(MemoryOrder order) {
  return order == MemoryOrder::sequential || order == MemoryOrder::sequential_store || order == MemoryOrder::full;
}

// True if two views have the same values of all cells but one, whatever their lengths.
bool same_but_for(int cell, const std::vector<int>& view, const std::vector<int>& other) {
  const auto in = [](const std::vector<int>& of, int i) { return i < std::ssize(of) ? of[i] : 0; };
  for (int i = 0; i < std::max(std::ssize(view), std::ssize(other)); ++i) {
    if (i != cell && in(view, i) != in(other, i)) return false;
  }
  return true;
}

Value mask_of(int bytes) {
  return ~Value{0} >> (64 - kBitsOfByte * bytes);
}

}  // namespace

ViewMemory::ViewMemory(LineStore& initial, int cpus, WordCells& cells, ObjectsOf objects)
    : initial_(&initial), cells_(&cells), objects_(std::move(objects)), cpus_(static_cast<std::size_t>(cpus)) {}

int ViewMemory::cell_number(const Word& word) const {
  const auto [address, bytes] = cells_->cell_of(word.address, word.bytes);
  const auto [known, is_new] = number_of_.try_emplace(address, static_cast<int>(memory_.size()));
  if (!is_new) return known->second;
  Cell cell{.address = address, .bytes = bytes, .values = {{}}, .order = {0}};
  const std::byte* const from =
      initial_->memory_data(initial_->slot(initial_->line_of(address))) + initial_->offset_of(address);
  std::memcpy(&cell.values.front().value, from, static_cast<std::size_t>(bytes));
  memory_.push_back(std::move(cell));
  return known->second;
}

// ---- views ----

int ViewMemory::in(const View& view, int cell) {
  return cell < std::ssize(view) ? view[cell] : 0;
}

int ViewMemory::place_in(const View& view, int cell) const {
  return memory_[cell].values[in(view, cell)].place;
}

void ViewMemory::advance(View& view, int cell, int number) const {
  if (cell >= std::ssize(view)) view.resize(static_cast<std::size_t>(cell) + 1);
  if (memory_[cell].values[number].place > place_in(view, cell)) view[cell] = number;
}

void ViewMemory::join(View& view, const View& other) const {
  for (int cell = 0; cell < std::ssize(other); ++cell) {
    if (other[cell] != 0) advance(view, cell, other[cell]);
  }
}

// ---- what is possible ----

// A load through a pointer comes after the load of the pointer, so it sees what that pointer's store has published.
int ViewMemory::oldest_loadable(int cpu, const Word& word, int cell, MemoryOrder order) const {
  const Cpu& own = cpus_[cpu];
  int oldest = place_in(own.current, cell);
  if (is_sequential(order)) oldest = std::max(oldest, place_in(sequential_, cell));
  if (own.pointers.empty()) return oldest;
  const auto known = own.pointers.find(objects_.address(word.address));
  return known == own.pointers.end() ? oldest : std::max(oldest, place_in(known->second, cell));
}

// A store comes after all earlier loads of its CPU: there is no load buffering. So it also follows what those loads could have
// taught, although no fence has made the CPU learn it.
int ViewMemory::oldest_replaceable(int cpu, int cell, MemoryOrder order) const {
  const int oldest = std::max(place_in(cpus_[cpu].current, cell), place_in(cpus_[cpu].acquirable, cell));
  return is_sequential(order) ? std::max(oldest, place_in(sequential_, cell)) : oldest;
}

std::vector<int> ViewMemory::loadable(int cpu, const Word& word, MemoryOrder order) const {
  const int cell = cell_number(word), oldest = oldest_loadable(cpu, word, cell, order);
  std::vector<int> places;
  for (int place = static_cast<int>(memory_[cell].order.size()) - 1; place >= oldest; --place) {
    const Stored& value = memory_[cell].values[memory_[cell].order[place]];
    if (place_in(known_to_load(cpu, cell, value), cell) <= place) places.push_back(place);
  }
  return places;
}

bool ViewMemory::is_within(const View& view, const View& other) const {
  for (int cell = 0; cell < std::ssize(view); ++cell) {
    if (place_in(view, cell) > place_in(other, cell)) return false;
  }
  return true;
}

// True if the CPU's loads could have told it no more than it knows.
bool ViewMemory::has_learnt_all(int cpu) const {
  return is_within(cpus_[cpu].acquirable, cpus_[cpu].current);
}

// The place of the newest value up to `place` that the CPU has stored; -1: none.
int ViewMemory::own_store_up_to(int cpu, int cell, int place) const {
  const Cell& in = memory_[cell];
  while (place >= 0 && in.values[in.order[place]].writer != cpu) --place;
  return place;
}

// The view that the CPU must have to load this value, because of its own earlier accesses. If another CPU's value replaces what
// this CPU has stored or loaded, or passes on a value that does, the load comes after that access. So it comes after all loads
// before the store, and after what that load was told.
ViewMemory::View ViewMemory::known_to_load(int cpu, int cell, const Stored& value) const {
  View known;
  if (has_learnt_all(cpu)) return known;
  const auto add = [&](int of, int place) {
    const int stored = own_store_up_to(cpu, of, place);
    if (stored >= 0) join(known, memory_[of].values[memory_[of].order[stored]].before);
    for (const Read& read : cpus_[cpu].reads) {
      if (read.cell == of && memory_[of].values[read.number].place < place) join(known, read.told);
    }
  };
  for (int of = 0; of < std::ssize(value.view); ++of) {
    if (value.view[of] != 0) add(of, place_in(value.view, of));
  }
  if (value.writer != cpu) add(cell, value.place);
  return known;
}

std::vector<int> ViewMemory::updatable(int cpu, const Word& word, MemoryOrder order) const {
  const int number = cell_number(word), oldest = oldest_replaceable(cpu, number, order);
  const Cell& cell = memory_[number];
  std::vector<int> places;
  for (int place = static_cast<int>(cell.order.size()) - 1; place >= oldest; --place) {
    if (!cell.values[cell.order[place]].is_taken) places.push_back(place);
  }
  return places;
}

// A store of a part of a cell leaves the other bytes as they are, as a read-modify-write of the whole would.
std::vector<int> ViewMemory::storable(int cpu, const Word& word, MemoryOrder order) const {
  return updatable(cpu, word, order);
}

Value ViewMemory::value_at(const Word& word, int place) const {
  const Cell& cell = memory_[cell_number(word)];
  const auto shift = static_cast<int>(word.address - cell.address) * kBitsOfByte;
  return cell.values[cell.order[place]].value >> shift & mask_of(word.bytes);
}

Value ViewMemory::with_bytes(const Cell& cell, Value whole, const Word& word, Value part) const {
  const auto shift = static_cast<int>(word.address - cell.address) * kBitsOfByte;
  const Value mask = mask_of(word.bytes) << shift;
  return (whole & ~mask) | (part << shift & mask);
}

// ---- operations ----

void ViewMemory::learn(int cpu, int cell, int number, MemoryOrder order) {
  Cpu& own = cpus_[cpu];
  const Stored& value = memory_[cell].values[number];
  View told = known_to_load(cpu, cell, value);
  join(told, value.view);
  advance(own.current, cell, number);
  if (acquires(order)) join(own.current, told);
  join(own.acquirable, own.current);
  join(own.acquirable, told);
  join(own.everywhere, value.everywhere);
  if (is_sequential(order)) advance(sequential_, cell, number);
  std::erase_if(own.reads, [&](const Read& read) {
    return is_within(read.told, own.current) || (read.cell == cell && read.number == number);
  });
  if (!is_within(told, own.current)) own.reads.push_back({cell, number, std::move(told)});
}

void ViewMemory::learn_pointer(int cpu, const Stored& from, Value value) {
  const int object = objects_.value(value);
  if (object < 0) return;
  View both = cpus_[cpu].current;
  join(both, from.view);
  if (both == cpus_[cpu].current) return;
  join(cpus_[cpu].pointers[object], from.view);
}

Value ViewMemory::load(int cpu, const Word& word, int place, MemoryOrder order) {
  const int cell = cell_number(word), number = memory_[cell].order[place];
  if (order == MemoryOrder::full) fence(cpu, order);
  learn(cpu, cell, number, order);
  if (order == MemoryOrder::full) fence(cpu, order);
  const Value value = value_at(word, memory_[cell].values[number].place);
  if (!acquires(order)) learn_pointer(cpu, memory_[cell].values[number], value);
  return value;
}

void ViewMemory::insert(int cell, int place, Stored stored) {
  Cell& in = memory_[cell];
  in.order.insert(in.order.begin() + place, static_cast<int>(in.values.size()));
  in.values.push_back(std::move(stored));
  for (int i = place; i < std::ssize(in.order); ++i) in.values[in.order[i]].place = i;
}

void ViewMemory::published(int cpu, int cell, int number, MemoryOrder order) {
  advance(cpus_[cpu].current, cell, number);
  advance(cpus_[cpu].acquirable, cell, number);
  if (is_sequential(order)) advance(sequential_, cell, number);
}

// A release is cumulative, as on all hardware and in the kernel's model, and unlike in C11: it passes on what the values that
// its CPU has loaded could have taught, although the loads did not acquire it.
ViewMemory::View ViewMemory::published_by(int cpu, MemoryOrder order) const {
  const Cpu& own = cpus_[cpu];
  if (releases(order)) return own.acquirable;
  View view = own.released;
  join(view, own.everywhere);
  return view;
}

void ViewMemory::store(int cpu, const Word& word, int place, Value value, MemoryOrder order) {
  const int number = cell_number(word);
  if (memory_[number].bytes != word.bytes) return replace(cpu, word, place, value, order);
  Stored stored{.value = value & mask_of(word.bytes),
                .view = published_by(cpu, order),
                .everywhere = cpus_[cpu].everywhere,
                .before = cpus_[cpu].acquirable,
                .writer = cpu};
  if (number < std::ssize(stored.view)) stored.view[number] = 0;
  insert(number, place + 1, std::move(stored));
  published(cpu, number, static_cast<int>(memory_[number].values.size()) - 1, order);
}

void ViewMemory::update(int cpu, const Word& word, int place, Value value, MemoryOrder order) {
  if (order == MemoryOrder::full) fence(cpu, order);
  const int cell = cell_number(word), from = memory_[cell].order[place];
  learn(cpu, cell, from, order);
  if (!acquires(order)) learn_pointer(cpu, memory_[cell].values[from], value_at(word, place));
  replace(cpu, word, place, value, order);
  if (order == MemoryOrder::full) fence(cpu, order);
}

// Makes no new value if the read-modify-write changes nothing and tells no more than the value that it has read: no store can
// come between the two, and a CPU that reads one learns what the other tells.
void ViewMemory::replace(int cpu, const Word& word, int place, Value value, MemoryOrder order) {
  const int cell = cell_number(word), from = memory_[cell].order[place];
  const Stored& read = memory_[cell].values[from];
  Stored stored{.value = with_bytes(memory_[cell], read.value, word, value),
                .view = read.view,
                .everywhere = cpus_[cpu].everywhere,
                .before = cpus_[cpu].acquirable,
                .writer = cpu};
  join(stored.view, published_by(cpu, order));
  if (cell < std::ssize(stored.view)) stored.view[cell] = 0;
  if (stored.value == read.value && same_but_for(cell, stored.view, read.view) &&
      same_but_for(cell, stored.everywhere, read.everywhere)) {
    published(cpu, cell, from, order);
  } else {
    memory_[cell].values[from].is_taken = true;
    insert(cell, place + 1, std::move(stored));
    published(cpu, cell, static_cast<int>(memory_[cell].values.size()) - 1, order);
  }
}

void ViewMemory::fence(int cpu, MemoryOrder order) {
  Cpu& own = cpus_[cpu];
  if (acquires(order)) own.current = own.acquirable, own.pointers.clear(), own.reads.clear();
  if (is_sequential(order)) {
    join(own.current, sequential_);
    sequential_ = own.everywhere = own.current;
    join(own.acquirable, own.current);
  }
  if (releases(order)) own.released = own.current;
}

void ViewMemory::wake(int waker, int sleeper) {
  join(cpus_[sleeper].woken, cpus_[waker].current);
}

void ViewMemory::wake_up(int cpu) {
  Cpu& own = cpus_[cpu];
  join(own.current, std::exchange(own.woken, {}));
  join(own.acquirable, own.current);
}

bool ViewMemory::sees_everything(int cpu) const {
  for (int cell = 0; cell < std::ssize(memory_); ++cell) {
    if (place_in(cpus_[cpu].current, cell) + 1 != std::ssize(memory_[cell].order)) return false;
  }
  return true;
}

// ---- states ----

// Parts of a view that are older than any running CPU may read are all the same to it.
void ViewMemory::add_view(Digest& digest, const View& view, const std::vector<int>& oldest) const {
  for (const auto& [address, cell] : number_of_) {
    if (memory_[cell].order.size() == 1) continue;
    digest.add(static_cast<std::uint64_t>(std::max(place_in(view, cell) - oldest[cell], 0)));
  }
}

// By cell: the oldest value that a running CPU may read, or that known_to_load() may look at. Older ones are all alike.
std::vector<int> ViewMemory::oldest_that_matter(const std::vector<bool>& ended) const {
  std::vector<int> oldest(memory_.size());
  for (int cell = 0; cell < std::ssize(memory_); ++cell) {
    oldest[cell] = static_cast<int>(memory_[cell].order.size()) - 1;
    for (int cpu = 0; cpu < std::ssize(cpus_); ++cpu) {
      if (!ended[cpu]) oldest[cell] = std::min(oldest[cell], place_in(cpus_[cpu].current, cell));
    }
  }
  for (int cpu = 0; cpu < std::ssize(cpus_); ++cpu) {
    if (ended[cpu] || has_learnt_all(cpu)) continue;
    for (const Read& read : cpus_[cpu].reads) {
      oldest[read.cell] = std::min(oldest[read.cell], memory_[read.cell].values[read.number].place);
    }
    for (int cell = 0; cell < std::ssize(memory_); ++cell) {
      const int stored = own_store_up_to(cpu, cell, oldest[cell]);
      if (stored >= 0) oldest[cell] = stored;
    }
  }
  return oldest;
}

void ViewMemory::add_known_to_load(Digest& digest, int cpu, const std::vector<int>& oldest) const {
  if (has_learnt_all(cpu)) return;
  for (const auto& [address, number] : number_of_) {
    const Cell& cell = memory_[number];
    for (int place = oldest[number]; place < std::ssize(cell.order); ++place) {
      const Stored& stored = cell.values[cell.order[place]];
      if (stored.writer == cpu) {
        digest.add(static_cast<std::uint64_t>(place - oldest[number]));
        add_view(digest, stored.before, oldest);
      }
      for (const Read& read : cpus_[cpu].reads) {
        if (read.cell != number || cell.values[read.number].place != place) continue;
        digest.add(static_cast<std::uint64_t>(place - oldest[number]));
        add_view(digest, read.told, oldest);
      }
    }
  }
}

void ViewMemory::add_to(Digest& digest, const std::vector<bool>& ended) const {
  const std::vector<int> oldest = oldest_that_matter(ended);
  for (const auto& [address, number] : number_of_) {
    const Cell& cell = memory_[number];
    if (cell.order.size() == 1) continue;
    digest.add(address);
    digest.add(cell.order.size() - static_cast<std::size_t>(oldest[number]));
    for (std::size_t place = static_cast<std::size_t>(oldest[number]); place < cell.order.size(); ++place) {
      const Stored& stored = cell.values[cell.order[place]];
      digest.add(stored.value);
      digest.add(stored.is_taken ? 1 : 0);
      add_view(digest, stored.view, oldest);
      add_view(digest, stored.everywhere, oldest);
    }
  }
  add_view(digest, sequential_, oldest);
  for (std::size_t cpu = 0; cpu < cpus_.size(); ++cpu) {
    if (ended[cpu]) continue;
    const Cpu& own = cpus_[cpu];
    for (const View* view : {&own.current, &own.acquirable, &own.released, &own.everywhere, &own.woken})
      add_view(digest, *view, oldest);
    add_known_to_load(digest, static_cast<int>(cpu), oldest);
    for (const auto& [object, view] : own.pointers) {
      digest.add(static_cast<std::uint64_t>(object));
      add_view(digest, view, oldest);
    }
  }
}

std::vector<ViewMemory::Written> ViewMemory::written() const {
  std::vector<Written> words;
  for (const auto& [address, number] : number_of_) {
    const Cell& cell = memory_[number];
    if (cell.order.size() > 1) words.push_back({address, cell.bytes, cell.values[cell.order.back()].value});
  }
  return words;
}

}  // namespace linebounce::sim
