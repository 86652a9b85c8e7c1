#include "models/text/shell_word.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

namespace linebounce {
namespace {

using testing::ElementsAre;
using testing::Optional;

TEST(ShellLine, IsReadBackAsTheWordsThatItWasMadeOf) {
  EXPECT_EQ(shell_line({"./program", "two words", "it's", ""}), R"(./program 'two words' 'it'\''s' '')");
  EXPECT_THAT(words_of_shell_line(R"(./program 'two words' 'it'\''s' '')"),
              Optional(ElementsAre("./program", "two words", "it's", "")));
}

RC_GTEST_PROP(ShellLine, IsReadBackWhateverTheWordsAre, (const std::vector<std::string>& words)) {
  RC_PRE(!words.empty());
  RC_ASSERT(words_of_shell_line(shell_line(words)) == words);
}

TEST(ShellLine, IsRefusedIfShWouldReadMoreThanPlainWords) {
  for (const char* line :
       {"", " ", "a  b", "a ", "a;b", "a $(b)", "a > b", "\"a\"", "'a", "a\\", "'a'", "a\\ b", "a\nb", "`a`", "~", "a&"})
    EXPECT_EQ(words_of_shell_line(line), std::nullopt) << line;
}

}  // namespace
}  // namespace linebounce
