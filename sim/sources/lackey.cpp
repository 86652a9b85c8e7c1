// Valgrind's tool Lackey with --trace-mem=yes prints "I  ADDRESS,SIZE" for an instruction, then its loads " L", stores " S" and
// modifications " M", between Valgrind's own lines ("==PID== ...").
#include "sim/sources/address_objects.hpp"
#include "sim/sources/formats.hpp"
#include "sim/sources/line_file.hpp"

namespace linebounce::sim {
namespace {

class Lackey {
 public:
  Lackey(const std::filesystem::path& file, trace::Writer& out)
      : in_(file), stream_(out.define(trace::Stream{"thread", -1, -1, false})), objects_(out), fetched_(out, stream_) {}

  std::vector<std::string> convert() {
    while (const auto line = in_.next()) {
      std::string_view rest = *line;
      const std::string_view kind = take_word(rest);
      if (!kind.empty() && !kind.starts_with("==") && !kind.starts_with("--")) record(kind, rest);
    }
    fetched_.finish();
    return {
        "Lackey does not tell threads apart: all accesses are one thread's.",
        "Lackey knows no locks and no order between threads, and atomic operations are a load and a store.",
        "Lackey has no names: objects are pages of 4 KiB, and there are no functions.",
    };
  }

 private:
  // The largest plausible access: x86's fxsave and xsave.
  static constexpr std::uint64_t kLargest = 4096;

  void record(std::string_view kind, std::string_view place) {
    const std::size_t comma = place.find(',');
    const auto address = hexadecimal(place.substr(0, comma));
    const auto bytes = comma == std::string_view::npos ? std::nullopt : decimal(place.substr(comma + 1));
    if (!address || !bytes || *bytes == 0 || *bytes > kLargest)
      in_.refuse("expected I, L, S or M, a hexadecimal address, a comma and a size");
    if (kind == "I") {
      fetched_.fetch();
      return;
    }
    if (kind != "L" && kind != "S" && kind != "M") in_.refuse("a line is none of I, L, S and M");
    fetched_.access();
    if (kind != "S") objects_.access(stream_, trace::Kind::load, *address, *bytes);
    if (kind != "L") objects_.access(stream_, trace::Kind::store, *address, *bytes);
  }

  LineFile in_;
  std::uint32_t stream_;
  AddressObjects objects_;
  FetchedInstructions fetched_;
};

}  // namespace

std::vector<std::string> convert_lackey(const std::filesystem::path& file, trace::Writer& out) {
  return Lackey(file, out).convert();
}

}  // namespace linebounce::sim
