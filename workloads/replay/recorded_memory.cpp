#include "workloads/replay/recorded_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <stdexcept>
#include <utility>

#include "models/splitmix64.hpp"
#include "models/text/visible.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::workloads {
namespace {

constexpr Address kEndOfMemory = Address{1} << AddressSpace::kAddressBits;

Address round_up(Address address, Address step) {
  return (address + step - 1) / step * step;
}

// Moves recorded addresses together. Each chunk of 2^`bits` bytes that holds an object gets the next free place, so that an
// address keeps its low `bits` bits, and objects in one chunk or in adjacent ones keep their distance.
class ChunkPlaces {
 public:
  explicit ChunkPlaces(int bits) : bits_(bits) {}

  // Call before the objects of memory that the program has used again, which get chunks of their own.
  void begin_again() { any_ = false; }
  // REQUIRES: the objects come in the order of their addresses, and no two overlap.
  Address place(std::uint64_t address, std::int64_t size) {
    const std::uint64_t chunk = address >> bits_;
    const std::uint64_t offset = address - (chunk << bits_);
    if (!any_ || chunk > last_) closed_ = chunk - chunks_;
    any_ = true;
    last_ = chunk + ((offset + static_cast<std::uint64_t>(std::max<std::int64_t>(size, 1)) - 1) >> bits_);
    chunks_ = last_ - closed_ + 1;
    return ((chunk - closed_) << bits_) + offset;
  }
  [[nodiscard]] std::uint64_t chunks() const { return chunks_; }

 private:
  int bits_;
  bool any_ = false;
  std::uint64_t last_ = 0;    // the last chunk that an object covers, as recorded
  std::uint64_t closed_ = 0;  // its recorded number minus its new one
  std::uint64_t chunks_ = 0;
};

}  // namespace

RecordedMemory::RecordedMemory(const trace::Reader& trace, const Options& options)
    : trace_(trace), symbols_(trace.symbols()), options_(options), frames_(options.seed), end_(options.begin) {
  std::map<int, Objects> by_page_bits;
  for (std::uint32_t id = 0; id < symbols_.objects.size(); ++id) {
    const trace::Object& object = symbols_.objects[id];
    if (object.address && object.of_lock == trace::kNone) by_page_bits[page_bits_of(object)].push_back(id);
  }
  for (auto& [page_bits, objects] : by_page_bits) {
    const std::vector<Objects> rounds = without_overlaps(std::move(objects));
    place(rounds, page_bits == 0 ? kept_bits(rounds) : page_bits, page_bits);
  }
  for (std::size_t i = 0; i < places_.size(); ++i) {
    Place& place = places_[i];
    place.room_end = round_up(place.end, Address{1} << std::max(place.page_bits, kPageBits));
    if (i + 1 < places_.size()) place.room_end = std::min(place.room_end, places_[i + 1].begin);
  }
}

std::uint64_t RecordedMemory::frames_seed(std::uint64_t seed, std::uint64_t order) {
  return mix_bits(mix_bits(seed) + order);
}

std::uint64_t RecordedMemory::address_of(std::uint32_t object) const {
  const trace::Object& recorded = symbols_.objects[object];
  return *recorded.address + (recorded.movable ? options_.heap_shift : 0);
}

// 0 for physical addresses.
int RecordedMemory::page_bits_of(const trace::Object& object) const {
  const int bytes = trace::page_bytes_of(trace_, object);
  return bytes == 0 ? 0 : std::max(options_.least_page_bits, std::countr_zero(static_cast<unsigned>(bytes)));
}

// Splits the objects into rounds, each in the order of addresses. An object that lies where a program had another one before is
// in a later round, in which near objects are near each other as well.
std::vector<RecordedMemory::Objects> RecordedMemory::without_overlaps(Objects objects) const {
  std::ranges::stable_sort(objects, {}, [this](std::uint32_t object) { return address_of(object); });
  std::vector<Objects> rounds;
  while (!objects.empty()) {
    std::uint64_t end = 0;
    Objects& round = rounds.emplace_back();
    Objects again;
    for (const std::uint32_t object : objects) {
      const std::uint64_t address = address_of(object);
      if (address < end) {
        again.push_back(object);
        continue;
      }
      round.push_back(object);
      end = address + static_cast<std::uint64_t>(symbols_.objects[object].size);
    }
    objects = std::move(again);
  }
  return rounds;
}

// How many low bits physical addresses keep: as many as fit into the memory behind `begin`, but all that index a cache.
int RecordedMemory::kept_bits(const std::vector<Objects>& rounds) const {
  const int least = std::max(options_.index_bits, kPageBits);
  for (int bits = std::countr_zero(kBegin); bits > least; --bits) {
    ChunkPlaces places(bits);
    for (const Objects& round : rounds) {
      places.begin_again();
      for (const std::uint32_t object : round) places.place(address_of(object), symbols_.objects[object].size);
    }
    if (places.chunks() <= kBegin >> bits) return bits;
  }
  return least;
}

void RecordedMemory::place(const std::vector<Objects>& rounds, int kept_bits, int page_bits) {
  const Address begin = end_;
  ChunkPlaces chunks(kept_bits);
  for (const Objects& round : rounds) {
    chunks.begin_again();
    std::uint64_t before = 0;
    for (const std::uint32_t id : round) {
      const trace::Object& object = symbols_.objects[id];
      const std::uint64_t address = address_of(id);
      const Address at = begin + chunks.place(address, object.size);
      const Address gap = id == round.front() ? kFar : address - before;
      // Frames may be drawn from twice as much memory as the pages take.
      if (chunks.chunks() > (kEndOfMemory - begin) >> (kept_bits + 1))
        throw std::invalid_argument(fmt::format("{} does not fit: all objects with addresses together take at most 2^{} bytes",
                                                visible_name(object.name), AddressSpace::kAddressBits - 1));
      places_.push_back(
          {.object = id, .begin = at, .end = at + static_cast<Address>(object.size), .page_bits = page_bits, .gap = gap});
      before = address + static_cast<std::uint64_t>(object.size);
    }
  }
  const Address end = begin + (chunks.chunks() << kept_bits);
  end_ = page_bits == 0 ? round_up(end, PageFrames::kMemory) : frames_.draw(begin, end, page_bits);
}

}  // namespace linebounce::workloads
