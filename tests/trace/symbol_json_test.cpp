// Malformed lines of symbols and summaries.
#include "trace/symbol_json.hpp"

#include <gtest/gtest.h>

#include <string>

namespace linebounce::trace {
namespace {

std::string symbol_error(std::string_view line) {
  Symbols symbols;
  try {
    define_line(symbols, line);
    return "";
  } catch (const FormatError& error) {
    return error.what();
  }
}

std::string said_of_summary(std::string_view text) {
  try {
    read_summary(text);
    return "";
  } catch (const FormatError& error) {
    return error.what();
  }
}

std::string nested(std::size_t levels) {
  return R"({"kind":"event","name":)" + std::string(levels, '[') + std::string(levels, ']') + "}";
}

TEST(LineOfASymbol, IsRefusedHoweverDeepItIsNested) {
  EXPECT_EQ(symbol_error(nested(3)), "\"name\" is a list; it has to be a string");
  EXPECT_EQ(symbol_error(nested(100'000)), "lists and objects are nested more than 8 deep");
  EXPECT_EQ(symbol_error(std::string(100'000, '[')), "lists and objects are nested more than 8 deep");
  EXPECT_EQ(symbol_error(R"({"kind":"event","name":{}})"), "\"name\" is an object; it has to be a string");
}

TEST(LineOfASymbol, RefusesMembersThatOnlyOthersHave) {
  EXPECT_EQ(symbol_error(R"({"kind":"event","":0})"), "\"\" is not known; known are kind, name");
  EXPECT_EQ(symbol_error(R"({"kind":"structure","fields":[{"kind":"x"}]})"),
            "\"kind\" is not known; known are name, offset, size, alignment");
  EXPECT_EQ(symbol_error(R"({"kind":"lock","waits_in":[{"":"x"}]})"), "\"\" is not known; known are taker, function");
  EXPECT_TRUE(said_of_summary(R"({"kind":"summary"})").starts_with("\"kind\" is not known; known are program, "));
}

TEST(LineOfASymbol, HidesNothingBehindAByteZero) {
  using std::string_literals::operator""s;
  EXPECT_EQ(symbol_error("{\"kind\":\"event\"}\0 and more"s), "this is not JSON: it has a byte 0");
  EXPECT_EQ(said_of_summary("{}\0"s), "this is not JSON: it has a byte 0");
}

TEST(LineOfASymbol, ShowsALongValueUpToTheEndOfACharacter) {
  std::string letters;
  for (int i = 0; i < 30; ++i) letters += "\u00e4";
  EXPECT_EQ(symbol_error("{\"kind\":\"stream\",\"cpu\":\"" + letters + "\"}"),
            "\"cpu\" is \"" + letters.substr(0, 38) + "...; it has to be an integer from -2147483648 to 2147483647");
}

TEST(LineOfASymbol, RefusesNumbersThatTheTextFormLacks) {
  EXPECT_EQ(symbol_error(R"({"kind":"lock","offset":-1})"), "its offset is -1; legal: 0 to 2^63 - 1");
  EXPECT_EQ(symbol_error(R"({"kind":"lock","word_bytes":-1})"), "its word_bytes are -1; legal: 0 to 2^31 - 1");
  EXPECT_EQ(said_of_summary(R"({"misses":{"memory":-1}})"), "\"memory\" is -1; it has to be an integer from 0 to 2^63 - 1");
}

}  // namespace
}  // namespace linebounce::trace
