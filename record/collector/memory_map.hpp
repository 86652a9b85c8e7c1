// Maps an address to an object of the program: a variable, an allocated block, a stack, or unnamed memory.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "record/collector/allocation_site.hpp"
#include "record/collector/background_writer.hpp"
#include "record/collector/local_variables.hpp"
#include "record/collector/program_image.hpp"
#include "record/collector/types.hpp"

namespace linebounce::record {

class MemoryMap {
 public:
  MemoryMap(ProgramImage& image, BackgroundWriter& writer);

  // An address as object and offset. at() defines the object in the trace on first use.
  struct Place {
    std::uint32_t object = trace::kNone;
    std::int64_t offset = 0;
    std::int64_t room = 0;  // bytes from this place to the object's end
    std::uint32_t block = 0;
  };
  Place at(std::uint64_t address);
  // The size of the largest naturally aligned word at the address: 1 to kWord bytes, within `bytes` and the object. Everything
  // that the trace places at an address has this size. REQUIRES: at() returned the place.
  static constexpr std::uint64_t kWord = 8;
  [[nodiscard]] static std::uint64_t word_at(std::uint64_t address, const Place& place, std::uint64_t bytes);
  // Whether the place is in an array element, or in one of several blocks that the same source line allocated.
  [[nodiscard]] bool is_one_of_many(const Place& place) const;
  [[nodiscard]] bool is_in_heap(const Place& place) const { return descriptions_[place.block].is_heap; }
  [[nodiscard]] bool is_in_stack(const Place& place) const { return descriptions_[place.block].is_stack; }
  // The name in the source: "table.locks[3].mutex". REQUIRES: at() returned the place.
  [[nodiscard]] std::string place_name(const Place& place) const;
  // The name of a local variable, "main::lock", of a thread that is in these frames. `frames`: outermost first.
  std::string local_name(std::uint64_t address, std::span<const Frame> frames);

  struct BlockKind {
    bool aligned = false;    // the program requested more than the allocator's usual alignment
    bool is_shared = false;  // memory that child processes share
  };
  // Records an allocation. A block allocated again at the same address for the same purpose stays the same object.
  void allocated(std::uint64_t address, std::uint64_t bytes, std::uint64_t element_bytes, BlockKind kind,
                 std::span<const std::uint64_t> frames);
  // Notes that a child process was made, which has the present blocks of shared memory, too.
  void forked() { inherited_ = shared_blocks_.size(); }
  // The names of blocks that child processes share and that were accessed, each once.
  [[nodiscard]] std::vector<std::string> shared_with_children() const;
  // Why debug information that is there does not tell variables and their types; empty if it does, or if there is none.
  [[nodiscard]] std::string why_types_are_missing() const;
  [[nodiscard]] bool has_code_of_llvm() const { return types_.has_code_of_llvm(); }
  // The program asks for pages of `page_bytes` bytes there. Whether the system had any is not known.
  void set_pages(std::uint64_t address, std::uint64_t bytes, std::uint64_t page_bytes);
  // Called when the program gives memory back, which may come again with pages of the usual size.
  void forget_pages(std::uint64_t address, std::uint64_t bytes);
  void add_stack(const std::string& thread, std::uint64_t lowest, std::uint64_t end);
  // Adds the variables of files that the image has loaded since the last call.
  void add_variables();

 private:
  // The part of a block's data that every access reads. It is small, because there may be millions of blocks.
  struct Block {
    std::uint64_t address = 0, bytes = 0;
    std::uint64_t element_bytes = 0;      // if not 0, each element is an object of its own
    std::uint32_t object = trace::kNone;  // the first element's object
    std::uint32_t others = 0;             // with several elements: index of the second one's object in element_objects_
  };
  // The part of a block's data that is read only to define its objects.
  struct Description {
    std::string name;
    std::uint32_t structure = trace::kNone;
    bool is_numbered = false;  // true for "bucket[3]"
    bool is_heap = false;
    bool movable = false;  // see trace::Object::movable
    bool is_stack = false;
    std::uint64_t first_number = 0;
    const Type* type = nullptr;  // the type of an element, or of each part if the block has several
    std::string source{};        // see trace::Object::source
  };
  struct Page {
    std::uint32_t rest = trace::kNone;  // the block for granules without an entry, or for the whole page
    std::unique_ptr<std::array<std::uint32_t, 256>> granules;
  };
  struct Range {
    std::uint64_t end = 0;
    std::uint32_t block = 0;
  };
  struct LargePages {
    std::uint64_t begin = 0, end = 0;
    std::uint64_t page_bytes = 0;
  };
  struct Stack {
    std::string thread;
    std::uint64_t lowest = 0, end = 0;
  };

