// The contents of a protocol file, and the message for each mistake.
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>

#include "models/coherence/protocol.hpp"
#include "tests/models/coherence/shipped.hpp"

namespace linebounce::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// The shortest possible protocol: two states, one message, and lines that are never written back.
const std::string kTiny = R"(# Tiny

| property | value |
|---|---|
| bus | split |
| invariants | swmr |

## Messages

| message | data | meaning |
|---|---|---|
| GetS | no | a copy, please |

## cache

| state | meaning |
|---|---|
| I | nothing |
| W | waits for its turn |
| D | waits for data |
| S | a copy |

| event | meaning |
|---|---|
| Load | read |
| Store | write |
| Evict | make room |
| Data | data comes |
| Own_GetS [shared\|alone] | mine |
| Other_GetS | theirs |

| in | on | do | then | why |
|---|---|---|---|---|
| I | Load | issue GetS | W | miss |
| W, D | Load | stall | = | wait |
| S | Load | hit | = | here it is |
| I, W, D, S | Store | impossible | | read only |
| I | Evict | impossible | | nothing there |
| W, D | Evict | stall | = | wait |
| S | Evict | free | I | clean |
| D | Data | take data; complete | S | here it is |
| I, W, S | Data | impossible | | not asked for |
| W | Own_GetS [shared] | - | D | my turn |
| W | Own_GetS [alone] | - | D | my turn |
| I, D, S | Own_GetS | impossible | | not asked for |
| I, W, D | Other_GetS | - | = | not mine |
| S | Other_GetS | assert shared | = | me too |

## memory

| state | meaning |
|---|---|
| Idle | there |

| event | meaning |
|---|---|
| GetS | a read |
| Data | a write |

| in | on | do | then | why |
|---|---|---|---|---|
| Idle | GetS | send data to requestor | = | it is here |
| Idle | Data | impossible | | read only |
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t place = text.find(from);
  if (place == std::string::npos) throw std::invalid_argument("the test replaces what isn't there: " + from);
  return text.replace(place, from.size(), to);
}

int line_of(const std::string& text, const std::string& part) {
  const std::size_t place = text.find(part);
  if (place == std::string::npos) throw std::invalid_argument("the test looks for what isn't there: " + part);
  return static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place), '\n')) + 1;
}

// The error message; empty if the text loads.
std::string error_of(const std::string& text) {
  try {
    parse_protocol({{"t.md", text}});
  } catch (const ProtocolError& error) {
    return error.what();
  }
  return "";
}

// The error after one change, which must be reported in the line that contains `at`.
std::string error_after(const std::string& from, const std::string& to, const std::string& at) {
  const std::string text = replaced(kTiny, from, to);
  const std::string error = error_of(text);
  const std::string place = "t.md:" + std::to_string(line_of(text, at)) + ": ";
  EXPECT_THAT(error, StartsWith(place));
  return error.substr(std::min(error.size(), place.size()));
}
std::string error_after(const std::string& from, const std::string& to) {
  return error_after(from, to, to);
}

const StateInfo& state_named(const ControllerTable& table, const std::string& name) {
  return *std::find_if(table.states.begin(), table.states.end(), [&](const StateInfo& state) { return state.name == name; });
}

TEST(ProtocolFile, OfTheSmallestProtocolLoads) {
  const Protocol protocol = parse_protocol({{"some/where/tiny.md", kTiny}});
  EXPECT_EQ(protocol.name, "tiny");
  EXPECT_EQ(protocol.title, "Tiny");
  EXPECT_EQ(protocol.bus, BusKind::split);
  EXPECT_TRUE(protocol.invariant_swmr);
  EXPECT_FALSE(protocol.invariant_data_value);
  EXPECT_THAT(protocol.cache.events,
              testing::ElementsAre("Load", "Store", "Evict", "Data", "Own_GetS [shared]", "Own_GetS [alone]", "Other_GetS"));
  EXPECT_THAT(protocol.memory.events, testing::ElementsAre("GetS", "Data"));
}

