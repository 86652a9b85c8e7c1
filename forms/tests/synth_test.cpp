#include "forms/synth.hpp"

#include <gmock/gmock.h>

#include <map>

#include "forms/tests/converted.hpp"

namespace linebounce::sim {
namespace {

using trace::Kind;

Converted synthetic(const SynthSpec& spec) {
  const TemporaryFolder folder;
  trace::Writer writer(folder / "out.trace");
  write_synthetic(spec, writer);
  writer.finish({});
  return read_all(folder / "out.trace");
}

TEST(Synth, EachThreadMakesExactlyItsAccesses) {
  const Converted it = synthetic({.threads = 3, .accesses = 1234, .section = 10});
  ASSERT_EQ(it.streams.size(), 3U);
  for (const auto& stream : it.streams) {
    EXPECT_EQ(std::count_if(stream.begin(), stream.end(), [](const auto& operation) { return operation.is_memory(); }), 1234);
  }
}

TEST(Synth, SharesComeOutAsAskedFor) {
  SynthSpec spec{.threads = 4, .accesses = 50000, .objects = 8, .shared_pct = 20, .read_pct = 60, .atomic_pct = 50};
  const Converted it = synthetic(spec);
  const auto all = counts(it);
  const auto shared = counts(it, [](const auto& operation) { return operation.is_memory() && operation.id < 8; });
  EXPECT_NEAR(static_cast<double>(all.at(Kind::load)), 0.6 * 200000, 1000);
  EXPECT_NEAR(static_cast<double>(shared.at(Kind::load) + shared.at(Kind::store) + shared.at(Kind::fetch_add)), 40000, 1000);
  EXPECT_NEAR(static_cast<double>(shared.at(Kind::fetch_add)), static_cast<double>(shared.at(Kind::store)), 500);
  EXPECT_EQ(all.at(Kind::fetch_add), shared.at(Kind::fetch_add));
}

TEST(Synth, EverySharedAccessIsUnderTheLockOfItsObject) {
  const Converted it = synthetic({.threads = 2, .accesses = 5000, .objects = 6, .locks = 3, .section = 7});
  for (const auto& stream : it.streams) {
    std::optional<std::uint32_t> held;
    for (const trace::Operation& operation : stream) {
      if (operation.kind == Kind::acquire) held = operation.id;
      if (operation.kind == Kind::release) held.reset();
      if (operation.is_memory() && operation.id < 6) {
        EXPECT_EQ(held, operation.id % 3);
      }
    }
    EXPECT_FALSE(held.has_value());
  }
}

TEST(Synth, ReadSectionsWriteNothingThatIsShared) {
  const Converted it = synthetic({.threads = 1, .accesses = 5000, .shared_pct = 50, .locks = 1, .shared_section_pct = 40});
  bool reader = false;
  std::int64_t sections = 0, of_readers = 0;
  for (const trace::Operation& operation : it.streams[0]) {
    if (operation.kind == Kind::acquire || operation.kind == Kind::acquire_shared) {
      reader = operation.kind == Kind::acquire_shared;
      ++sections;
      of_readers += reader ? 1 : 0;
    }
    const bool writes = operation.kind == Kind::store || operation.kind == Kind::fetch_add;
    EXPECT_FALSE(reader && writes && operation.id < 16);
  }
  EXPECT_EQ(sections, 500);
  EXPECT_NEAR(static_cast<double>(of_readers), 200, 40);
}

TEST(Synth, TheSameSeedMakesTheSameTraceAndAnotherOneAnother) {
  const auto of_seed = [](std::uint64_t seed) { return synthetic({.threads = 2, .accesses = 1000, .seed = seed}).streams; };
  EXPECT_EQ(of_seed(1), of_seed(1));
  EXPECT_NE(of_seed(1), of_seed(2));
}

TEST(Synth, WithSkewTheFirstObjectIsDrawnMoreOften) {
  const SynthSpec spec{.threads = 1, .accesses = 20000, .objects = 4, .shared_pct = 100, .skew = 1};
  const Converted it = synthetic(spec);
  std::vector<std::int64_t> uses(4);
  for (const trace::Operation& operation : it.streams[0]) {
    if (operation.is_memory()) ++uses.at(operation.id);
  }
  // Proportions 1 : 1/2 : 1/3 : 1/4, whose sum is 25/12.
  EXPECT_NEAR(static_cast<double>(uses[0]), 20000 * 12.0 / 25, 300);
  EXPECT_NEAR(static_cast<double>(uses[3]), 20000 * 3.0 / 25, 300);
}

}  // namespace
}  // namespace linebounce::sim
