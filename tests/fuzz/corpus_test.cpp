// Reads the corpus that libFuzzer left (README.md). A reader must accept each case or refuse it with a reason. So each file
// that ever broke a reader is tested in every build, without libFuzzer. Of each corpus some cases are taken: a reader that
// refuses everything, say because a file of project/ is missing, would be fuzzed in vain.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <ostream>
#include <vector>

#include "tests/fuzz/readers.hpp"

namespace linebounce::fuzz {

// Prints the test's name.
static void PrintTo(const Reader& reader, std::ostream* out) {
  *out << reader.name;
}

namespace {

namespace fs = std::filesystem;

std::string bytes_of_file(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The cases in a file written by cases.py.
std::vector<std::string> unpacked(std::string_view file) {
  std::vector<std::string> cases;
  while (!file.empty()) {
    const std::size_t size = std::stoul(std::string(file.substr(0, file.find('\n'))));
    file.remove_prefix(file.find('\n') + 1);
    cases.emplace_back(file.substr(0, size));
    file.remove_prefix(size + 1);
  }
  return cases;
}

class Corpus : public testing::TestWithParam<Reader> {};

TEST_P(Corpus, IsTakenOrRefusedWithAReason) {
  std::size_t tried = 0, taken = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(LINEBOUNCE_SOURCE_DIR) / "tests/fuzz/corpus" / GetParam().name)) {
    const std::string bytes = bytes_of_file(entry.path());
    const bool packed = entry.path().extension() == ".cases";
    for (const std::string& one : packed ? unpacked(bytes) : std::vector{bytes}) {
      const Verdict verdict = verdict_on(GetParam(), one);
      EXPECT_EQ(verdict.bug, "") << entry.path() << ", case " << tried << ":\n" << one;
      ++tried;
      if (verdict.is_taken) ++taken;
    }
  }
  EXPECT_GT(taken, 0U) << "of " << tried;
}

INSTANTIATE_TEST_SUITE_P(Of, Corpus, testing::ValuesIn(all_readers().begin(), all_readers().end()),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace linebounce::fuzz