  std::uint32_t block_at(std::uint64_t address);
  Page& page_at(std::uint64_t address);
  std::uint32_t variable_at(std::uint64_t address) const;
  std::uint32_t unnamed_block(std::uint64_t address);
  std::uint32_t block_of_page(std::uint64_t page);
  bool in_stack(std::uint64_t address, Block& block, Description& description) const;
  // REQUIRES: block.element_bytes > 0.
  std::uint32_t new_block(Block block, Description description);
  std::uint32_t add_block(const Block& block, Description description);
  // Maps the addresses [begin, end) to the block.
  void cover(std::uint32_t block, std::uint64_t begin, std::uint64_t end);
  void cover_part(Page& page, std::uint32_t block, std::uint64_t begin, std::uint64_t end);
  // Like cover(), for whole pages. Pages that are never accessed take no memory.
  void cover_pages(std::uint32_t block, std::uint64_t first, std::uint64_t end);
  void cover_range(std::uint32_t block, std::uint64_t begin, std::uint64_t end);
  // The block whose range contains the address; kNone if none does.
  std::uint32_t range_at(std::uint64_t address) const;

  // Returns false if this source line has allocated blocks of so many sizes that none is typical.
  bool is_usual_size(const AllocationSite& site, std::uint64_t bytes);
  // Returns the block that was at this address before, if it counts as the same object; else makes a new one.
  std::uint32_t heap_block(std::uint64_t address, std::uint64_t bytes, std::uint64_t element_bytes, bool movable,
                           const AllocationSite& site);
  void cover_buffers(std::uint64_t address, std::uint64_t bytes, bool is_shared, const AllocationSite& site);
  void note_shared(std::uint32_t block);
  std::uint32_t new_heap_block(Block block, std::uint64_t element_bytes, const AllocationSite& site);
  void shape(Description& description, const Type& type, const std::string& structure_name);
  void add_variables_in(Dwarf_Die& scope, std::uint64_t bias, const std::string& prefix);
  void add_variable(Dwarf_Die& variable, std::uint64_t bias, const std::string& prefix);
  std::uint32_t structure(trace::Structure made);
  [[nodiscard]] std::uint64_t page_bytes_at(std::uint64_t address) const;
  std::uint32_t define_object(std::uint32_t block, std::uint64_t element);

  ProgramImage* image_;
  BackgroundWriter* writer_;
  Types types_;
  AllocationSites sites_;
  std::size_t units_read_ = 0;  // of the image's units
  std::vector<Block> blocks_;
  std::vector<Description> descriptions_;  // of them
  std::vector<std::uint32_t> element_objects_;
  std::unordered_map<std::uint64_t, Page> pages_;  // by address / 4096
  static constexpr std::size_t kRecentPages = 1024;
  std::array<std::pair<std::uint64_t, Page*>, kRecentPages> recent_pages_{};
  std::map<std::uint64_t, Range> ranges_;             // large blocks, by the address of their first page
  std::map<std::uint64_t, std::uint32_t> variables_;  // by address
  std::vector<Stack> stacks_;
  std::vector<LargePages> large_pages_;  // the latest last
  std::map<std::tuple<std::uint64_t, std::uint64_t, const AllocationSite*>, std::uint32_t> known_blocks_;
  std::map<std::pair<std::string, std::int64_t>, std::uint32_t> structures_;
  std::map<std::string, std::uint64_t> numbers_;  // number of blocks that have had each name
  // The first distinct block sizes of each allocation site.
  std::map<const AllocationSite*, std::vector<std::uint64_t>> sizes_;
  std::vector<std::uint32_t> shared_blocks_;  // in the order of their allocation
  std::size_t inherited_ = 0;                 // how many of them the latest child process has
};

}  // namespace linebounce::record