TEST(ProtocolFile, RowsKnowTheirLineAndTheReasonThatStandsThere) {
  const Protocol protocol = parse_protocol({{"t.md", kTiny}});
  const Row& row = protocol.cache.row(2, protocol.cache.base_events[kData].first);
  EXPECT_EQ(row.source_line, line_of(kTiny, "| D | Data"));
  ASSERT_EQ(row.count, 2);
  EXPECT_EQ(row.actions[0], (Action{Verb::take_data}));
  EXPECT_EQ(row.actions[1], (Action{Verb::complete}));
  EXPECT_EQ(row.next, 3);
  EXPECT_EQ(protocol.cache.written.front().why, "miss");
  EXPECT_EQ(protocol.cache.written.front().line, line_of(kTiny, "| I | Load"));
}

TEST(ProtocolFile, FactsAboutStatesFollowFromTheRows) {
  const ControllerTable cache = shipped_protocol("mesi_snoop").cache;
  EXPECT_TRUE(state_named(cache, "SM_AD").readable);
  EXPECT_FALSE(state_named(cache, "SM_AD").writable);
  EXPECT_FALSE(state_named(cache, "SM_AD").stable);
  EXPECT_TRUE(state_named(cache, "E").writable);
  EXPECT_EQ(cache.states[state_named(cache, "E").after_store].name, "M");
  EXPECT_EQ(cache.states[state_named(cache, "S").after_store].name, "S");
  EXPECT_TRUE(state_named(cache, "I").stable);
  EXPECT_FALSE(state_named(cache, "MI_A").readable);
  EXPECT_TRUE(state_named(cache, "IE_D").awaits_data);
  EXPECT_FALSE(state_named(cache, "IM_AD").awaits_data);
}

// Waiting for data, or for a transaction that stalls one of the processor's three events, each makes a state transient.
TEST(ProtocolFile, AStateIsStableOnlyIfNothingWaitsInIt) {
  const auto stable = [](const std::string& from, const std::string& to, const std::string& state) {
    return state_named(parse_protocol({{"t.md", replaced(kTiny, from, to)}}).cache, state).stable;
  };
  EXPECT_TRUE(stable("", "", "I"));
  EXPECT_TRUE(stable("", "", "S"));
  EXPECT_FALSE(stable("", "", "W"));
  EXPECT_FALSE(stable("| W, D | Evict | stall | = |", "| W, D | Evict | impossible | |", "W")) << "only Load stalls";
  EXPECT_FALSE(stable("| S | Evict | free | I |", "| S | Evict | stall | = |", "S")) << "only Evict stalls";
  EXPECT_FALSE(stable("| I, W, D, S | Store | impossible | | read only |",
                      "| I, W, D | Store | impossible | | read only |\n| S | Store | stall | = | read only |", "S"))
      << "only Store stalls";
}

TEST(ProtocolFile, CachesWithoutACopyNeedNotBeAskedOnlyIfTheirRowDoesNothing) {
  EXPECT_TRUE(parse_protocol({{"t.md", kTiny}}).messages[0].absent_ignores);
  std::string text = replaced(kTiny, "| I, W, D | Other_GetS |", "| W, D | Other_GetS |");
  text = replaced(text, "| S | Other_GetS |", "| I, S | Other_GetS |");
  EXPECT_FALSE(parse_protocol({{"t.md", text}}).messages[0].absent_ignores);
}

TEST(ProtocolFile, MayHaveProseCodeDeeperHeadingsOtherSectionsAndDosLineEnds) {
  std::string text = replaced(
      kTiny, "## memory", "### Notes\n\nprose\n\n```\n| no | table |\n```\n\n## History\n\n| a | b |\n|---|---|\n\n## memory");
  EXPECT_EQ(error_of(text), "");
  for (std::size_t i = 0; (i = text.find('\n', i)) != std::string::npos; i += 2) text.replace(i, 1, "\r\n");
  EXPECT_EQ(error_of("\xEF\xBB\xBF" + text), "");
}

TEST(ProtocolFile, OnAnAtomicBusTheOwnEventTakesTheData) {
  std::string text = replaced(kTiny, "| bus | split |", "| bus | atomic |");
  EXPECT_EQ(error_of(text), "");
  text = replaced(text, "| W | Own_GetS [alone] | - | D |", "| W | Own_GetS [alone] | take data; complete | S |");
  EXPECT_EQ(error_of(text), "");
  EXPECT_THAT(error_of(replaced(text, "atomic", "split")),
              HasSubstr("'take data' can't stand at Own_GetS; it belongs to Data"));
}

