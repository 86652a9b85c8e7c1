// Tests the effects of one order step, data step or access, with MESI tables and two caches.
#include "models/coherence/bus_order.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "tests/models/coherence/shipped.hpp"

namespace linebounce::test {
namespace {

constexpr int kCaches = 3;

// A line whose data is a number, and which records the calls made to it.
struct RecordingLine {
  std::array<StateId, kCaches> states{};
  std::array<int, kCaches> data{};
  int memory_data = 100, bus_data = 0;
  std::vector<std::string> asked;

  [[nodiscard]] static std::array<int, kCaches> snoopers(MessageId) { return {0, 1, 2}; }
  StateId state(int cache) { return states[cache]; }
  static StateId memory_state() { return 0; }
  void set_state(int cache, StateId state) { states[cache] = state; }
  static void set_memory_state(StateId) {}
  void copy_to_bus(int cache) { bus_data = data[cache]; }
  void memory_to_bus() { bus_data = memory_data; }
  void bus_to_copy(int cache) { data[cache] = bus_data; }
  void bus_to_memory() { memory_data = bus_data; }
  void complete(int cache) { asked.push_back("complete " + std::to_string(cache)); }
  void send_word(int cache) { asked.push_back("send word " + std::to_string(cache)); }
  void apply_word(int cache) { asked.push_back("apply word " + std::to_string(cache)); }
  void operate(int cache) { asked.push_back("operate " + std::to_string(cache) + " on " + std::to_string(memory_data)); }
  void issue(int cache, MessageId message) {
    asked.push_back("issue " + std::to_string(cache) + " " + std::to_string(message));
  }
  void free(int cache) { asked.push_back("free " + std::to_string(cache)); }
  static void on_transition(Controller, int, StateId, EventId, StateId) {}
};

class Bus : public testing::Test {
 protected:
  explicit Bus(const std::string& name = "mesi_snoop") : protocol(shipped_protocol(name)) {}

  StateId state(const std::string& name) {
    for (std::size_t i = 0; i < protocol.cache.states.size(); ++i) {
      if (protocol.cache.states[i].name == name) return static_cast<StateId>(i);
    }
    throw std::out_of_range(name);
  }
  MessageId message(const std::string& name) {
    for (std::size_t i = 0; i < protocol.messages.size(); ++i) {
      if (protocol.messages[i].name == name) return static_cast<MessageId>(i);
    }
    throw std::out_of_range(name);
  }
  std::string state_of(int cache) { return protocol.cache.states[line.states[cache]].name; }
  OrderOutcome order(const std::string& name, int requestor) { return order_step(protocol, line, message(name), requestor); }

