// Dinero's din format: a line for each access, "LABEL ADDRESS" in hexadecimal; what follows on a line is a comment. As
// described for its users, University of Surrey, CS250: "Dinero File Format".
#include "sim/sources/address_objects.hpp"
#include "sim/sources/formats.hpp"
#include "sim/sources/line_file.hpp"

namespace linebounce::sim {
namespace {

// What an address refers to on Dinero's own machines, a word, for the format does not say.
constexpr std::uint64_t kDineroWord = 4;

class Dinero {
 public:
  Dinero(const std::filesystem::path& file, trace::Writer& out)
      : in_(file), stream_(out.define(trace::Stream{"thread", -1, -1, false})), objects_(out), fetched_(out, stream_) {}

  std::vector<std::string> convert() {
    while (const auto line = in_.next()) {
      std::string_view rest = *line;
      const std::string_view label = take_word(rest);
      if (!label.empty()) record(label, take_word(rest));
    }
    fetched_.finish();
    return missing();
  }

 private:
  void record(std::string_view label, std::string_view address_text) {
    const auto address = hexadecimal(address_text);
    if (!address) in_.refuse("expected a label and a hexadecimal address");
    if (label == "0") {
      data(trace::Kind::load, *address);
    } else if (label == "1") {
      data(trace::Kind::store, *address);
    } else if (label == "2") {
      fetched_.fetch();
    } else if (label != "3" && label != "4") {  // escapes: of no kind, and to flush the cache
      in_.refuse("the label is none of 0 (read), 1 (write), 2 (instruction), 3 and 4 (escapes)");
    }
  }

  void data(trace::Kind kind, std::uint64_t address) {
    fetched_.access();
    objects_.access(stream_, kind, address - address % kDineroWord, kDineroWord);
  }

  [[nodiscard]] std::vector<std::string> missing() const {
    std::vector<std::string> sentences = {
        "Dinero does not tell threads apart: all accesses are one thread's.",
        "Dinero knows no locks, no atomic operations and no order between threads.",
        "Dinero does not say how large an access is: each is one of 4 bytes.",
        "Dinero has no names: objects are pages of 4 KiB, and there are no functions.",
    };
    if (!fetched_.any()) sentences.emplace_back("There are no instructions in it: nothing but accesses takes time.");
    return sentences;
  }

  LineFile in_;
  std::uint32_t stream_;
  AddressObjects objects_;
  FetchedInstructions fetched_;
};

}  // namespace

std::vector<std::string> convert_dinero(const std::filesystem::path& file, trace::Writer& out) {
  return Dinero(file, out).convert();
}

}  // namespace linebounce::sim
