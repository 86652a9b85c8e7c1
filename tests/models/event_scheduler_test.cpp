#include "models/event_scheduler.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace linebounce {
namespace {

using Turns = std::vector<std::pair<Tick, int>>;  // for each turn: its time, and the agent that has it

class Player final : public EventScheduler::Part {
 public:
  Player(int number, std::vector<Tick> times, Turns& turns) : number_(number), times_(std::move(times)), turns_(turns) {}

  void begin() {
    if (!times_.empty()) act_at(times_.front());
  }
  void turn() override {
    turns_.emplace_back(now(), number_);
    times_.erase(times_.begin());
    if (!times_.empty()) act_at(times_.front());
  }

 private:
  int number_;
  std::vector<Tick> times_;
  Turns& turns_;
};

class EventSchedulers : public ::testing::TestWithParam<int> {};  // the parameter is the number of parts

TEST_P(EventSchedulers, GiveTurnsInOrderOfTimeAndAtOneTimeInThatOfAdding) {
  EventScheduler scheduler;
  Turns turns, expected;
  std::vector<std::unique_ptr<Player>> players;
  for (int number = 0; number < GetParam(); ++number) {
    std::vector<Tick> times;
    for (Tick at = number % 3; at < 200; at += 1 + (at * 7 + number) % 5) times.push_back(at);
    for (const Tick at : times) expected.emplace_back(at, number);
    players.push_back(std::make_unique<Player>(number, std::move(times), turns));
    scheduler.add(*players.back(), static_cast<EventScheduler::Turns>(number % 3));
  }
  for (const auto& player : players) player->begin();
  std::sort(expected.begin(), expected.end());
  scheduler.run_until(1000);
  EXPECT_EQ(turns, expected);
  EXPECT_EQ(scheduler.next(), kNever);
  EXPECT_EQ(scheduler.now(), 1000);
}

TEST(EventScheduler, HasRoomForAThousandAndTwentyFourParts) {
  EventScheduler scheduler;
  Turns turns;
  std::vector<std::unique_ptr<Player>> players;
  for (std::size_t number = 0; number <= EventScheduler::kMostParts; ++number)
    players.push_back(std::make_unique<Player>(static_cast<int>(number), std::vector<Tick>{}, turns));
  for (std::size_t number = 0; number < EventScheduler::kMostParts; ++number) scheduler.add(*players[number]);
  EXPECT_THROW(scheduler.add(*players.back()), std::length_error);
}

INSTANTIATE_TEST_SUITE_P(Parts, EventSchedulers, ::testing::Values(1, 2, 3, 4, 5, 8, 9, 10, 17));

}  // namespace
}  // namespace linebounce
