#include "record/collector/memory_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "types/type_fields.hpp"

namespace linebounce::record {
namespace {

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kGranuleBytes = 16;  // the alignment of the C library's blocks
constexpr std::uint64_t kStackPart = 65536;
constexpr std::uint64_t kRangeBytes = std::uint64_t{1} << 20;  // smaller blocks are recorded by page
constexpr std::uint32_t kSeveral = trace::kNone - 1;           // marks a granule that contains parts of several variables
constexpr std::uint64_t kMostAlignment = 64;

int alignment_of(std::uint64_t address) {
  return static_cast<int>(std::min(address & -address, kMostAlignment));
}

}  // namespace

MemoryMap::MemoryMap(ProgramImage& image, BackgroundWriter& writer) : image_(&image), writer_(&writer), sites_(image, types_) {
  recent_pages_.fill({trace::kNone, nullptr});
  add_variables();
}

MemoryMap::Place MemoryMap::at(std::uint64_t address) {
  const std::uint32_t number = block_at(address);
  Block& block = blocks_[number];
  std::uint64_t offset = address - block.address;
  std::uint64_t element = 0;
  std::uint64_t bytes = block.bytes;
  std::uint32_t* object = &block.object;
  if (block.element_bytes < block.bytes) {
    element = offset / block.element_bytes;
    offset -= element * block.element_bytes;
    bytes = std::min(block.element_bytes, block.bytes - element * block.element_bytes);
    object = &element_objects_[block.others + element];
  }
  if (*object == trace::kNone) *object = define_object(number, element);
  return {.object = *object,
          .offset = static_cast<std::int64_t>(offset),
          .room = static_cast<std::int64_t>(bytes - offset),
          .block = number};
}

std::uint64_t MemoryMap::word_at(std::uint64_t address, const Place& place, std::uint64_t bytes) {
  const auto most = std::min({bytes, static_cast<std::uint64_t>(place.room), kWord});
  const std::uint64_t aligned = address | static_cast<std::uint64_t>(place.offset) | kWord;
  return std::min(std::bit_floor(most), aligned & -aligned);
}

bool MemoryMap::is_one_of_many(const Place& place) const {
  return descriptions_[place.block].is_numbered;
}

std::string MemoryMap::place_name(const Place& place) const {
  const trace::Symbols& symbols = writer_->symbols();
  const trace::Object& object = symbols.objects[place.object];
  const Type* type = descriptions_[place.block].type;
  const bool is_array = type != nullptr && object.size % type->size == 0 && object.size > type->size;
  if (is_array) {
    return object.name + fmt::format("[{}]", place.offset / type->size) + types::path_in(*type, place.offset % type->size);
  }
  if (type != nullptr && place.offset < type->size) return object.name + types::path_in(*type, place.offset);
  return place.offset == 0 ? object.name : symbols.place_name(place.object, place.offset);
}

// Only whole pages are large.
void MemoryMap::set_pages(std::uint64_t address, std::uint64_t bytes, std::uint64_t page_bytes) {
  const std::uint64_t begin = (address + page_bytes - 1) / page_bytes * page_bytes;
  const std::uint64_t end = (address + bytes) / page_bytes * page_bytes;
  if (begin < end) large_pages_.push_back({.begin = begin, .end = end, .page_bytes = page_bytes});
}

void MemoryMap::forget_pages(std::uint64_t address, std::uint64_t bytes) {
  std::erase_if(large_pages_, [=](const LargePages& pages) { return address <= pages.begin && pages.end <= address + bytes; });
}

std::uint64_t MemoryMap::page_bytes_at(std::uint64_t address) const {
  const auto last = std::ranges::find_if(large_pages_.rbegin(), large_pages_.rend(), [=](const LargePages& pages) {
    return pages.begin <= address && address < pages.end;
  });
  return last == large_pages_.rend() ? kPageBytes : last->page_bytes;
}

std::uint32_t MemoryMap::define_object(std::uint32_t number, std::uint64_t element) {
  const Block& block = blocks_[number];
  const Description& description = descriptions_[number];
  const std::uint64_t begin = element * block.element_bytes;
  trace::Object object;
  object.name = description.name;
  if (description.is_numbered) object.name += fmt::format("[{}]", description.first_number + element);
  object.structure = description.structure;
  object.size = static_cast<std::int64_t>(std::min(block.element_bytes, block.bytes - begin));
  object.address = block.address + begin;
  object.page_bytes = static_cast<int>(page_bytes_at(*object.address));
  object.alignment = alignment_of(*object.address);
  object.movable = description.movable;
  object.source = description.source;
  return writer_->define(object);
}

MemoryMap::Page& MemoryMap::page_at(std::uint64_t address) {
  const std::uint64_t number = address / kPageBytes;
  auto& [known, page] = recent_pages_[number % kRecentPages];
  if (known != number || page == nullptr) {
    known = number;
    page = &pages_[number];  // elements of the map keep their addresses
  }
  return *page;
}

std::uint32_t MemoryMap::block_at(std::uint64_t address) {
  Page& page = page_at(address);
  std::uint32_t found = trace::kNone;
  if (page.granules) found = (*page.granules)[address % kPageBytes / kGranuleBytes];
  if (found == kSeveral) found = variable_at(address);
  if (found == trace::kNone) {
    if (page.rest == trace::kNone) page.rest = range_at(address);
    found = page.rest;
  }
  if (found != trace::kNone) {
    const Block& block = blocks_[found];
    if (address - block.address < block.bytes) return found;
  }
  return unnamed_block(address);
}

std::uint32_t MemoryMap::variable_at(std::uint64_t address) const {
  auto next = variables_.upper_bound(address);
  if (next == variables_.begin()) return trace::kNone;
  const std::uint32_t found = std::prev(next)->second;
  return address - blocks_[found].address < blocks_[found].bytes ? found : trace::kNone;
}

bool MemoryMap::in_stack(std::uint64_t address, Block& block, Description& description) const {
  for (auto stack = stacks_.rbegin(); stack != stacks_.rend(); ++stack) {
    if (address < stack->lowest || address >= stack->end) continue;
    // Parts are counted from the stack's highest address, where it begins.
    const std::uint64_t part = (stack->end - 1 - address) / kStackPart;
    const std::uint64_t end = stack->end - part * kStackPart;
    block.address = std::max(stack->lowest, end - kStackPart);
    block.bytes = end - block.address;
    block.element_bytes = block.bytes;
    description.is_stack = true;
    description.name = "stack of " + stack->thread + (part == 0 ? "" : fmt::format(" ({})", part + 1));
    return true;
  }
  return false;
}

// Finds the block for an address outside all known variables and heap blocks: a library's variable, a stack, or a page of
// unknown use.
std::uint32_t MemoryMap::unnamed_block(std::uint64_t address) {
  const auto known = variable_at(address);
  if (known != trace::kNone) return known;
  Block block;
  Description description;
  if (in_stack(address, block, description)) return add_block(block, std::move(description));
  NamedMemory symbol = image_->symbol(address);
  if (symbol.bytes > 0) {
    block = {.address = symbol.address, .bytes = symbol.bytes, .element_bytes = symbol.bytes};
    description.name = std::move(symbol.name);
    return variables_[block.address] = add_block(block, std::move(description));
  }
  return block_of_page(address / kPageBytes * kPageBytes);
}

// Returns the same block every time the page is asked for.
std::uint32_t MemoryMap::block_of_page(std::uint64_t page) {
  const auto [known, is_new] = known_blocks_.try_emplace({page, 0, nullptr}, trace::kNone);
  if (!is_new) return known->second;
  Description description;
  description.name = image_->file_name(page);
  if (description.name.empty()) description.name = "memory";
  description.is_numbered = true;
  description.first_number = numbers_[description.name]++;
  known->second = new_block({.address = page, .bytes = kPageBytes, .element_bytes = kPageBytes}, std::move(description));
  Page& here = page_at(page);
  if (here.rest == trace::kNone) here.rest = known->second;
  return known->second;
}

std::uint32_t MemoryMap::new_block(Block block, Description description) {
  if (block.element_bytes < block.bytes) {
    block.others = static_cast<std::uint32_t>(element_objects_.size());
    const std::uint64_t elements = (block.bytes + block.element_bytes - 1) / block.element_bytes;
    element_objects_.resize(element_objects_.size() + elements, trace::kNone);
  }
  blocks_.push_back(block);
  descriptions_.push_back(std::move(description));
  return static_cast<std::uint32_t>(blocks_.size() - 1);
}

std::uint32_t MemoryMap::add_block(const Block& block, Description description) {
  const std::uint32_t added = new_block(block, std::move(description));
  cover(added, block.address, block.address + block.bytes);
  return added;
}

void MemoryMap::cover(std::uint32_t block, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t first_page = (begin + kPageBytes - 1) / kPageBytes * kPageBytes;
  const std::uint64_t end_page = end / kPageBytes * kPageBytes;
  if (first_page > end_page) return cover_part(page_at(begin), block, begin, end);
  if (begin < first_page) cover_part(page_at(begin), block, begin, first_page);
  cover_pages(block, first_page, end_page);
  if (end_page < end) cover_part(page_at(end_page), block, end_page, end);
}

void MemoryMap::cover_pages(std::uint32_t block, std::uint64_t first, std::uint64_t end) {
  if (end - first < kRangeBytes) {
    for (; first < end; first += kPageBytes) cover_part(page_at(first), block, first, first + kPageBytes);
    return;
  }
  cover_range(block, first, end);
  // Clears entries of earlier blocks, so that the range is found. Loops over whichever is shorter, the known pages or the
  // range.
  if ((end - first) / kPageBytes > pages_.size()) {
    for (auto& [number, page] : pages_) {
      if (number >= first / kPageBytes && number < end / kPageBytes) page = Page();
    }
  } else {
    for (; first < end; first += kPageBytes) {
      if (const auto known = pages_.find(first / kPageBytes); known != pages_.end()) known->second = Page();
    }
  }
}

// Cuts older ranges where the new one overlaps them, and keeps the rest.
void MemoryMap::cover_range(std::uint32_t block, std::uint64_t begin, std::uint64_t end) {
  auto next = ranges_.lower_bound(begin);
  if (next != ranges_.begin()) {
    Range& before = std::prev(next)->second;
    if (before.end > end) ranges_.emplace(end, before);
    before.end = std::min(before.end, begin);
  }
  while (next != ranges_.end() && next->first < end) {
    if (next->second.end > end) ranges_.emplace(end, next->second);
    next = ranges_.erase(next);
  }
  ranges_[begin] = {.end = end, .block = block};
}

std::uint32_t MemoryMap::range_at(std::uint64_t address) const {
  const auto next = ranges_.upper_bound(address);
  if (next == ranges_.begin()) return trace::kNone;
  const Range& range = std::prev(next)->second;
  return address < range.end ? range.block : trace::kNone;
}

void MemoryMap::cover_part(Page& page, std::uint32_t block, std::uint64_t begin, std::uint64_t end) {
  if (end - begin == kPageBytes) {
    page.rest = block;
    page.granules.reset();
    return;
  }
  if (!page.granules) {
    page.granules = std::make_unique<std::array<std::uint32_t, 256>>();
    page.granules->fill(trace::kNone);
  }
  const std::uint64_t first = begin % kPageBytes / kGranuleBytes;
  const std::uint64_t last = (end - 1) % kPageBytes / kGranuleBytes;
  for (std::uint64_t granule = first; granule <= last; ++granule) {
    std::uint32_t& place = (*page.granules)[granule];
    // Heap blocks never share a granule, so a new one replaces an old one. Variables may share one.
    place = descriptions_[block].is_heap || place == trace::kNone ? block : kSeveral;
  }
}

void MemoryMap::add_stack(const std::string& thread, std::uint64_t lowest, std::uint64_t end) {
  if (end <= lowest) return;
  // A stack that is reused by another thread keeps its first name, because it is the same memory.
  const bool is_known =
      std::ranges::any_of(stacks_, [&](const Stack& stack) { return stack.lowest == lowest && stack.end == end; });
  if (!is_known) stacks_.push_back({.thread = thread, .lowest = lowest, .end = end});
}

std::uint32_t MemoryMap::structure(trace::Structure made) {
  const std::string name = made.name;
  const auto [entry, is_new] = structures_.try_emplace({name, made.size}, 0);
  if (!is_new) return entry->second;
  const auto same_name = structures_.lower_bound({name, 0});
  const bool is_only = std::next(same_name) == structures_.end() || std::next(same_name)->first.first != name;
  if (!is_only) made.name += fmt::format(" ({} bytes)", made.size);
  return entry->second = writer_->define(made);
}

}  // namespace linebounce::record
