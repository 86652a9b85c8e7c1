// What a file may change in the protocol that it extends, and the message for each mistake.
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/coherence/protocol.hpp"
#include "tests/models/coherence/shipped.hpp"

namespace linebounce::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kRows = "\n| in | on | do | then | why |\n|---|---|---|---|---|\n";

std::string extending(const std::string& body, const std::string& base = "mesi_snoop") {
  return "# Mine\n\n| property | value |\n|---|---|\n| extends | " + base + " |\n\n" + body;
}

Protocol parsed(const std::string& body, const std::string& base = "mesi_snoop") {
  return parse_protocol(files_of("mine", extending(body, base)));
}

// The error message; empty if the text loads.
std::string error_of_extending(const std::string& body, const std::string& base = "mesi_snoop") {
  try {
    parsed(body, base);
  } catch (const ProtocolError& error) {
    return error.what();
  }
  return "";
}

int line_where(const std::string& text, const std::string& part) {
  const std::size_t place = text.find(part);
  if (place == std::string::npos) throw std::invalid_argument("the test looks for what isn't there: " + part);
  return static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place), '\n')) + 1;
}

std::string mine_at(const std::string& body, const std::string& part) {
  return "mine.md:" + std::to_string(line_where(extending(body), part)) + ": ";
}
std::string base_at(const std::string& part) {
  return "mesi_snoop.md:" + std::to_string(line_where(shipped_text("mesi_snoop"), part));
}

