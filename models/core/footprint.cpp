#include "models/core/footprint.hpp"

#include <algorithm>
#include <limits>

namespace linebounce {
namespace {

constexpr std::uint64_t kNoNumber = std::numeric_limits<std::uint64_t>::max();
constexpr std::int64_t kKib = 1024;

}  // namespace

RecentlyUsed::RecentlyUsed(int entries, int ways) : ways_(ways), sets_(entries / ways), numbers_(entries, kNoNumber) {}

bool RecentlyUsed::use(std::uint64_t number) {
  const std::span set = set_of(number);
  const auto found = std::find(set.begin(), set.end(), number);
  const bool known = found != set.end();
  std::rotate(set.begin(), known ? found : set.end() - 1, known ? found + 1 : set.end());
  set.front() = number;
  return known;
}

void RecentlyUsed::drop(std::uint64_t number) {
  const std::span set = set_of(number);
  const auto found = std::find(set.begin(), set.end(), number);
  if (found == set.end()) return;
  *found = kNoNumber;
  std::rotate(found, found + 1, set.end());  // moves the empty way to the end, where the next miss fills it
}

void RecentlyUsed::drop_all() {
  std::fill(numbers_.begin(), numbers_.end(), kNoNumber);
}

Footprint::Footprint(const FootprintSpec& spec, Tick cycle, int threads)
    : spec_(spec),
      page_miss_(spec.tlb_miss_cycles * cycle),
      code_miss_(spec.code_miss_cycles * cycle),
      pages_(spec.tlb_entries, spec.tlb_ways),
      lines_(static_cast<int>(spec.code_cache_kib * kKib / spec.code_line_bytes), spec.code_cache_ways),
      position_(threads) {
  set_functions(1, {});
}

void Footprint::set_functions(std::size_t count, std::span<const FunctionId> user) {
  const auto lines_of = [this](std::int64_t bytes) { return (bytes + spec_.code_line_bytes - 1) / spec_.code_line_bytes; };
  code_.assign(count, {.lines = lines_of(spec_.kernel_function_bytes)});
  for (const FunctionId function : user) code_[function].lines = lines_of(spec_.user_code_kib * kKib);
  std::uint64_t next = 0;
  for (Code& code : code_) {
    code.first_line = next;
    next += static_cast<std::uint64_t>(code.lines);
  }
  for (auto& of_thread : position_) of_thread.assign(count, 0);
}

void Footprint::enter(int thread, FunctionId function) {
  position_[thread][function] = 0;
}

Tick Footprint::translate(Address address, FootprintMisses& misses) {
  if (spec_.tlb_entries == 0 || pages_.use(address / static_cast<Address>(spec_.tlb_page_kib * kKib))) return 0;
  ++misses.pages;
  return page_miss_;
}

void Footprint::drop_pages(Address first, std::int64_t pages) {
  if (spec_.tlb_entries == 0) return;
  const std::uint64_t page = first / static_cast<Address>(spec_.tlb_page_kib * kKib);
  for (std::int64_t i = 0; i < pages; ++i) pages_.drop(page + static_cast<std::uint64_t>(i));
}

Tick Footprint::fetch(int thread, FunctionId function, std::int64_t instructions, FootprintMisses& misses) {
  if (spec_.code_cache_kib == 0 || instructions == 0) return 0;
  const Code& code = code_[function];
  const std::int64_t size = code.lines * spec_.code_line_bytes;
  std::int64_t& position = position_[thread][function];
  const std::int64_t end = position + instructions * spec_.bytes_per_instruction;
  const std::int64_t first = position / spec_.code_line_bytes;
  const std::int64_t behind = std::min((end + spec_.code_line_bytes - 1) / spec_.code_line_bytes, first + code.lines);
  std::int64_t missing = 0;
  for (std::int64_t line = first; line < behind; ++line) {
    if (!lines_.use(code.first_line + static_cast<std::uint64_t>(line % code.lines))) ++missing;
  }
  position = end % size;
  misses.code_lines += missing;
  return missing * code_miss_;
}

}  // namespace linebounce
