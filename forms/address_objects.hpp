// Turns plain addresses into objects, and accesses to them into operations.
#pragma once

#include <cstdint>
#include <map>

#include "trace/writer.hpp"

namespace linebounce::sim {

// Defines an object for each touched page of 4 KiB. The object has the page's address.
class AddressObjects {
 public:
  // Which memory the addresses are of. A replay uses an address as it is, or, if it is virtual, draws the frame of its page.
  enum class Addresses : std::uint8_t { as_they_are, of_virtual_pages };
  AddressObjects(trace::Writer& out, Addresses addresses) : out_(&out), addresses_(addresses) {}

  // Appends an access of any size and alignment, in aligned pieces of 1 to 8 bytes; all but the first are marked as parts.
  void access(std::uint32_t stream, trace::Kind kind, std::uint64_t address, std::uint64_t bytes);
  // `flags`: trace::kForWrite or 0.
  void prefetch(std::uint32_t stream, std::uint64_t address, std::uint16_t flags);

 private:
  // Appends `count` consecutive pieces of `bytes` bytes each. `flags`: trace::kPart or 0.
  void pieces(std::uint32_t stream, trace::Kind kind, std::uint64_t address, std::uint64_t bytes, std::uint64_t count,
              std::uint16_t flags);
  std::uint32_t page(std::uint64_t number);

  trace::Writer* out_;
  Addresses addresses_;
  std::map<std::uint64_t, std::uint32_t> pages_;
  std::uint64_t last_number_ = ~std::uint64_t{0};
  std::uint32_t last_id_ = 0;
};

// Counts a stream's instructions, for formats that list each instruction fetch followed by its accesses.
class FetchedInstructions {
 public:
  FetchedInstructions(trace::Writer& out, std::uint32_t stream) : out_(&out), stream_(stream) {}

  void fetch(std::uint64_t instructions = 1) { fetched_ += instructions; }
  // Call before appending an access of the latest instruction. Appends the earlier instructions, none of which accessed
  // memory.
  void access();
  // Appends all instructions. Call at the end of the trace, and before accesses of another CPU.
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
