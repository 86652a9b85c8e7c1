// Reads the .trf files of the University of Amsterdam's laboratory on parallel systems (Parallel System Architectures,
// psa.cpp): the letters 4TRF, the number of processors in four bytes, then an entry of eight bytes for each processor in turn.
// Its two highest bits say what it is: nothing, a read, a write, or the processor's end; the others are the address. All
// numbers are big endian.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "forms/address_lines.hpp"
#include "forms/line_file.hpp"
#include "trace/error.hpp"

namespace linebounce::sim {
namespace {

using What = AddressLine::What;

constexpr std::string_view kTrfLetters = "4TRF";
constexpr std::size_t kTrfHead = 8, kTrfEntry = 8;
constexpr int kTrfAddressBits = 62;
constexpr std::uint64_t kMostTrfProcessors = 65536;

enum class TrfKind : std::uint8_t { nothing, read, write, end };

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

class TrfFile {
 public:
  explicit TrfFile(const std::filesystem::path& file, bool counts_nops)
      : name_(file.string()), stream_(open_input(file)), counts_nops_(counts_nops) {
    std::array<char, kTrfHead> head{};
    const std::size_t got = read(head);
    if (got < head.size() || !std::string_view(head.data(), head.size()).starts_with(kTrfLetters))
      refuse("it does not begin with the letters 4TRF and a number of processors");
    const std::uint64_t processors = big_endian(std::string_view(head.data(), head.size()).substr(kTrfLetters.size()));
    if (processors == 0 || processors > kMostTrfProcessors)
      refuse(fmt::format("it is for {} processors; legal: 1 to {}", processors, kMostTrfProcessors));
    ended_.assign(processors, false);
  }

  // The next entry that is not nothing, or that is nothing for a cycle if these count.
  std::optional<AddressLine> next() {
    std::array<char, kTrfEntry> entry{};
    for (std::size_t got = read(entry); got > 0; got = read(entry)) {
      if (got < entry.size())
        refuse(fmt::format("entry {}: only {} of its {} bytes are there: it was cut off", number_ + 1, got, entry.size()));
      const AddressLine line = line_of(big_endian(std::string_view(entry.data(), entry.size())));
      if (line.what != What::nothing) return line;
    }
    return std::nullopt;
  }

  [[nodiscard]] int processors() const { return static_cast<int>(ended_.size()); }
  [[nodiscard]] std::ptrdiff_t without_end() const { return std::ranges::count(ended_, false); }

 private:
  template <std::size_t N>
  std::size_t read(std::array<char, N>& bytes) {
    stream_.read(bytes.data(), N);
    refuse_unreadable(stream_, name_);
    return static_cast<std::size_t>(stream_.gcount());
  }

  AddressLine line_of(std::uint64_t entry) {
    const std::size_t cpu = number_++ % ended_.size();
    const auto kind = static_cast<TrfKind>(entry >> kTrfAddressBits);
    const bool is_access = kind == TrfKind::read || kind == TrfKind::write;
    if (ended_[cpu] && is_access) refuse(fmt::format("entry {}: processor {} reads or writes behind its end", number_, cpu));
    ended_[cpu] = ended_[cpu] || kind == TrfKind::end;
    AddressLine line{.address = entry & ((std::uint64_t{1} << kTrfAddressBits) - 1), .cpu = static_cast<int>(cpu)};
    if (is_access) line.what = kind == TrfKind::read ? What::load : What::store;
    if (kind == TrfKind::nothing && counts_nops_ && !ended_[cpu]) line = {.what = What::compute, .address = 1, .cpu = line.cpu};
    return line;
  }

  [[noreturn]] void refuse(const std::string& text) const { throw trace::TraceError(fmt::format("{}: {}", name_, text)); }

  std::string name_;
  std::ifstream stream_;
  bool counts_nops_;
  std::vector<bool> ended_;   // by processor
  std::uint64_t number_ = 0;  // of the latest entry, from 1
};

constexpr AddressGrammar kTrf{.source = "A .trf trace", .word_bytes = 4, .has_cpus = true};

ConvertTrace convert_trf(bool in_rows) {
  return [in_rows](const std::vector<std::filesystem::path>& files, trace::Writer& out) {
    if (files.size() > 1)
      throw trace::TraceError(fmt::format("{}: a .trf trace has all processors: give one file", files[1].string()));
    AddressGrammar grammar = kTrf;
    grammar.keeps_order = in_rows;
    TrfFile file(files.front(), !in_rows);
    grammar.cpus = file.processors();
    Losses losses = convert_accesses(grammar, out, [&file] { return file.next(); });
    if (file.without_end() > 0)
      losses.add(Loss::cut_off, grammar.source, fmt::format("the end of {} processors", file.without_end()));
    return losses;
  };
}

}  // namespace

Form trf_form() {
  return {.name = "trf",
          .what = ".trf traces, their entries row by row",
          .marks = "the letters 4TRF at its beginning",
          .likeness =
              [](const Excerpt& excerpt) {
                return certain_if(excerpt.bytes.starts_with(kTrfLetters), "it begins with the letters 4TRF");
              },
          .convert = convert_trf(true)};
}

Form trf_timed_form() {
  return {.name = "trf-timed",
          .what = ".trf traces, each processor at its own pace",
          .marks = "as trf; never chosen by itself",
          .likeness = [](const Excerpt&) { return Likeness{}; },
          .convert = convert_trf(false)};
}

}  // namespace linebounce::sim
