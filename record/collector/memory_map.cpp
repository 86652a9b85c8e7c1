#include "record/collector/memory_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace linebounce::record {

namespace {

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kGranuleBytes = 16;  // what the C library's blocks are aligned to
constexpr std::uint64_t kStackPart = 65536;
constexpr std::uint32_t kSeveral = trace::kNone - 1;  // variables that share a granule
constexpr std::uint64_t kMostAlignment = 64;

int alignment_of(std::uint64_t address) {
  return static_cast<int>(std::min(address & -address, kMostAlignment));
}

}  // namespace

MemoryMap::MemoryMap(ProgramImage& image, trace::Writer& writer)
    : image_(&image), writer_(&writer), sites_(image, types_) {
  recent_pages_.fill({trace::kNone, nullptr});
  add_variables();
}

MemoryMap::Place MemoryMap::at(std::uint64_t address) {
  Block& block = blocks_[block_at(address)];
  std::uint64_t offset = address - block.address;
  std::uint64_t element = 0;
  std::uint64_t bytes = block.bytes;
  if (block.element_bytes != block.bytes) {
    element = offset / block.element_bytes;
    offset -= element * block.element_bytes;
    bytes = std::min(block.element_bytes, block.bytes - element * block.element_bytes);
  }
  if (block.objects.empty()) block.objects.resize((block.bytes + block.element_bytes - 1) / block.element_bytes, trace::kNone);
  std::uint32_t& object = block.objects[element];
  if (object == trace::kNone) object = define_object(block, element);
  return {.object = object,
          .offset = static_cast<std::int64_t>(offset),
          .room = static_cast<std::int64_t>(bytes - offset),
          .is_one_of_many = block.is_numbered};
}

std::uint32_t MemoryMap::define_object(const Block& block, std::uint64_t element) {
  const std::uint64_t begin = element * block.element_bytes;
  trace::Object object;
  object.name = block.is_numbered ? fmt::format("{}[{}]", block.name, block.first_number + element) : block.name;
  object.structure = block.structure;
  object.size = static_cast<std::int64_t>(std::min(block.element_bytes, block.bytes - begin));
  object.address = block.address + begin;
  object.alignment = alignment_of(*object.address);
  return writer_->define(object);
}

MemoryMap::Page& MemoryMap::page_at(std::uint64_t address) {
  const std::uint64_t number = address / kPageBytes;
  auto& [known, page] = recent_pages_[number % kRecentPages];
  if (known != number || page == nullptr) {
    known = number;
    page = &pages_[number];  // stays where it is
  }
  return *page;
}

std::uint32_t MemoryMap::block_at(std::uint64_t address) {
  const Page& page = page_at(address);
  std::uint32_t found = trace::kNone;
  if (page.granules) found = (*page.granules)[address % kPageBytes / kGranuleBytes];
  if (found == kSeveral) found = variable_at(address);
  if (found == trace::kNone) found = page.rest;
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

bool MemoryMap::in_stack(std::uint64_t address, Block& block) const {
  for (auto stack = stacks_.rbegin(); stack != stacks_.rend(); ++stack) {
    if (address < stack->lowest || address >= stack->end) continue;
    // Counted from where the stack begins, which is its end.
    const std::uint64_t part = (stack->end - 1 - address) / kStackPart;
    const std::uint64_t end = stack->end - part * kStackPart;
    block.address = std::max(stack->lowest, end - kStackPart);
    block.bytes = end - block.address;
    block.name = "stack of " + stack->thread + (part == 0 ? "" : fmt::format(" ({})", part + 1));
    return true;
  }
  return false;
}

// Library's variables, stacks, and by the page what nothing is known about.
std::uint32_t MemoryMap::unnamed_block(std::uint64_t address) {
  const auto known = variable_at(address);
  if (known != trace::kNone) return known;
  Block block;
  if (in_stack(address, block)) {
    block.element_bytes = block.bytes;
    return add_block(std::move(block));
  }
  const NamedMemory symbol = image_->symbol(address);
  if (symbol.bytes > 0) {
    block = {.address = symbol.address, .bytes = symbol.bytes, .element_bytes = symbol.bytes, .name = symbol.name};
    const std::uint64_t begin = block.address;
    return variables_[begin] = add_block(std::move(block));
  }
  const std::uint64_t page = address / kPageBytes * kPageBytes;
  const auto of_page = known_blocks_.find({page, 0, nullptr});
  if (of_page != known_blocks_.end()) return of_page->second;
  std::string name = image_->file_name(address);
  if (name.empty()) name = "memory";
  block = {.address = page, .bytes = kPageBytes, .element_bytes = kPageBytes, .name = name, .is_numbered = true};
  block.first_number = numbers_[name]++;
  blocks_.push_back(std::move(block));
  const auto added = static_cast<std::uint32_t>(blocks_.size() - 1);
  known_blocks_[{page, 0, nullptr}] = added;
  Page& here = page_at(page);
  if (here.rest == trace::kNone) here.rest = added;
  return added;
}

std::uint32_t MemoryMap::add_block(Block block) {
  blocks_.push_back(std::move(block));
  const auto added = static_cast<std::uint32_t>(blocks_.size() - 1);
  cover(added);
  return added;
}

void MemoryMap::cover(std::uint32_t block) {
  const std::uint64_t end = blocks_[block].address + blocks_[block].bytes;
  for (std::uint64_t begin = blocks_[block].address; begin < end;) {
    const std::uint64_t page = begin / kPageBytes * kPageBytes;
    const std::uint64_t until = std::min(end, page + kPageBytes);
    cover_part(page_at(page), block, begin, until);
    begin = until;
  }
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
    // Allocated blocks have their granules for themselves; variables may share one.
    place = blocks_[block].is_heap || place == trace::kNone ? block : kSeveral;
  }
}

void MemoryMap::add_stack(const std::string& thread, std::uint64_t lowest, std::uint64_t end) {
  if (end <= lowest) return;
  // A stack that had another thread before keeps its name: it is the same memory.
  const bool is_known = std::any_of(stacks_.begin(), stacks_.end(),
                                    [&](const Stack& stack) { return stack.lowest == lowest && stack.end == end; });
  if (!is_known) stacks_.push_back({.thread = thread, .lowest = lowest, .end = end});
}

std::uint32_t MemoryMap::structure(const std::string& name, std::int64_t bytes, int alignment,
                                   std::vector<trace::Field> fields) {
  const auto [entry, is_new] = structures_.try_emplace({name, bytes}, 0);
  if (!is_new) return entry->second;
  trace::Structure made;
  made.name = name;
  made.size = bytes;
  made.alignment = alignment;
  made.fields = std::move(fields);
  const auto same_name = structures_.lower_bound({name, 0});
  const bool is_only = std::next(same_name) == structures_.end() || std::next(same_name)->first.first != name;
  if (!is_only) made.name += fmt::format(" ({} bytes)", bytes);
  return entry->second = writer_->define(made);
}

}  // namespace linebounce::record
