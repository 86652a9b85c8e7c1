// ChampSim's traces: a record of 64 bytes for each instruction, little endian. Behind the instruction's address (8 bytes), two
// bytes about branches and six of registers stand the addresses that it writes (2 x 8 bytes) and reads (4 x 8 bytes); 0: none.
#include <fmt/format.h>

#include <array>

#include "sim/sources/address_objects.hpp"
#include "sim/sources/formats.hpp"
#include "sim/sources/line_file.hpp"

namespace linebounce::sim {
namespace {

constexpr std::size_t kRecord = 64;
constexpr std::size_t kWritten = 16, kWrites = 2;
constexpr std::size_t kRead = 32, kReads = 4;
constexpr std::uint64_t kChampsimWord = 8;  // the format says no sizes

using Record = std::array<unsigned char, kRecord>;

std::uint64_t word_at(const Record& record, std::size_t offset) {
  std::uint64_t word = 0;
  for (std::size_t i = 8; i-- > 0;) word = word << 8 | record.at(offset + i);
  return word;
}

}  // namespace

std::vector<std::string> convert_champsim(const std::filesystem::path& file, trace::Writer& out) {
  std::ifstream in = open_input(file);
  const std::uint32_t stream = out.define(trace::Stream{"thread", -1, -1, false});
  AddressObjects objects(out);
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
  return {
      "A ChampSim trace is one thread's.",
      "ChampSim knows no locks, no atomic operations and no order between threads.",
      "ChampSim does not say how large an access is: each is one of 8 bytes.",
      "ChampSim has no names: objects are pages of 4 KiB, and there are no functions.",
  };
}

}  // namespace linebounce::sim
