// Where the objects of a trace that have an address lie in simulated memory, before any change of layouts. A physical address
// keeps all bits that index the machine's caches. A virtual one keeps its offset in its page, whose frame the seed draws. Gaps
// between distant objects are closed as far as these bits allow, so that simulated memory stays small.
#pragma once

#include <cstdint>
#include <vector>

#include "models/memory/page_frames.hpp"
#include "models/units.hpp"
#include "trace/reader.hpp"

namespace linebounce::workloads {

class RecordedMemory {
 public:
  // In front of kBegin is room for objects without a recorded address. Recorded memory that is neither larger nor scattered
  // over the whole address space ends at twice kBegin, which locks in C can reach (NativeMemory::kMirrorBytes).
  static constexpr Address kBegin = Address{1} << 35;
  static constexpr int kPageBits = 12;  // of new memory; no recorded page is smaller

  struct Options {
    std::uint64_t seed = 0;           // see frames_seed()
    int index_bits = 0;               // physical addresses keep at least so many low bits
    int least_page_bits = kPageBits;  // pages of virtual addresses have at least so many bits
    std::uint64_t heap_shift = 0;     // bytes by which movable objects lie behind their recorded address
    Address begin = kBegin;           // a multiple of kBegin
  };
  // The seed of the frames in a run with this seed. Each order of the trace's operations (workload.order) has its own frames,
  // so that a change that is tried in several orders is tried in several placements.
  static std::uint64_t frames_seed(std::uint64_t seed, std::uint64_t order);

  // Errors: std::invalid_argument if an object does not fit into simulated memory.
  RecordedMemory(const trace::Reader& trace, const Options& options);

  static constexpr Address kFar = ~Address{0};
  struct Place {
    std::uint32_t object = 0;
    Address begin = 0, end = 0;  // virtual
    int page_bits = 0;           // 0: the recorded address is physical
    Address room_end = 0;        // a changed layout of the object may take the bytes up to here
    Address gap = kFar;          // recorded bytes between the previous object and this one
  };
  [[nodiscard]] const std::vector<Place>& places() const { return places_; }  // sorted by `begin`
  [[nodiscard]] const PageFrames& frames() const { return frames_; }
  [[nodiscard]] Address end() const { return end_; }  // of all of it, and of the memory from which frames are drawn

 private:
  using Objects = std::vector<std::uint32_t>;
  [[nodiscard]] std::vector<Objects> without_overlaps(Objects objects) const;
  [[nodiscard]] std::uint64_t address_of(std::uint32_t object) const;
  [[nodiscard]] int page_bits_of(const trace::Object& object) const;
  [[nodiscard]] int kept_bits(const std::vector<Objects>& rounds) const;
  void place(const std::vector<Objects>& rounds, int kept_bits, int page_bits);

  const trace::Reader& trace_;
  const trace::Symbols& symbols_;
  Options options_;
  std::vector<Place> places_;
  PageFrames frames_;
  Address end_;
};

}  // namespace linebounce::workloads
