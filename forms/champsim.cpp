// Reads ChampSim's traces. Each instruction is a little-endian record of 64 bytes: its address (8 bytes), two bytes about
// branches, six bytes of registers, the addresses that it writes (2 x 8 bytes), and the addresses that it reads (4 x 8
// bytes). An address of 0 means that there is none.
#include <fmt/format.h>

#include <array>
#include <optional>

#include "forms/address_objects.hpp"
#include "forms/forms.hpp"
#include "forms/line_file.hpp"

namespace linebounce::sim {
namespace {

constexpr std::size_t kRecord = 64;
constexpr std::size_t kWritten = 16, kWrites = 2;
constexpr std::size_t kRead = 32, kReads = 4;
constexpr std::uint64_t kChampsimWord = 8;  // size of an access in bytes; the format has none

using Record = std::array<unsigned char, kRecord>;

std::uint64_t word_at(const Record& record, std::size_t offset) {
  std::uint64_t word = 0;
  for (std::size_t i = 8; i-- > 0;) word = word << 8 | record.at(offset + i);
  return word;
}

void read_champsim(const std::filesystem::path& file, std::uint32_t stream, AddressObjects& objects, trace::Writer& out) {
  std::ifstream in = open_input(file);
  FetchedInstructions fetched(out, stream);
  const auto access = [&](trace::Kind kind, std::uint64_t address) {
    if (address == 0) return;
    fetched.access();
    objects.access(stream, kind, address - address % kChampsimWord, kChampsimWord);
  };
  Record record{};
  std::uint64_t number = 0;
  while (in.read(reinterpret_cast<char*>(record.data()), kRecord)) {
    ++number;
    fetched.fetch();
    for (std::size_t i = 0; i < kReads; ++i) access(trace::Kind::load, word_at(record, kRead + 8 * i));
    for (std::size_t i = 0; i < kWrites; ++i) access(trace::Kind::store, word_at(record, kWritten + 8 * i));
  }
  if (in.gcount() != 0)
    throw trace::TraceError(fmt::format("{}: record {}: only {} of its {} bytes are there: no ChampSim trace, or cut short",
                                        file.string(), number + 1, in.gcount(), kRecord));
  fetched.finish();
}

Losses convert_champsim(const std::vector<std::filesystem::path>& files, trace::Writer& out) {
  AddressObjects objects(out, AddressObjects::Addresses::of_virtual_pages);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const bool alone = files.size() == 1;
    const std::string name = alone ? "thread" : fmt::format("cpu/{}", i);
    read_champsim(files[i], out.define(trace::Stream{name, alone ? -1 : static_cast<int>(i), -1, false}), objects, out);
  }
  Losses losses;
  losses.add(files.size() == 1 ? Loss::one_thread : Loss::no_order, "ChampSim");
  losses.add(Loss::no_locks, "ChampSim");
  losses.add(Loss::no_atomics, "ChampSim");
  losses.add(Loss::no_sizes, "ChampSim", std::to_string(kChampsimWord));
  losses.add(Loss::no_names, "ChampSim");
  losses.add(Loss::frames_unknown, "ChampSim");
  return losses;
}

// Accepts files whose records are all plausible: the two bytes about branches are 0 or 1, only branches are taken, and the
// instruction has an address.
Likeness champsim_likeness(const Excerpt& excerpt) {
  constexpr std::size_t kIsBranch = 8, kIsTaken = 9;
  const std::string_view bytes = excerpt.bytes;
  if (excerpt.is_text || bytes.size() < kRecord || (excerpt.whole && bytes.size() % kRecord != 0)) return {};
  for (std::size_t at = 0; at + kRecord <= bytes.size(); at += kRecord) {
    const auto is_branch = static_cast<unsigned char>(bytes[at + kIsBranch]);
    const auto is_taken = static_cast<unsigned char>(bytes[at + kIsTaken]);
    const bool has_address = bytes.substr(at, 8).find_first_not_of('\0') != std::string_view::npos;
    if (is_branch > 1 || is_taken > is_branch || !has_address) return {};
  }
  return {Likeness::Sure::possible, "its bytes about branches are 0 or 1 in each of its first records of 64 bytes"};
}

}  // namespace

Form champsim_form() {
  return {.name = "champsim",
          .what = "ChampSim's trace, not compressed",
          .marks = "records of 64 bytes, an instruction each",
          .likeness = champsim_likeness,
          .convert = convert_champsim,
          .joins_files = true};
}

}  // namespace linebounce::sim
