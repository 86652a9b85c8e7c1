#include "forms/address_objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace linebounce::sim {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kLargestPiece = 8;

// Returns the largest size in bytes of an aligned access at this address that is at most `bytes`.
std::uint64_t piece_at(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t aligned = std::uint64_t{1} << std::min(std::countr_zero(address), std::countr_zero(kLargestPiece));
  return std::min(aligned, std::bit_floor(bytes));
}

}  // namespace

void AddressObjects::access(std::uint32_t stream, trace::Kind kind, std::uint64_t address, std::uint64_t bytes) {
  for (std::uint16_t flags = 0; bytes > 0; flags = trace::kPart) {
    const std::uint64_t piece = piece_at(address, bytes);
    const std::uint64_t in_page = std::min(bytes, kPage - address % kPage);
    const std::uint64_t count = piece == kLargestPiece && flags != 0 ? in_page / piece : 1;
    pieces(stream, kind, address, piece, count, flags);
    address += piece * count;
    bytes -= piece * count;
  }
}

void AddressObjects::prefetch(std::uint32_t stream, std::uint64_t address, std::uint16_t flags) {
  out_->append(stream, {trace::Kind::prefetch, 1, flags, page(address / kPage), address % kPage});
}

void AddressObjects::pieces(std::uint32_t stream, trace::Kind kind, std::uint64_t address, std::uint64_t bytes,
                            std::uint64_t count, std::uint16_t flags) {
  trace::Operation operation;
  operation.kind = kind;
  operation.bytes = static_cast<std::uint8_t>(bytes);
  operation.flags = static_cast<std::uint16_t>(flags | (count - 1) << trace::kRepeatShift);
  operation.id = page(address / kPage);
  operation.argument = address % kPage;
  out_->append(stream, operation);
}

std::uint32_t AddressObjects::page(std::uint64_t number) {
  if (number == last_number_) return last_id_;
  const auto [found, is_new] = pages_.try_emplace(number, 0);
  if (is_new) {
    trace::Object object;
    object.name = fmt::format("page_{:x}", number);
    object.size = kPage;
    object.alignment = kPage;
    object.address = number * kPage;
    if (addresses_ == Addresses::of_virtual_pages) object.page_bytes = static_cast<int>(kPage);
    found->second = out_->define(object);
  }
  last_number_ = number;
  return last_id_ = found->second;
}

void FetchedInstructions::access() {
  if (fetched_ > 0) execute(fetched_ - 1);
  any_ = any_ || fetched_ > 0;
  fetched_ = 0;
}

void FetchedInstructions::execute(std::uint64_t instructions) {
  if (instructions == 0) return;
  any_ = true;
  trace::Operation operation;
  operation.kind = trace::Kind::execute;
  operation.argument = instructions;
  out_->append(stream_, operation);
}

}  // namespace linebounce::sim