TEST(ProtocolFile, OnAnAtomicBusASnooperWithACopyMayTakeTheDataThatPasses) {
  const std::string taking =
      replaced(kTiny, "| S | Other_GetS | assert shared |", "| S | Other_GetS | assert shared; take data |");
  EXPECT_THAT(error_of(taking), HasSubstr("'take data' can't stand at Other_GetS; it belongs to Data"));
  const std::string atomic = replaced(taking, "| bus | split |", "| bus | atomic |");
  EXPECT_EQ(error_of(atomic), "");
  EXPECT_THAT(error_of(replaced(atomic, "| I, W, D | Other_GetS | - | = |", "| I, W, D | Other_GetS | take data | = |")),
              HasSubstr("'take data' needs a copy, before the row and after it: neither state may be I"));
}

TEST(ProtocolFile, OnAnAtomicBusALoadThatHitsMayChangeTheState) {
  const std::string changing = replaced(kTiny, "| S | Load | hit | = |", "| S | Load | hit | W |");
  EXPECT_THAT(error_of(changing), HasSubstr("a Load that hits changes nothing: 'then' must be '='"));
  EXPECT_EQ(error_of(replaced(changing, "| bus | split |", "| bus | atomic |")), "");
}

TEST(ProtocolFileError, MissingPairNamesControllerStateEventAndTheStatesLine) {
  EXPECT_EQ(error_after("| S | Evict | free | I | clean |\n", "", "| S | a copy |"),
            "cache: no row for state S, event Evict; write one, or say that it is impossible");
  EXPECT_EQ(error_after("| W | Own_GetS [alone] | - | D | my turn |\n", "", "| W | waits"),
            "cache: no row for state W, event Own_GetS [alone]; write one, or say that it is impossible");
  EXPECT_EQ(error_after("| I, D, S | Own_GetS |", "| I, D | Own_GetS |", "| S | a copy |"),
            "cache: no row for state S, event Own_GetS; write one, or say that it is impossible");
  EXPECT_EQ(error_after("| Idle | Data | impossible | | read only |\n", "", "| Idle | there"),
            "memory: no row for state Idle, event Data; write one, or say that it is impossible");
}

TEST(ProtocolFileError, SecondRowForAPairIsADuplicateOrAContradiction) {
  const std::string first = "| S | Load | hit | = | here it is |\n";
  const std::string line = std::to_string(line_of(kTiny, first));
  EXPECT_EQ(error_after(first, first + "| S | Load | hit | = | again |\n", "| again |"),
            "cache: duplicate: state S, event Load stands in line " + line + " already");
  EXPECT_EQ(error_after(first, first + "| S | Load | stall | = | again |\n", "| again |"),
            "cache: contradiction: line " + line + " says something else for state S, event Load");
  EXPECT_EQ(error_after("| W | Own_GetS [shared] |", "| W | Own_GetS |", "| W | Own_GetS [alone] |"),
            "cache: duplicate: state W, event Own_GetS [alone] stands in line " +
                std::to_string(line_of(kTiny, "Own_GetS [shared]")) + " already");
}

TEST(ProtocolFileError, UnknownNamesAreReportedWithTheKnownOnes) {
  EXPECT_EQ(error_after("| I | Load | issue GetS |", "| Q | Load | issue GetS |"),
            "cache: unknown state 'Q'; did you mean 'I'?");
  EXPECT_EQ(error_after("| S | Evict | free | I |", "| S | Evict | free | Nowhere |"),
            "cache: unknown state 'Nowhere'; known: I, W, D, S");
  EXPECT_EQ(error_after("| S | Evict |", "| S | Evcit |"), "cache: unknown event 'Evcit'; did you mean 'Evict'?");
  EXPECT_EQ(error_after("issue GetS", "issue Gets"), "issue of an unknown message 'Gets'; did you mean 'GetS'?");
  EXPECT_EQ(error_after("assert shared", "assert shred"), "unknown action 'assert shred'; did you mean 'assert shared'?");
  EXPECT_EQ(error_after("send data to requestor", "send data to requester"),
            "unknown action 'send data to requester'; did you mean 'send data to requestor'?");
  EXPECT_THAT(error_after("take data; complete", "take data; dance"),
              StartsWith("unknown action 'dance'; known: impossible, hit,"));
  EXPECT_EQ(error_after("| Other_GetS | theirs |", "| Other_GetS | theirs |\n| Other_GetM | theirs |", "| Other_GetM |"),
            "cache: unknown event 'Other_GetM'; did you mean 'Other_GetS'?");
  EXPECT_EQ(error_after("| Evict | make room |\n", "", "## cache"), "cache: the table of events lacks 'Evict'");
  EXPECT_EQ(error_after("| bus | split |", "| bus | ring |"), "bus is 'split' or 'atomic', not 'ring'");
  EXPECT_EQ(error_after("| invariants | swmr |", "| invariants | swrm |"), "unknown invariant 'swrm'; did you mean 'swmr'?");
  EXPECT_EQ(error_after("| invariants |", "| size | 3 |\n| invariants |", "| size"),
            "unknown property 'size'; known: bus, invariants");
}

