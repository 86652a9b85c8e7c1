// Turns a trace of plain addresses into objects and operations on them.
#pragma once

#include <cstdint>
#include <map>

#include "trace/writer.hpp"

namespace linebounce::sim {

// Defines one object per touched page of 4 KiB, with its address, so that objects keep their distances when placed.
class AddressObjects {
 public:
  explicit AddressObjects(trace::Writer& out) : out_(&out) {}

  // Appends an access of any size and alignment, in aligned pieces of 1 to 8 bytes.
  void access(std::uint32_t stream, trace::Kind kind, std::uint64_t address, std::uint64_t bytes);
  // `flags`: trace::kForWrite or 0.
  void prefetch(std::uint32_t stream, std::uint64_t address, std::uint16_t flags);

 private:
  // Appends this many consecutive pieces of equal size.
  void pieces(std::uint32_t stream, trace::Kind kind, std::uint64_t address, std::uint64_t bytes, std::uint64_t count);
  std::uint32_t page(std::uint64_t number);

  trace::Writer* out_;
  std::map<std::uint64_t, std::uint32_t> pages_;
  std::uint64_t last_number_ = ~std::uint64_t{0};
  std::uint32_t last_id_ = 0;
};

// Counts one stream's instructions, in formats that list each fetch followed by its accesses.
class FetchedInstructions {
 public:
  FetchedInstructions(trace::Writer& out, std::uint32_t stream) : out_(&out), stream_(stream) {}

  void fetch() { ++fetched_; }
  // The latest instruction accesses memory. Those before it did not, and are executed first.
  void access();
  // Call at the end of the trace, and before another CPU's accesses.
  void finish() {
    execute(fetched_);
    fetched_ = 0;
  }
  [[nodiscard]] bool any() const { return any_; }

 private:
  void execute(std::uint64_t instructions);

  trace::Writer* out_;
  std::uint32_t stream_;
  std::uint64_t fetched_ = 0;
  bool any_ = false;
};

}  // namespace linebounce::sim
