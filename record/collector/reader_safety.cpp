#include "record/collector/reader_safety.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "trace/symbols.hpp"

namespace linebounce::record {
namespace {

constexpr std::uint64_t kPointerBytes = 8;
constexpr std::uint64_t kSmallestBlock = 16;  // malloc's
// A lock whose critical sections access more words than this gets no verdict.
constexpr std::size_t kMostWords = 1 << 18;

}  // namespace

ReaderSafety::Sections& ReaderSafety::sections(std::uint32_t lock) {
  if (lock >= sections_.size()) sections_.resize(lock + 1);
  return sections_[lock];
}

void ReaderSafety::Sections::limit() {
  if (pointers.size() + written.size() + heap.size() <= kMostWords) return;
  found("its sections use more memory than the recorder can follow");
  pointers.clear();
  written.clear();
  heap.clear();
}

void ReaderSafety::read(const Thread& thread, std::uint64_t address, bool is_pointer, bool is_heap, const Name& name) {
  for (const HeldLock& held : thread.held) {
    if (!held.is_shared) continue;
    Sections& lock = sections(held.lock);
    if (lock.is_known()) continue;
    const std::uint64_t word = address / kPointerBytes;
    if (is_pointer && lock.written.contains(word)) {
      lock.found(fmt::format("its readers follow {}, a pointer that writers change", name()));
    } else if (is_pointer && !lock.pointers.contains(word)) {
      lock.pointers.emplace(word, name());
      if (lock.first_pointer.empty()) lock.first_pointer = name();
    }
    if (!is_heap) continue;
    lock.uses_heap = true;
    const auto [part, is_new] = lock.heap.try_emplace(address / kSmallestBlock);
    if (is_new) {
      part->second = {&thread, name()};
    } else if (part->second.reader != &thread) {
      part->second.reader = nullptr;
    }
    lock.limit();
  }
}

void ReaderSafety::written(const Thread& thread, std::uint64_t address, std::uint64_t bytes) {
  for (const HeldLock& held : thread.held) {
    if (held.is_shared || !held.has_readers) continue;
    Sections& lock = sections(held.lock);
    if (lock.is_known()) continue;
    for (std::uint64_t word = address / kPointerBytes; word <= (address + bytes - 1) / kPointerBytes; ++word) {
      lock.written.insert(word);
      if (const auto pointer = lock.pointers.find(word); pointer != lock.pointers.end())
        lock.found(fmt::format("its readers follow {}, a pointer that writers change", pointer->second));
    }
    lock.limit();
  }
}

void ReaderSafety::freed(const Thread& thread, std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t first = address / kSmallestBlock,
                      last = (address + std::max<std::uint64_t>(bytes, 1) - 1) / kSmallestBlock;
  for (Sections& lock : sections_) {
    const auto end = [&](const auto& part) {
      if (part.first < first || part.first > last) return false;
      if (part.second.reader != &thread)
        lock.found(fmt::format("its readers use {}, which is freed while they run", part.second.name));
      return true;  // a heap word: the allocator may reuse its memory for another block
    };
    if (last - first > lock.heap.size()) {
      std::erase_if(lock.heap, end);
      continue;
    }
    for (std::uint64_t at = first; at <= last && !lock.heap.empty(); ++at) {
      if (const auto part = lock.heap.find(at); part != lock.heap.end() && end(*part)) lock.heap.erase(part);
    }
  }
}

std::vector<std::pair<std::uint32_t, std::string>> ReaderSafety::verdicts() const {
  std::vector<std::pair<std::uint32_t, std::string>> all;
  for (std::uint32_t lock = 0; lock < sections_.size(); ++lock) {
    const Sections& it = sections_[lock];
    if (!it.is_shared) continue;
    const bool follows = it.uses_heap && !it.first_pointer.empty();
    all.emplace_back(lock, it.is_known() ? it.hazard
                           : follows     ? trace::kFollowUnchanged + it.first_pointer
                                         : trace::kFollowNothing);
  }
  return all;
}

}  // namespace linebounce::record