TEST(ProtocolFileError, GuardsMustBeOfTheEventsGroup) {
  EXPECT_EQ(error_after("| W | Own_GetS [shared] |", "| W | Own_GetS [owned] |"),
            "cache: guard [owned] is not of the group of 'Own_GetS', which is [shared|alone]");
  EXPECT_EQ(error_after("| S | Evict |", "| S | Evict [shared] |"),
            "cache: 'Evict' has no guard group, so [shared] can't stand there");
  const std::string unknown = error_after("[shared\\|alone]", "[many\\|few]");
  EXPECT_TRUE(unknown.starts_with("cache: unknown guard group '[many|few]' of event 'Own_GetS'; known: [shared|alone], "))
      << unknown;
  EXPECT_EQ(error_after("| Other_GetS | theirs |", "| Other_GetS [owned\\|clean] | theirs |"),
            "cache: event 'Other_GetS' can't have a guard: nothing is decided when it happens");
}

TEST(ProtocolFileError, ActionsMustFitTheirEventAndEachOther) {
  EXPECT_EQ(error_after("| S | Load | hit |", "| S | Load | hit; issue GetS |"),
            "'hit' stands alone: a row that does it does nothing else");
  EXPECT_EQ(error_after("| S | Load | hit | = |", "| S | Load | hit | D |"),
            "cache: a Load that hits changes nothing: 'then' must be '='");
  EXPECT_EQ(error_after("| S | Load | hit |", "| S | Load | - |"),
            "Load gets no answer: it must hit, issue a message, or stall");
  EXPECT_EQ(error_after("| W, D | Load | stall | = |", "| W, D | Load | stall | S |"),
            "cache: a stall changes nothing: 'then' must be '='");
  EXPECT_EQ(error_after("| S | Evict | free | I |", "| S | Evict | free | W |"),
            "cache: 'free' gives the copy up, so the next state must be I, not W");
  EXPECT_EQ(error_after("| S | Other_GetS | assert shared | = |", "| S | Other_GetS | assert shared | I |"),
            "cache: S to I without 'free': the cache would keep a line that it has no copy of");
  EXPECT_EQ(error_after("| S | Other_GetS | assert shared |", "| S | Other_GetS | hit |"),
            "'hit' can't stand at Other_GetS; it belongs to Load and Store");
  EXPECT_EQ(error_after("| S | Other_GetS | assert shared | = |", "| S | Other_GetS | apply word; free | I |"),
            "cache: 'apply word' needs a copy, before the row and after it: neither state may be I");
  EXPECT_EQ(error_after("| S | Other_GetS | assert shared |", "| S | Other_GetS | send word |"),
            "'send word' can't stand at Other_GetS; it belongs to Own_ events");
  EXPECT_EQ(error_after("take data; complete", "take data; take data"), "'take data' stands twice in one row");
  EXPECT_EQ(error_after("take data; complete", "take data; impossible"),
            "'impossible' stands alone: a row that says it does nothing else");
  EXPECT_EQ(error_after("take data; complete", "take data;"), "an empty action; a row that does nothing says '-'");
  EXPECT_EQ(error_after("| Idle | GetS | send data to requestor |", "| Idle | GetS | send data to memory |"),
            "at GetS memory can send data to the requestor only");
  EXPECT_EQ(error_after("| I | Evict | impossible | |", "| I | Evict | impossible | I |"),
            "cache: what is impossible has no next state: leave 'then' empty");
  EXPECT_EQ(error_after("| I | Load | issue GetS | W |", "| I | Load | issue GetS | |"),
            "cache: 'then' is empty; it names a state, or says '=' for the same one");
  EXPECT_EQ(error_after("| S | Other_GetS | assert shared |",
                        "| S | Other_GetS | assert shared; assert owned; send data to memory; hit; stall; complete; free |"),
            "7 actions in one row; at most 5 fit");
}

