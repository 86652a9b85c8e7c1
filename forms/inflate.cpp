#include "forms/inflate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <vector>

namespace linebounce::sim {
namespace {

constexpr std::size_t kLongestCode = 15;
constexpr int kByteBits = 8;

[[noreturn]] void refuse_packed(const std::string& why) {
  throw std::runtime_error("a piece packed with zlib is damaged: " + why);
}

// Numbers of bits, the lowest first.
class DeflateBits {
 public:
  explicit DeflateBits(std::string_view bytes) : bytes_(bytes) {}
  std::uint32_t take(int count) {
    while (held_ < count) {
      if (at_ == bytes_.size()) refuse_packed("it ends too early");
      bits_ |= std::uint64_t{static_cast<unsigned char>(bytes_[at_++])} << held_;
      held_ += kByteBits;
    }
    const auto value = static_cast<std::uint32_t>(bits_ & ((std::uint64_t{1} << count) - 1));
    bits_ >>= count;
    held_ -= count;
    return value;
  }
  void skip_to_byte() { take(held_ % kByteBits); }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  std::uint64_t bits_ = 0;
  int held_ = 0;
};

// A prefix code, given by the length of each symbol's code: shorter codes come first, and among equals the smaller symbol.
class PrefixCode {
 public:
  explicit PrefixCode(std::span<const std::uint8_t> lengths) {
    for (const std::uint8_t length : lengths) {
      if (length > 0) ++of_length_.at(length).count;
    }
    std::uint32_t code = 0;
    std::size_t start = 0;
    for (std::size_t length = 1; length <= kLongestCode; ++length) {
      OfLength& row = of_length_.at(length);
      code *= 2;
      row.first_code = code;
      row.start = start;
      code += row.count;
      start += row.count;
      if (code > std::uint32_t{1} << length) refuse_packed("a code has too many words");
    }
    symbols_.resize(start);
    std::array<std::size_t, kLongestCode + 1> next{};
    for (std::size_t length = 1; length <= kLongestCode; ++length) next.at(length) = of_length_.at(length).start;
    for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol) {
      if (lengths[symbol] > 0) symbols_[next.at(lengths[symbol])++] = static_cast<std::uint32_t>(symbol);
    }
  }

  std::uint32_t symbol(DeflateBits& bits) const {
    std::uint32_t code = 0;
    for (std::size_t length = 1; length <= kLongestCode; ++length) {
      code = code * 2 + bits.take(1);
      const OfLength& row = of_length_.at(length);
      if (code >= row.first_code && code - row.first_code < row.count) return symbols_[row.start + code - row.first_code];
    }
    refuse_packed("a word is not in its code");
  }

 private:
  struct OfLength {
    std::uint32_t first_code = 0, count = 0;
    std::size_t start = 0;  // in symbols_
  };
  std::array<OfLength, kLongestCode + 1> of_length_{};
  std::vector<std::uint32_t> symbols_;
};

// The tables of RFC 1951, 3.2.5: what a symbol stands for is its base and a number of further bits.
struct WithBits {
  std::uint16_t base;
  std::uint8_t bits;
};
constexpr std::array<WithBits, 29> kRepeatLengths = {
    {{3, 0},  {4, 0},  {5, 0},  {6, 0},   {7, 0},   {8, 0},   {9, 0},   {10, 0},  {11, 1}, {13, 1},
     {15, 1}, {17, 1}, {19, 2}, {23, 2},  {27, 2},  {31, 2},  {35, 3},  {43, 3},  {51, 3}, {59, 3},
     {67, 4}, {83, 4}, {99, 4}, {115, 4}, {131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0}}};
constexpr std::array<WithBits, 30> kDistances = {
    {{1, 0},    {2, 0},    {3, 0},     {4, 0},     {5, 1},     {7, 1},     {9, 2},     {13, 2},     {17, 3},     {25, 3},
     {33, 4},   {49, 4},   {65, 5},    {97, 5},    {129, 6},   {193, 6},   {257, 7},   {385, 7},    {513, 8},    {769, 8},
     {1025, 9}, {1537, 9}, {2049, 10}, {3073, 10}, {4097, 11}, {6145, 11}, {8193, 12}, {12289, 12}, {16385, 13}, {24577, 13}}};

class Inflater {
 public:
  Inflater(std::string_view packed, std::uint64_t size) : bits_(packed), size_(size) {}

  std::string run() {
    read_head();
    for (bool last = false; !last;) {
      last = bits_.take(1) == 1;
      block(bits_.take(2));
    }
    if (out_.size() != size_) refuse_packed(fmt::format("it has {} bytes and not {}", out_.size(), size_));
    bits_.skip_to_byte();
    std::uint32_t stated = 0;
    for (std::size_t i = 0; i < sizeof stated; ++i) stated = stated << kByteBits | bits_.take(kByteBits);
    if (stated != checksum()) refuse_packed("its checksum differs");
    return std::move(out_);
  }

 private:
  static constexpr std::uint32_t kEndOfBlock = 256;

  void read_head() {
    constexpr std::uint32_t kDeflate = 8, kDictionary = 0x20, kCheck = 31;
    const std::uint32_t method = bits_.take(kByteBits), flags = bits_.take(kByteBits);
    if (method % 16 != kDeflate || (method << kByteBits | flags) % kCheck != 0)
      refuse_packed("it does not begin as such a piece");
    if ((flags & kDictionary) != 0) refuse_packed("it needs a dictionary");
  }