  Protocol protocol;
  RecordingLine line;
};

class RetryBus : public Bus {
 protected:
  RetryBus() : Bus("mesi_snoop_upgrade_retry") {}
};

class DragonBus : public Bus {
 protected:
  DragonBus() : Bus("dragon_snoop") {}
};

TEST_F(Bus, MemorySuppliesALineThatNoCacheHasAndTheReaderGetsItExclusively) {
  line.states = {state("IS_AD"), 0, 0};
  const OrderOutcome outcome = order("GetS", 0);
  EXPECT_EQ(outcome.supplier, kMemory);
  EXPECT_TRUE(outcome.needs_data_step);
  EXPECT_FALSE(outcome.completed);
  data_step(protocol, line, 0);
  EXPECT_EQ(state_of(0), "E");
  EXPECT_EQ(line.data[0], 100);
  EXPECT_EQ(line.asked, std::vector<std::string>{"complete 0"});
}

TEST_F(Bus, ModifiedLineIsSuppliedByItsOwnerAndReachesMemoryToo) {
  line.states = {state("IS_AD"), state("M"), 0};
  line.data[1] = 7;
  const OrderOutcome outcome = order("GetS", 0);
  EXPECT_EQ(outcome.supplier, 1);
  EXPECT_TRUE(outcome.data_to_memory());
  EXPECT_TRUE(outcome.lines.shared);
  EXPECT_TRUE(outcome.lines.owned);
  EXPECT_EQ(line.memory_data, 7);
  data_step(protocol, line, 0);
  EXPECT_EQ(line.data[0], 7);
  EXPECT_EQ(state_of(0), "S");
  EXPECT_EQ(state_of(1), "S");
}

TEST_F(Bus, OwnershipOfAModifiedLinePassesOnAndMemoryStaysOld) {
  line.states = {state("IM_AD"), state("M"), 0};
  line.data[1] = 7;
  const OrderOutcome outcome = order("GetM", 0);
  EXPECT_EQ(outcome.supplier, 1);
  EXPECT_FALSE(outcome.data_to_memory());
  EXPECT_EQ(line.memory_data, 100);
  EXPECT_EQ(line.asked, std::vector<std::string>{"free 1"});
  data_step(protocol, line, 0);
  EXPECT_EQ(line.data[0], 7);
  EXPECT_EQ(state_of(0), "M");
}

TEST_F(Bus, UpgradeCompletesInItsOrderStepWithoutDataFromAnybody) {
  line.states = {state("SM_AD"), state("S"), 0};
  line.data = {100, 100, 0};
  const OrderOutcome outcome = order("GetM", 0);
  EXPECT_TRUE(outcome.completed);
  EXPECT_FALSE(outcome.needs_data_step);
  EXPECT_EQ(outcome.supplier, kNobody);
  EXPECT_EQ(state_of(0), "M");
  EXPECT_EQ(state_of(1), "I");
  EXPECT_EQ(line.asked, (std::vector<std::string>{"free 1", "complete 0"}));
}

TEST_F(Bus, UpgradeThatLostItsCopyFetchesTheDataInItsOwnOrderStep) {
  line.states = {state("SM_AD"), state("SM_AD"), 0};
  order("GetM", 0);
  line.data[0] = 8;  // the value that cache 0 stored
  EXPECT_EQ(state_of(1), "IM_AD");
  const OrderOutcome outcome = order("GetM", 1);
  EXPECT_EQ(outcome.supplier, 0);
  EXPECT_FALSE(outcome.reissued);
  data_step(protocol, line, 1);
  EXPECT_EQ(line.data[1], 8);
}

TEST_F(RetryBus, UpgradeThatLostItsCopyIsIssuedAgainAsGetM) {
  line.states = {state("SM_AD"), state("SM_AD"), 0};
  EXPECT_TRUE(order("Upgrade", 0).completed);
  EXPECT_EQ(state_of(1), "IU_A");
  line.asked.clear();
  const OrderOutcome outcome = order("Upgrade", 1);
  EXPECT_EQ(outcome.reissued, message("GetM"));
  EXPECT_FALSE(outcome.needs_data_step);
  EXPECT_EQ(state_of(0), "M");
  EXPECT_EQ(state_of(1), "IM_AD");
  EXPECT_EQ(line.asked, std::vector<std::string>{"issue 1 " + std::to_string(message("GetM"))});
}

// The requestor's row produces the word. So it must run before any cache applies the word, whatever the caches' numbers are.
TEST_F(DragonBus, WordIsSentFirstAndThenAppliedByEveryCopyThatAskedForIt) {
  line.states = {state("Sc"), state("SmM_A"), state("ScM_A")};
  const OrderOutcome outcome = order("BusUpd", 1);
  EXPECT_TRUE(outcome.word_sent);
  EXPECT_TRUE(outcome.completed);
  EXPECT_FALSE(outcome.needs_data_step);
  EXPECT_EQ(outcome.supplier, kNobody);
  EXPECT_EQ(line.asked, (std::vector<std::string>{"send word 1", "apply word 0", "apply word 2"}));
  EXPECT_EQ(state_of(1), "Sm");
  EXPECT_EQ(state_of(2), "ScM_A");
}

TEST_F(DragonBus, NoWordIsSentIfNoOtherCacheHasACopy) {
  line.states = {state("ScM_A"), 0, state("MI_A")};
  const OrderOutcome outcome = order("BusUpd", 0);
  EXPECT_FALSE(outcome.word_sent);
  EXPECT_TRUE(outcome.completed);
  EXPECT_EQ(line.asked, std::vector<std::string>{"complete 0"});
  EXPECT_EQ(state_of(0), "M");
  EXPECT_EQ(state_of(2), "II_A");
}

TEST_F(DragonBus, WriteMissOfASharedLineAsksAgainWhenTheLineHasCome) {
  line.states = {state("IM_AD"), state("Sm"), 0};
  line.data[1] = 7;
  EXPECT_TRUE(order("GetS", 0).needs_data_step);
  EXPECT_EQ(data_step(protocol, line, 0), message("BusUpd"));
  EXPECT_EQ(line.data[0], 7);
  EXPECT_EQ(state_of(0), "ScM_A");
  EXPECT_EQ(line.memory_data, 100);
}

TEST_F(Bus, AWritebackReachesMemoryAndSuppliesNoCache) {
  line.states = {state("MI_A"), 0, 0};
  line.data[0] = 7;
  const OrderOutcome outcome = order("PutM", 0);
  EXPECT_TRUE(outcome.data_to_memory());
  EXPECT_EQ(outcome.supplier, kNobody);
  EXPECT_FALSE(outcome.needs_data_step);
  EXPECT_EQ(line.memory_data, 7);
  EXPECT_EQ(state_of(0), "I");
}

TEST_F(Bus, WriteBackThatASnoopOvertookLeavesMemoryAlone) {
  line.states = {state("MI_A"), state("IM_AD"), 0};
  line.data[0] = 7;
  EXPECT_EQ(order("GetM", 1).supplier, 0);
  data_step(protocol, line, 1);
  line.data[1] = 8;
  const OrderOutcome outcome = order("PutM", 0);
  EXPECT_FALSE(outcome.data_to_memory());
  EXPECT_EQ(line.memory_data, 100);
  EXPECT_EQ(state_of(1), "M");
}

TEST_F(Bus, AccessesHitIssueStallAndFree) {
  line.states = {state("S"), state("E"), state("IS_AD")};
  EXPECT_EQ(access_step(protocol, line, 0, kLoad), AccessResult::hit);
  EXPECT_EQ(access_step(protocol, line, 0, kStore), AccessResult::issued);
  EXPECT_EQ(state_of(0), "SM_AD");
  EXPECT_EQ(access_step(protocol, line, 1, kStore), AccessResult::hit);
  EXPECT_EQ(state_of(1), "M");
  EXPECT_EQ(access_step(protocol, line, 2, kLoad), AccessResult::stalled);
  line.states[2] = state("E");
  EXPECT_EQ(access_step(protocol, line, 2, kEvict), AccessResult::freed);
  EXPECT_EQ(state_of(2), "I");
}

TEST_F(Bus, ImpossiblePairStopsWithControllerStateEventAndLine) {
  line.states = {state("IS_AD"), state("IM_D"), 0};
  try {
    order("GetS", 0);
    FAIL() << "nothing was thrown";
  } catch (const ProtocolFault& fault) {
    EXPECT_EQ(fault.kind, ProtocolFault::Kind::impossible);
    EXPECT_EQ(fault.state, state("IM_D"));
    const std::string where = "mesi_snoop.md:" + std::to_string(fault.source_line) + ": cache: state IM_D, event Other_GetS: ";
    EXPECT_EQ(std::string(fault.what()).substr(0, where.size()), where);
    EXPECT_GT(fault.source_line, 0);
  }
}

TEST_F(Bus, TwoOwnersThatBothAnswerAreAFault) {
  line.states = {state("IS_AD"), state("M"), state("M")};
  EXPECT_THROW(order("GetS", 0), ProtocolFault);
}

TEST_F(Bus, ARequestorWaitingForDataThatWasNeverSentIsAFault) {
  for (Row& row : protocol.memory.rows) row.count = 0;
  line.states = {state("IS_AD"), 0, 0};
  try {
    order("GetS", 0);
    FAIL() << "nothing was thrown";
  } catch (const ProtocolFault& fault) {
    EXPECT_EQ(fault.kind, ProtocolFault::Kind::no_data);
    EXPECT_EQ(fault.state, state("IS_AD"));
  }
}

class FarBus : public Bus {
 protected:
  FarBus() : Bus("mesi_far_snoop") {}
};

// Memory must have the owner's data before it operates on it. The requestor's copy is dropped last, because memory's
// operation uses its bytes.
TEST_F(FarBus, MemoryOperatesOnTheOwnersData) {
  line.states = {state("IF_A"), state("M"), state("I")};
  line.data = {0, 77, 0};
  const OrderOutcome outcome = order("Amo", 0);
  EXPECT_EQ(line.asked, (std::vector<std::string>{"free 1", "operate 0 on 77", "free 0"}));
  EXPECT_TRUE(outcome.operated);
  EXPECT_EQ(outcome.memory_sender, 1);
  EXPECT_FALSE(outcome.needs_data_step);
  EXPECT_EQ(outcome.supplier, kNobody);
}

class IllinoisBus : public Bus {
 protected:
  IllinoisBus() : Bus("illinois_atomic") {}
};

// Memory's 100 differs from the copies' 7 only to show that it is not read.
TEST_F(IllinoisBus, OneOfTheSharersThatOfferTheLineSuppliesItAndMemoryDoesNot) {
  line.states = {0, state("S"), state("S")};
  line.data = {0, 7, 7};
  const OrderOutcome outcome = order("BusRd", 0);
  EXPECT_EQ(outcome.supplier, 1);
  EXPECT_FALSE(outcome.data_to_memory());
  EXPECT_EQ(line.data[0], 7);
  EXPECT_EQ(state_of(0), "S");
}

TEST_F(IllinoisBus, AnOfferBesideTheOwnersDataIsAFault) {
  line.states = {0, state("M"), state("S")};
  EXPECT_THROW(order("BusRd", 0), ProtocolFault);
}

class SnarfingBus : public Bus {
 protected:
  SnarfingBus() : Bus("mesi_snarfing_atomic") {}
};

TEST_F(SnarfingBus, ATagTakesTheLineThatAnotherCacheHasRequested) {
  line.states = {0, state("T"), state("M")};
  line.data = {0, 1, 7};
  const OrderOutcome outcome = order("BusRd", 0);
  EXPECT_EQ(outcome.supplier, 2);
  EXPECT_EQ(line.data, (std::array{7, 7, 7}));
  EXPECT_EQ(state_of(1), "S");
}

TEST_F(SnarfingBus, ATagThatTakesALineThatNobodySendsIsAFault) {
  Row& row =
      protocol.cache
          .rows[state("T") * protocol.cache.events.size() + protocol.cache.base_events[other_event(message("BusUpgr"))].first];
  row = Row{.next = state("S"), .count = 1, .impossible = false, .actions = {Action{Verb::take_data}}};
  line.states = {state("S"), state("T"), 0};
  try {
    order("BusUpgr", 0);
    FAIL() << "nothing was thrown";
  } catch (const ProtocolFault& fault) {
    EXPECT_EQ(fault.kind, ProtocolFault::Kind::nothing_passes);
  }
}

class WriteThroughBus : public Bus {
 protected:
  WriteThroughBus() : Bus("write_through_atomic") {}
};

// Memory stores the word before any copy takes it.
TEST_F(WriteThroughBus, MemoryRunsTheStoreAndTheWritersCopyTakesTheWord) {
  line.states = {state("V"), state("V"), 0};
  const OrderOutcome outcome = order("BusWr", 0);
  EXPECT_TRUE(outcome.operated);
  EXPECT_EQ(outcome.supplier, kNobody);
  EXPECT_EQ(line.asked, (std::vector<std::string>{"free 1", "operate 0 on 100", "apply word 0"}));
  EXPECT_EQ(state_of(0), "V");
}

TEST_F(WriteThroughBus, AStoreWithoutACopyGoesToMemoryAlone) {
  line.states = {0, state("V"), 0};
  order("BusWr", 0);
  EXPECT_EQ(line.asked, (std::vector<std::string>{"free 1", "operate 0 on 100"}));
  EXPECT_EQ(state_of(0), "I");
}

}  // namespace
}  // namespace linebounce::test