// A shipped file without the spaces that align its columns.
std::string unaligned(const std::string& name) {
  std::string text = shipped_text(name);
  text.erase(std::unique(text.begin(), text.end(), [](char a, char b) { return a == ' ' && b == ' '; }), text.end());
  return text;
}

TEST(ProtocolFileError, FarAtomicsMustFitStoresAndMemory) {
  const auto error_with = [](const std::string& from, const std::string& to) {
    return error_of(replaced(unaligned("mesi_far_snoop"), from, to));
  };
  EXPECT_EQ(error_with("", ""), "");
  EXPECT_THAT(error_with("| E, M | Atomic | hit | M |", "| E, M | Atomic | hit | = |"),
              HasSubstr("cache: Store hits in E, so Atomic must hit there, too, and lead to the same state"));
  EXPECT_THAT(error_with("| I | Atomic | issue Amo | IF_A |", "| I | Atomic | hit | = |"),
              HasSubstr("cache: Atomic hits in I, but Store doesn't"));
  EXPECT_THAT(error_with("| I | Atomic | issue Amo | IF_A |", "| I | Atomic | issue GetM | IM_AD |"),
              AllOf(HasSubstr("cache: GetM is what Atomic issues, so that nothing else may"),
                    HasSubstr("memory: Atomic issues GetM, so it must 'operate' there")));
  EXPECT_THAT(error_with("| Idle | Amo | operate |", "| Idle | Amo | - |"),
              HasSubstr("memory: Atomic issues Amo, so it must 'operate' there"));
  EXPECT_EQ(error_after("| Idle | GetS | send data to requestor |", "| Idle | GetS | operate |"),
            "memory: 'operate' at GetS, which no Atomic issues");
  EXPECT_EQ(error_after("| S | Other_GetS | assert shared |", "| S | Other_GetS | operate |"),
            "'operate' can't stand at Other_GetS; it belongs to memory's messages, and a node's of its bus");
  const std::string node = replaced(unaligned("mesi_node_far"), "| Amo | operate | M |", "| Amo | - | M |");
  try {
    parse_node_protocol(files_of("t", node), shipped_protocol("mesi_far_snoop"), shipped_protocol("mesi_directory"));
    FAIL() << "nothing was thrown";
  } catch (const ProtocolError& error) {
    EXPECT_THAT(error.what(), HasSubstr("node: Atomic issues Amo on its bus, so it must 'operate' there"));
  }
}

TEST(ProtocolFileError, MemoryOperatesAtWhatOnlyStoresIssue) {
  const auto error_with = [](const std::string& from, const std::string& to) {
    return error_of(replaced(unaligned("write_through_atomic"), from, to));
  };
  EXPECT_EQ(error_with("", ""), "");
  EXPECT_THAT(error_with("| Idle | BusRd | send data to requestor |", "| Idle | BusRd | operate |"),
              HasSubstr("memory: 'operate' at BusRd, which no Store issues"));
  EXPECT_THAT(error_with("| I | Load | issue BusRd |", "| I | Load | issue BusWr |"),
              HasSubstr("cache: BusWr is what Store issues, so that nothing else may"));
}

// A node's `recall` names a message of the bus, its `send` one of the network.
TEST(ProtocolFileError, AnUnknownMessageIsReportedWithTheVerbThatNamesIt) {
  const auto node_error = [](const std::string& from, const std::string& to) -> std::string {
    const ProtocolFiles files = files_of("t", replaced(unaligned("mesi_node"), from, to));
    try {
      parse_node_protocol(files, shipped_protocol("mesi_snoop"), shipped_protocol("mesi_directory"));
    } catch (const ProtocolError& refused) {
      return refused.what();
    }
    return "";
  };
  const auto group_error = [](const std::string& from, const std::string& to) -> std::string {
    const ProtocolFiles files = files_of("t", replaced(unaligned("mesi_group"), from, to));
    try {
      parse_group_protocol(files, shipped_protocol("mesi_directory"));
    } catch (const ProtocolError& refused) {
      return refused.what();
    }
    return "";
  };
  EXPECT_THAT(node_error("recall GetS", "recall GetZ"), HasSubstr("recall of an unknown message 'GetZ'"));
  EXPECT_THAT(node_error("recall GetS", "recall Fwd_GetS"), HasSubstr("recall of an unknown message 'Fwd_GetS'"));
  EXPECT_THAT(node_error("send GetS to home", "send GetZ to home"), HasSubstr("send of an unknown message 'GetZ'"));
  EXPECT_THAT(group_error("recall Inv from sharers", "recall Jnv from sharers"),
              HasSubstr("recall of an unknown message 'Jnv'"));
}