std::size_t numbered(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

template <class Items>
std::vector<std::string> names_of(const Items& items) {
  std::vector<std::string> names;
  for (const auto& item : items) names.push_back(item.name);
  return names;
}

const Row& row_at(const ControllerTable& table, const std::string& state, const std::string& event) {
  return table.row(static_cast<StateId>(numbered(names_of(table.states), state)),
                   static_cast<EventId>(numbered(table.events, event)));
}

std::string place_of(const ControllerTable& table, const std::string& state, const std::string& event) {
  return table.place(row_at(table, state, event).source_line);
}

TEST(ExtendedProtocol, AFileWithoutATableIsWhatItExtends) {
  const Protocol mine = parsed(""), base = shipped_protocol("mesi_snoop");
  EXPECT_EQ(mine.name, "mine");
  EXPECT_EQ(mine.title, "Mine");
  EXPECT_EQ(mine.bus, base.bus);
  EXPECT_TRUE(mine.invariant_swmr && mine.invariant_data_value);
  EXPECT_EQ(names_of(mine.messages), names_of(base.messages));
  EXPECT_EQ(mine.cache.events, base.cache.events);
  EXPECT_TRUE(
      std::equal(mine.cache.rows.begin(), mine.cache.rows.end(), base.cache.rows.begin(), [](const Row& a, const Row& b) {
        return a.next == b.next && std::equal(a.steps().begin(), a.steps().end(), b.steps().begin(), b.steps().end());
      }));
}

TEST(ExtendedProtocol, ARowTakesThePlaceOfTheInheritedOneOfItsStateAndEvent) {
  const std::string body = "## cache\n" + kRows + "| E | Other_GetS | free | I | a reader takes the line along |\n";
  const Protocol mine = parsed(body);
  EXPECT_TRUE(row_at(mine.cache, "E", "Other_GetS").does(Verb::free));
  EXPECT_EQ(place_of(mine.cache, "E", "Other_GetS") + ": ", mine_at(body, "| E | Other_GetS"));
  EXPECT_EQ(place_of(mine.cache, "IS_D", "Data"), base_at("| IS_D                                        | Data"));
  EXPECT_EQ(place_of(mine.memory, "Idle", "PutM"), base_at("| Idle | PutM"));
}

TEST(ExtendedProtocol, AnInheritedRowStaysForTheStatesAndEventsThatTheFileSaysNothingOf) {
  const Protocol mine =
      parsed("## cache\n" + kRows + "| S | Evict | stall | = | never |\n| SM_AD | Store | stall | = | wait |\n");
  EXPECT_TRUE(row_at(mine.cache, "S", "Evict").stalls());
  EXPECT_EQ(place_of(mine.cache, "E", "Evict"), base_at("| S, E                                              | Evict"));
  EXPECT_EQ(place_of(mine.cache, "SM_AD", "Evict"), place_of(mine.cache, "IM_AD", "Store"));
  EXPECT_THAT(place_of(mine.cache, "SM_AD", "Store"), StartsWith("mine.md:"));
}

TEST(ExtendedProtocol, AnInheritedRowStaysForTheOtherWordsOfAGuard) {
  const Protocol mine =
      parsed("## memory\n" + kRows + "| Idle | GetM [clean] | send data to requestor | = | nobody else has |\n");
  EXPECT_THAT(place_of(mine.memory, "Idle", "GetM [clean]"), StartsWith("mine.md:"));
  EXPECT_EQ(place_of(mine.memory, "Idle", "GetM [owned]"), base_at("| Idle | GetS [owned], GetM [owned]"));
  EXPECT_EQ(place_of(mine.memory, "Idle", "GetS [clean]"), base_at("| Idle | GetS [clean], GetM [clean]"));
}

TEST(ExtendedProtocol, ANewDeclarationFollowsTheOneAboveItInItsTable) {
  const std::vector<std::string> messages = names_of(shipped_protocol("mesi_migratory_directory").messages);
  EXPECT_EQ(numbered(messages, "Moved"), numbered(messages, "Put_Ack") + 1);
  const std::vector<std::string> states = names_of(shipped_protocol("mesi_snoop_upgrade_retry").cache.states);
  EXPECT_EQ(numbered(states, "IU_A"), numbered(states, "SM_AD") + 1);
  const std::vector<std::string> last = names_of(shipped_protocol("moesi_directory_filter").directory.states);
  EXPECT_THAT(last, ElementsAre("I", "S", "EM", "O", "R_A"));
}

// MSI, by removing the rows that tell a cache that it is alone.
const std::string kWithoutE =
    "## cache\n\n| without | why |\n|---|---|\n| E, IE_D | nobody is told that it is alone |\n\n"
    "| event | meaning |\n|---|---|\n| Own_GetS | this cache's GetS is ordered |\n" +
    kRows + "| IS_AD | Own_GetS | - | IS_D | its turn |\n";

TEST(ExtendedProtocol, RowsOfAStateThatIsGoneAreGoneAndTheirOtherStatesStay) {
  const Protocol mine = parsed(kWithoutE);
  EXPECT_THAT(names_of(mine.cache.states), AllOf(Not(Contains("E")), Not(Contains("IE_D"))));
  EXPECT_EQ(place_of(mine.cache, "M", "Store"), base_at("| E, M                                              | Store"));
}

TEST(ExtendedProtocol, InheritedRowsWithAGuardAreGoneWhereTheEventIsDeclaredWithoutIt) {
  const Protocol mine = parsed(kWithoutE);
  EXPECT_EQ(row_at(mine.cache, "IS_AD", "Own_GetS").next, numbered(names_of(mine.cache.states), "IS_D"));
}

TEST(ExtendedProtocol, ADirectoryCanDoWithoutTheCache) {
  EXPECT_TRUE(shipped_protocol("mesi_migratory_directory").cache.states.empty());
}

TEST(ExtendedProtocol, AnExtendingFileIsExtendedInTurn) {
  const std::string body = "## cache\n" + kRows + "| S | Evict | stall | = | never |\n";
  const Protocol mine = parsed(body, "mesi_migratory_snoop");
  EXPECT_THAT(place_of(mine.cache, "S", "Evict"), StartsWith("mine.md:"));
  EXPECT_THAT(place_of(mine.cache, "M", "Other_GetS"), StartsWith("mesi_migratory_snoop.md:"));
  EXPECT_THAT(place_of(mine.cache, "E", "Evict"), StartsWith("mesi_snoop.md:"));
  // The row equals mesi_snoop's. It is not redundant, because the file between the two has changed it.
  const std::string back =
      "| M | Other_GetS | assert shared; assert owned; send data to requestor, memory | S | memory is old, so we "
      "answer; memory takes the data from the bus (an implicit writeback), as S requires |\n";
  EXPECT_EQ(error_of_extending("## cache\n" + kRows + back, "mesi_migratory_snoop"), "");
}

TEST(ExtendedProtocol, PartnersAreInheritedButForThoseThatTheFileNames) {
  const auto partners = partners_of(shipped_files("mesi_node_far"));
  ASSERT_TRUE(partners);
  EXPECT_EQ(partners->bus, "mesi_far_snoop");
  EXPECT_EQ(partners->directory, "mesi_directory");
}

TEST(ExtendedProtocol, ThePageNamesTheProtocolOfEachInheritedRow) {
  const std::string page = describe_protocol(shipped_protocol("mesi_migratory_snoop"));
  EXPECT_THAT(page, HasSubstr("extends: mesi_snoop"));
  EXPECT_THAT(page, HasSubstr("    Load: issue GetS -> IS_AD  (mesi_snoop)\n        read miss"));
  EXPECT_THAT(page,
              HasSubstr("    Other_GetS: assert owned; send data to requestor, memory; free -> I\n        the reader will"));
}

TEST(ExtendedProtocolError, ARowEqualToTheInheritedOneIsRefused) {
  const std::string row = "## cache\n" + kRows +
                          "| M, MI_A | Other_GetM | assert owned; send data to requestor; free | I | the requestor gets data "
                          "and ownership together; memory may stay old, because the new owner answers for it |\n";
  EXPECT_EQ(error_of_extending(row).substr(0, error_of_extending(row).find('\n')),
            mine_at(row, "| M, MI_A") + "cache: state M, event Other_GetM is inherited just so from " +
                base_at("| M                                           | Other_GetM") + ": leave it out");
  const std::string state = "## cache\n\n| state | meaning |\n|---|---|\n| I | no copy |\n";
  EXPECT_EQ(error_of_extending(state), mine_at(state, "| I |") + "state 'I' is inherited just so: leave it out");
}

TEST(ExtendedProtocolError, ANewStateNeedsItsRows) {
  const std::string body = "## cache\n\n| state | meaning |\n|---|---|\n| X | new |\n";
  EXPECT_THAT(error_of_extending(body), HasSubstr(mine_at(body, "| X |") + "cache: no row for state X, event Load"));
}

TEST(ExtendedProtocolError, AnInheritedRowThatNoLongerFitsIsReportedInItsOwnFile) {
  const std::string body = "## cache\n\n| without | why |\n|---|---|\n| MI_A | no buffer |\n";
  EXPECT_EQ(error_of_extending(body), base_at("| M                                                 | Evict") +
                                          ": cache: unknown state 'MI_A'; did you mean 'II_A'?");
}

TEST(ExtendedProtocolError, OnlyWhatIsInheritedCanBeLeftOutOrReplaced) {
  const std::string without = "## cache\n\n| without | why |\n|---|---|\n| IE_DD | typo |\n";
  EXPECT_EQ(error_of_extending(without),
            mine_at(without, "| IE_DD") + "'IE_DD' is not inherited, so it can't be left out; did you mean 'IE_D'?");
  const std::string same = "## cache\n\n| state | meaning |\n|---|---|\n| X | = |\n";
  EXPECT_EQ(error_of_extending(same), mine_at(same, "| X |") + "state 'X' is not inherited, so '=' says nothing");
}

TEST(ExtendedProtocolError, AControllerThatTheBaseLacksIsNotPartOfIt) {
  const std::string body = "## directory\n" + kRows + "| I | GetS | stall | = | no |\n";
  EXPECT_EQ(error_of_extending(body),
            mine_at(body, "## directory") + "the protocol that this one extends has no '## directory'");
}

TEST(ExtendedProtocolError, LinesAreThoseOfTheFileThatTheyStandIn) {
  const std::string twice = "## cache\n" + kRows + "| M | Evict | stall | = | never |\n| M | Evict | stall | = | never |\n";
  EXPECT_THAT(error_of_extending(twice),
              HasSubstr("stands in line " + std::to_string(line_where(extending(twice), "| M | Evict"))));
  ProtocolFiles files = files_of("mine", extending(""));
  files[1].text += "\n## cache\n";
  try {
    parse_protocol(files);
    FAIL() << "nothing was thrown";
  } catch (const ProtocolError& error) {
    EXPECT_EQ(error.what(), "mesi_snoop.md:" + std::to_string(line_where(files[1].text + "@", "@") - 1) +
                                ": a second section '## cache'; the first is in line " +
                                std::to_string(line_where(files[1].text, "## cache")));
  }
}

}  // namespace
}  // namespace linebounce::test