  void block(std::uint32_t kind) {
    if (kind == 0) return stored();
    if (kind == 1) return compressed(fixed_lengths(), PrefixCode(kFixedDistances));
    if (kind == 2) return with_own_codes();
    refuse_packed("a block is of no known kind");
  }

  void stored() {
    constexpr int kLengthBits = 16;
    constexpr std::uint32_t kAllOnes = 0xffff;
    bits_.skip_to_byte();
    const std::uint32_t length = bits_.take(kLengthBits), inverted = bits_.take(kLengthBits);
    if (length != (inverted ^ kAllOnes)) refuse_packed("a block's length differs from its inverse");
    for (std::uint32_t i = 0; i < length; ++i) put(static_cast<char>(bits_.take(kByteBits)));
  }

  static PrefixCode fixed_lengths() {
    constexpr std::size_t kSymbols = 288, kNines = 144, kSevens = 256, kEights = 280;
    std::array<std::uint8_t, kSymbols> lengths{};
    for (std::size_t i = 0; i < lengths.size(); ++i) lengths.at(i) = i < kNines ? 8 : i < kSevens ? 9 : i < kEights ? 7 : 8;
    return PrefixCode(lengths);
  }

  void with_own_codes() {
    constexpr std::array<std::size_t, 19> kOrder = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    constexpr int kCountBits = 5, kLengthsBits = 4, kOneLength = 3;
    constexpr std::size_t kFewestSymbols = 257, kFewestLengths = 4;
    const std::size_t symbols = bits_.take(kCountBits) + kFewestSymbols, distances = bits_.take(kCountBits) + 1;
    const std::size_t coded = bits_.take(kLengthsBits) + kFewestLengths;
    std::array<std::uint8_t, kOrder.size()> of_lengths{};
    for (std::size_t i = 0; i < coded; ++i) of_lengths.at(kOrder.at(i)) = static_cast<std::uint8_t>(bits_.take(kOneLength));
    const std::vector<std::uint8_t> lengths = code_lengths(PrefixCode(of_lengths), symbols + distances);
    compressed(PrefixCode(std::span(lengths).first(symbols)), PrefixCode(std::span(lengths).subspan(symbols)));
  }

  // Symbols above 15 repeat: 16 the length before, 17 and 18 the length 0.
  std::vector<std::uint8_t> code_lengths(const PrefixCode& code, std::size_t count) {
    constexpr std::array<WithBits, 3> kRepeats = {{{3, 2}, {3, 3}, {11, 7}}};
    std::vector<std::uint8_t> lengths;
    while (lengths.size() < count) {
      const std::uint32_t symbol = code.symbol(bits_);
      if (symbol <= kLongestCode) {
        lengths.push_back(static_cast<std::uint8_t>(symbol));
        continue;
      }
      const WithBits& repeat = kRepeats.at(symbol - kLongestCode - 1);
      const bool of_before = &repeat == kRepeats.data();
      if (of_before && lengths.empty()) refuse_packed("the first length repeats none");
      const std::uint8_t length = of_before ? lengths.back() : 0;
      lengths.insert(lengths.end(), repeat.base + bits_.take(repeat.bits), length);
    }
    if (lengths.size() > count) refuse_packed("there are too many lengths of codes");
    return lengths;
  }

  void compressed(const PrefixCode& symbols, const PrefixCode& distances) {
    for (std::uint32_t symbol = symbols.symbol(bits_); symbol != kEndOfBlock; symbol = symbols.symbol(bits_)) {
      if (symbol < kEndOfBlock) {
        put(static_cast<char>(symbol));
        continue;
      }
      const std::size_t length = value_of(kRepeatLengths, symbol - kEndOfBlock - 1);
      const std::size_t distance = value_of(kDistances, distances.symbol(bits_));
      if (distance > out_.size()) refuse_packed("it repeats what is before its beginning");
      for (std::size_t i = 0; i < length; ++i) put(out_[out_.size() - distance]);
    }
  }

  template <std::size_t N>
  std::size_t value_of(const std::array<WithBits, N>& table, std::size_t row) {
    if (row >= N) refuse_packed("a symbol stands for nothing");
    return table.at(row).base + bits_.take(table.at(row).bits);
  }

  void put(char byte) {
    if (out_.size() == size_) refuse_packed(fmt::format("it has more than {} bytes", size_));
    out_ += byte;
  }

  [[nodiscard]] std::uint32_t checksum() const {
    constexpr std::uint32_t kModulus = 65521;
    constexpr int kHalf = 16;
    std::uint32_t low = 1, high = 0;
    for (const char byte : out_) {
      low = (low + static_cast<unsigned char>(byte)) % kModulus;
      high = (high + low) % kModulus;
    }
    return high << kHalf | low;
  }

  static constexpr std::array<std::uint8_t, 30> kFixedDistances = {5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
                                                                   5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5};
  DeflateBits bits_;
  std::uint64_t size_;
  std::string out_;
};

}  // namespace

std::string inflated(std::string_view packed, std::uint64_t size) {
  return Inflater(packed, size).run();
}

}  // namespace linebounce::sim