TEST(ProtocolFileError, StatesAndMessagesThatNothingLeadsToAreReported) {
  EXPECT_EQ(error_after("| D | Data | take data; complete | S |", "| D | Data | take data; complete | D |", "| S | a copy |"),
            "cache: no row leads from I to state S");
  EXPECT_EQ(error_after("| I | Load | issue GetS | W |", "| I | Load | issue GetS | D |", "| W | waits"),
            "cache: no row leads from I to state W");
  EXPECT_EQ(error_after("| GetS | no |", "| GetS | yes |"), "message GetS says data 'yes', but no row for Own_GetS sends data");
  EXPECT_EQ(error_after("| GetS | no |", "| GetS | maybe |"), "message GetS: 'data' says yes or no, not 'maybe'");
  EXPECT_EQ(error_after("| W, D | Evict | stall | = |", "| W, D | Evict | issue GetS | D |"),
            "cache: issues GetS, but Own_GetS is impossible in D, the state that it goes to");
}

TEST(ProtocolFileError, AMessageThatNoRowIssuesIsReported) {
  std::string text = replaced(kTiny, "| GetS | no | a copy, please |", "| GetS | no | a copy, please |\n| Ping | no | hello |");
  text = replaced(text, "| Other_GetS | theirs |", "| Other_GetS | theirs |\n| Own_Ping | mine |\n| Other_Ping | theirs |");
  text = replaced(text, "| I, W, S | Data |",
                  "| I, W, D, S | Own_Ping, Other_Ping | impossible | | never sent |\n| I, W, S | Data |");
  text = replaced(text, "| GetS | a read |", "| GetS | a read |\n| Ping | hello |");
  text = replaced(text, "| Idle | Data |", "| Idle | Ping, Data |");
  EXPECT_EQ(error_of(text), "t.md:" + std::to_string(line_of(text, "| Ping | no")) + ": message Ping is never issued");
}

// Each message gives a cache up to four events, and an event's number is a byte.
TEST(ProtocolFileError, AProtocolHasAtMostSixtyMessages) {
  std::string messages = "| GetS | no | a copy, please |\n";
  for (int i = 2; i <= 60; ++i) messages += "| Ping" + std::to_string(i) + " | no | hello |\n";
  const std::string sixty = replaced(kTiny, "| GetS | no | a copy, please |\n", messages);
  const std::string more = replaced(sixty, "| GetS | no |", "| Ping61 | no | hello |\n| GetS | no |");
  EXPECT_THAT(error_of(sixty), testing::Not(HasSubstr("more than")));
  EXPECT_THAT(error_of(more), HasSubstr("t.md:" + std::to_string(line_of(kTiny, "## Messages")) + ": more than 60 messages"));
}

TEST(ProtocolFileError, AFileOfAnotherKindIsNotAPartner) {
  const Protocol bus = shipped_protocol("mesi_snoop"), directory = shipped_protocol("mesi_directory");
  const auto error = [](const auto& parse) -> std::string {
    try {
      parse();
    } catch (const ProtocolError& refused) {
      return refused.what();
    }
    return "";
  };
  EXPECT_THAT(error([&] {
                parse_node_protocol({{"t.md", kTiny}}, bus, directory);
              }),
              StartsWith("t.md:1: no section '## node': this is not a protocol of a node controller"));
  EXPECT_THAT(error([&] {
                parse_group_protocol({{"t.md", kTiny}}, directory);
              }),
              StartsWith("t.md:1: no section '## group': this is not a protocol of a group"));
}

TEST(ProtocolFileError, AFileOfTheWrongFormIsReported) {
  EXPECT_THAT(error_of(""), StartsWith("t.md:1: the file is empty"));
  EXPECT_THAT(error_of(" \n\t\r\n"), StartsWith("t.md:1: the file is empty"));
  EXPECT_THAT(error_of(std::string("\x7f"
                                   "ELF\0\1",
                                   6)),
              StartsWith("t.md:1: the file is not UTF-8 text"));
  EXPECT_THAT(error_of("# Gr\xFC\xDF"
                       "e\n"),
              StartsWith("t.md:1: the file is not UTF-8 text"));
  EXPECT_THAT(error_of("# cut off: \xE2\x82"), StartsWith("t.md:1: the file is not UTF-8 text"));
  EXPECT_EQ(error_of(replaced(kTiny, "# Tiny",
                              "# Gr\xC3\xBC\xC3\x9F"
                              "e \xE2\x82\xAC \xF0\x9F\x98\x80")),
            "");
  EXPECT_THAT(error_of("prose\n"), StartsWith("t.md:1: no title"));
  EXPECT_EQ(
      error_after("| bus | split |\n| invariants | swmr |", "", "# Tiny"),
      "property 'bus' is missing from the table below the title\nt.md:1: property 'invariants' is missing from the table below "
      "the title");
  EXPECT_THAT(error_of("# x\n"),
              HasSubstr("t.md:1: no section '## cache'; a protocol has '## Messages', '## cache' and '## memory'"));
  const std::string memory_twice = kTiny + "\n## memory\n";
  EXPECT_EQ(error_of(memory_twice), "t.md:" + std::to_string(line_of(kTiny + "@", "@") + 1) +
                                        ": a second section '## memory'; the first is in line " +
                                        std::to_string(line_of(kTiny, "## memory")));
}

TEST(ProtocolFileError, ATableOfTheWrongFormIsReported) {
  EXPECT_EQ(error_after("| D | Data |", "| D | Data | x |"),
            "6 cells in a table of 5 columns (a bar inside a cell is written \\|)");
  EXPECT_EQ(error_after("[shared\\|alone]", "[shared|alone]"),
            "3 cells in a table of 2 columns (a bar inside a cell is written \\|)");
  EXPECT_EQ(
      error_after("| state | meaning |", "| status | meaning |"),
      "a table with the columns 'status | meaning'; the tables of this section have | state | meaning |, | event | meaning |, "
      "| in | on | do | then | why |");
  EXPECT_EQ(error_after("| W | waits for its turn |", "| I | waits for its turn |"),
            "state 'I' is declared twice; the first is in line " + std::to_string(line_of(kTiny, "| I | nothing")));
  EXPECT_EQ(error_after("| W | waits for its turn |", "| W+ | waits for its turn |"),
            "'W+' can't be the name of a state: use letters, digits and _");
  EXPECT_EQ(error_after("| hit | = | here it is |", "| hit | = | |"), "cache: this row doesn't say why");
}

TEST(ProtocolFileError, AllErrorsOfAFileAreShownInOrderUpToTwenty) {
  std::string text = replaced(kTiny, "| S | Load | hit |", "| S | Laod | hit |");
  text = replaced(text, "assert shared", "assert shade");
  const std::string two = error_of(text);
  EXPECT_EQ(std::count(two.begin(), two.end(), '\n'), 1);
  EXPECT_LT(two.find("Laod"), two.find("shade"));

  for (int i = 0; i < 25; ++i) text = replaced(text, "| W, D | Load |", "| Q, D | Load | stall | = | x |\n| W, D | Load |");
  const std::string many = error_of(text);
  EXPECT_EQ(std::count(many.begin(), many.end(), '\n'), 20);
  EXPECT_THAT(many, testing::EndsWith("more errors"));
}

// Whatever a file contains, it either loads or is refused with a message.
RC_GTEST_PROP(ProtocolFileError, ADamagedFileLoadsOrIsRefused, ()) {
  std::string text = kTiny;
  const int edits = *rc::gen::inRange(1, 6);
  for (int i = 0; i < edits; ++i) {
    const auto place = *rc::gen::inRange<std::size_t>(0, text.size());
    const auto length = *rc::gen::inRange<std::size_t>(0, 40);
    const auto inserted =
        *rc::gen::element<std::string>("", "|", "\n", "[", "]", ";", ",", "=", "-", "| I |", "## cache\n", "\\");
    text.replace(place, std::min(length, text.size() - place), inserted);
  }
  const std::string error = error_of(text);
  RC_ASSERT(error.empty() || error.starts_with("t.md:"));
}

}  // namespace
}  // namespace linebounce::test
