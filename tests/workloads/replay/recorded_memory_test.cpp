// Where a trace's objects with addresses lie in simulated memory.
#include "workloads/replay/recorded_memory.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "models/machine_layout.hpp"
#include "tests/models/support/small_machine.hpp"
#include "workloads/replay/places.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

class TraceOf {
 public:
  explicit TraceOf(const std::string& symbols)
      : file_(std::filesystem::temp_directory_path() / fmt::format("linebounce-places-{}-{}.txt", ::getpid(), fmt::ptr(this))) {
    std::ofstream(file_) << "linebounce trace 1\n" << symbols << "stream a\nend\n";
    reader_.emplace(file_);
  }
  ~TraceOf() { std::filesystem::remove(file_); }
  TraceOf(const TraceOf&) = delete;
  TraceOf& operator=(const TraceOf&) = delete;
  [[nodiscard]] const trace::Reader& reader() const { return *reader_; }

 private:
  std::filesystem::path file_;
  std::optional<trace::Reader> reader_;
};

std::string object(const std::string& name, Address address, Address size, const std::string& more = "") {
  return fmt::format("object {} size={} address={} {}\n", name, size, address, more);
}

constexpr const char* kVirtual = "page_bytes=4096";

// The physical address of each object's first byte, by name.
std::map<std::string, Address> physical(const TraceOf& trace, const RecordedMemory::Options& options = {}) {
  const RecordedMemory memory(trace.reader(), options);
  std::map<std::string, Address> addresses;
  for (const RecordedMemory::Place& place : memory.places())
    addresses[trace.reader().symbols().objects[place.object].name] = memory.frames().to_physical(place.begin);
  return addresses;
}

constexpr Address kIndexed = Address{1} << 22;  // what the caches of these tests index

TEST(RecordedMemory, PhysicalAddressesKeepAllTheirBits) {
  const TraceOf trace(object("low", 0x1000, 64) + object("high", 0x712345678, 64) + object("page", 0x3000000, 4096));
  const auto at = physical(trace, {.index_bits = 22});
  EXPECT_EQ(at.at("low"), RecordedMemory::kBegin + 0x1000);
  EXPECT_EQ(at.at("page"), RecordedMemory::kBegin + 0x3000000);
  EXPECT_EQ(at.at("high"), RecordedMemory::kBegin + 0x712345678);
}

TEST(RecordedMemory, AddressesAllOverTheAddressSpaceKeepTheBitsThatIndexCachesAndStayApart) {
  std::string symbols;
  std::vector<Address> recorded;
  for (int bit = 6; bit < 64; ++bit) recorded.push_back((Address{1} << bit) + 64 * static_cast<Address>(bit));
  recorded.push_back(~Address{0} - 63);
  for (std::size_t i = 0; i < recorded.size(); ++i) symbols += object(fmt::format("o{}", i), recorded[i], 64);
  const auto at = physical(TraceOf(symbols), {.index_bits = 22});
  std::set<Address> lines;
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const Address address = at.at(fmt::format("o{}", i));
    EXPECT_EQ(address % kIndexed, recorded[i] % kIndexed) << i;
    EXPECT_LT(address, 2 * RecordedMemory::kBegin) << "out of the reach of locks in C";
    EXPECT_TRUE(lines.insert(address / 64).second) << i;
  }
}

TEST(RecordedMemory, VirtualAddressesKeepTheirOffsetAndTheirNeighbours) {
  const TraceOf trace(object("a", 0x7f0000001040, 64, kVirtual) + object("b", 0x7f0000001090, 64, kVirtual) +
                      object("far", 0x5500000010c0, 64, kVirtual));
  const auto at = physical(trace, {.seed = 3});
  EXPECT_EQ(at.at("a") % 4096, 0x40U);
  EXPECT_EQ(at.at("b"), at.at("a") + 0x50) << "on the same page";
  EXPECT_EQ(at.at("far") % 4096, 0xC0U);
  EXPECT_NE(at.at("far") / 4096, at.at("a") / 4096);
}

TEST(RecordedMemory, EverySeedDrawsOtherFrames) {
  std::string symbols;
  for (int i = 0; i < 64; ++i)
    symbols += object(fmt::format("o{}", i), 0x10000 + 4096 * static_cast<Address>(i), 4096, kVirtual);
  const TraceOf trace(symbols);
  EXPECT_EQ(physical(trace, {.seed = 1}), physical(trace, {.seed = 1}));
  const auto one = physical(trace, {.seed = 1}), other = physical(trace, {.seed = 2});
  int same = 0;
  for (const auto& [name, address] : one) same += address == other.at(name);
  EXPECT_LE(same, 1);
}

TEST(RecordedMemory, HugePagesKeepTwoMebibytes) {
  const TraceOf trace(object("a", 0x7f0000212340, 64, "page_bytes=2097152") +
                      object("b", 0x7f0000234540, 64, "page_bytes=2097152") +
                      object("c", 0x7f0000612340, 64, "page_bytes=2097152"));
  const auto at = physical(trace, {.seed = 3});
  EXPECT_EQ(at.at("a") % (1 << 21), 0x12340U);
  EXPECT_EQ(at.at("b") - at.at("a"), 0x22200U);
  EXPECT_EQ(at.at("c") % (1 << 21), 0x12340U);
}

TEST(RecordedMemory, PagesAreAtLeastAsLargeAsTheReplayWants) {
  const TraceOf trace(object("a", 0x7f0000212340, 64, kVirtual) + object("b", 0x7f0000234540, 64, kVirtual));
  const auto at = physical(trace, {.seed = 3, .least_page_bits = 21});
  EXPECT_EQ(at.at("a") % (1 << 21), 0x12340U);
  EXPECT_EQ(at.at("b") - at.at("a"), 0x22200U);
}

// The 8 GiB from which frames are drawn begin at twice the distance, and the pages of both traces are all within them.
TEST(RecordedMemory, MemoryStaysSmallHoweverFarApartPagesAre) {
  std::string symbols;
  for (Address i = 0; i < 100; ++i) symbols += object(fmt::format("o{}", i), i << 40, 64, kVirtual);
  const TraceOf trace(symbols);
  const RecordedMemory memory(trace.reader(), {});
  EXPECT_EQ(memory.end(), RecordedMemory::kBegin + PageFrames::kMemory);
  EXPECT_EQ(memory.places().back().begin, RecordedMemory::kBegin + 99 * 4096) << "a page behind the other";
}

TEST(RecordedMemory, MemoryUsedAgainIsNotShared) {
  const TraceOf trace(object("first", 0x1000, 128) + object("second", 0x1040, 64) + object("beside", 0x1080, 64) +
                      object("third", 0x1040, 32));
  const auto at = physical(trace, {.index_bits = 22});
  EXPECT_EQ(at.at("beside"), at.at("first") + 128);
  for (const char* again : {"second", "third"}) EXPECT_EQ(at.at(again) % kIndexed, 0x1040U) << again;
  EXPECT_NE(at.at("second"), at.at("third"));
  EXPECT_NE(at.at("second"), at.at("first") + 64);
}

TEST(RecordedMemory, MovableObjectsMoveWithTheHeap) {
  const TraceOf trace(object("fixed", 0x1000, 64) + object("block", 0x1040, 64, "movable=yes"));
  const auto at = physical(trace, {.index_bits = 22, .heap_shift = 16});
  EXPECT_EQ(at.at("block") - at.at("fixed"), 64U + 16U);
}

// Recordings of older versions do not say that their addresses are virtual.
TEST(RecordedMemory, RecordingsOfProgramsAreVirtualEvenIfTheyDoNotSaySo) {
  const std::string symbols = object("a", 0x1040, 64);
  const TraceOf course(symbols), program("recorder \"linebounce-record -- ./x\"\n" + symbols);
  EXPECT_TRUE(RecordedMemory(course.reader(), {}).frames().empty());
  EXPECT_FALSE(RecordedMemory(program.reader(), {}).frames().empty());
}

TEST(RecordedMemory, MoreThanSimulatedMemoryHoldsIsRefusedByName) {
  std::string symbols;
  for (Address i = 0; i < 200; ++i) symbols += object(fmt::format("o{}", i), i << 50, Address{1} << 48);
  const TraceOf trace(symbols);
  try {
    const RecordedMemory memory(trace.reader(), {});
    FAIL() << "200 objects of 2^48 bytes fit";
  } catch (const std::invalid_argument& refused) {
    EXPECT_STREQ(refused.what(), "o127 does not fit: all objects with addresses together take at most 2^55 bytes");
  }
}

// ---- as a replay places them ----

class PlacedTrace {
 public:
  explicit PlacedTrace(const TraceOf& trace, const LayoutSet* layouts = nullptr, std::uint64_t seed = 3)
      : spec_(small_machine(2)),
        layout_(lay_out(spec_)),
        store_(spec_.bus.line_bytes),
        memory(store_),
        locks_(memory, spec_.cpus),
        choices_{.algorithm_of = [](const trace::Lock&) { return "ttas"; },
                 .home_of = [](const trace::Object&) { return std::nullopt; },
                 .memory = {.seed = seed, .index_bits = 22}},
        setting_{memory, locks_, spec_, layout_, 1, layouts, &trace.reader()},
        places(trace.reader().symbols(), setting_, choices_) {}

 private:
  MachineSpec spec_;
  MachineLayout layout_;
  LineStore store_;

 public:
  AddressSpace memory;

 private:
  LockSet locks_;
  ReplayPlaces::Choices choices_;
  WorkloadSetup setting_;

 public:
  ReplayPlaces places;
};

TEST(ReplayPlaces, EveryByteOfAnObjectOfSeveralPagesIsFoundAgain) {
  const TraceOf trace(object("buffer", 0x7f0000000e00, 40000, kVirtual) + object("next", 0x7f0000009e40, 64, kVirtual));
  const PlacedTrace placed(trace);
  int apart = 0;
  for (std::uint64_t offset = 0; offset < 40000; offset += 8) {
    const Address address = placed.places.at(0, offset, 0);
    EXPECT_EQ(address % 4096, (0xe00 + offset) % 4096);
    const AddressSpace::Place found = placed.memory.find_byte(address);
    EXPECT_EQ(placed.memory.objects()[found.object].name, "buffer");
    EXPECT_EQ(found.offset, offset);
    if (offset % 4096 == 0x200) apart += address != placed.places.at(0, offset - 8, 0) + 8;
  }
  EXPECT_EQ(apart, 10) << "each page has its own frame";
  EXPECT_EQ(placed.memory.symbol(placed.memory.find(placed.places.at(1, 0, 0))).object, "next");
}

Layout counters(int size, int alignment = 8) {
  return {.name = "counters", .size = size, .alignment = alignment, .fields = {{"hits", 0, 8}, {"misses", 8, 8}}};
}

constexpr const char* kCounters = "structure counters size=16 alignment=8 fields=hits:0:8,misses:8:8\n";

std::string three_objects() {
  return kCounters + object("before", 0x10000, 16) + "object all structure=counters size=16 address=65552\n" +
         object("behind", 0x10020, 16) + object("far", 0x20040, 16);
}

// Field `misses` moves to `to`.
LayoutSet moved_misses(int size, int to, int alignment = 8) {
  Layout changed = counters(size, alignment);
  changed.fields[1].offset = to;
  changed.moved = {{0, 8, 0}, {8, 8, to}};
  LayoutSet layouts;
  layouts.add(changed);
  return layouts;
}

TEST(ReplayPlaces, ALayoutThatHasGrownLeavesAllOtherObjectsWhereTheyWere) {
  const TraceOf trace(three_objects());
  const LayoutSet layouts = moved_misses(128, 64, 64);
  const PlacedTrace as_recorded(trace), changed(trace, &layouts);
  for (const std::uint32_t object : {0U, 2U, 3U})
    EXPECT_EQ(changed.places.at(object, 0, 0), as_recorded.places.at(object, 0, 0)) << object;
  const Address hits = changed.places.at(1, 0, 0);
  EXPECT_EQ(hits % 64, 0U);
  EXPECT_EQ(changed.places.at(1, 8, 0), hits + 64);
  EXPECT_EQ(changed.memory.symbol(changed.memory.find(hits + 64)).field, "misses");
}

TEST(ReplayPlaces, ALayoutThatFitsStaysInItsPlace) {
  const TraceOf trace(three_objects());
  Layout swapped = counters(16);
  std::swap(swapped.fields[0].offset, swapped.fields[1].offset);
  swapped.moved = {{0, 8, 8}, {8, 8, 0}};
  LayoutSet layouts;
  layouts.add(swapped);
  const PlacedTrace as_recorded(trace), changed(trace, &layouts);
  EXPECT_EQ(changed.places.at(1, 8, 0), as_recorded.places.at(1, 0, 0));
  EXPECT_EQ(changed.places.at(1, 0, 0), as_recorded.places.at(1, 8, 0));
}

TEST(ReplayPlaces, AnArrayThatGrowsStaysAnArray) {
  std::string symbols = kCounters;
  for (int i = 0; i < 4; ++i)
    symbols += fmt::format("object all[{}] structure=counters size=16 address={} {}\n", i, 0x10100 + 16 * i, kVirtual);
  symbols += fmt::format("object other structure=counters size=16 address={} {}\n", 0x77000123450, kVirtual);
  const TraceOf trace(symbols);
  const LayoutSet layouts = moved_misses(64, 32);
  const PlacedTrace changed(trace, &layouts);
  for (std::uint32_t i = 1; i < 4; ++i) EXPECT_EQ(changed.places.at(i, 0, 0), changed.places.at(0, 0, 0) + 64 * i);
  EXPECT_EQ(changed.places.at(0, 0, 0) % 4096, 0x100U) << "as in the recording";
  EXPECT_EQ(changed.places.at(4, 0, 0) % 4096, 0x450U);
  EXPECT_NE(changed.places.at(4, 0, 0) / 4096, changed.places.at(0, 0, 0) / 4096) << "they were far apart";
}

TEST(ReplayPlaces, ALockInAnObjectHasItsWordThere) {
  const TraceOf trace(object("table", 0x7f0000000ff0, 8192, kVirtual) + "lock guard algorithm=ttas object=#0 offset=4096\n");
  PlacedTrace placed(trace);
  const AddressSpace::Place word = placed.memory.find_byte(placed.places.at(0, 4096, 0));
  EXPECT_EQ(placed.memory.objects()[word.object].name, "table");
  EXPECT_EQ(word.offset, 4096U);
  EXPECT_TRUE(placed.places.holds_lock(0));
}

// Traces of simulated runs have no addresses. Their objects lie where the run had them.
TEST(ReplayPlaces, ObjectsWithoutAddressesAreOnePieceInTheOrderOfTheTrace) {
  const TraceOf trace("object a size=10000\nobject b size=64 alignment=64\n");
  const PlacedTrace placed(trace);
  EXPECT_EQ(placed.places.at(0, 9999, 0), 0x10000U + 9999);
  EXPECT_EQ(placed.places.at(1, 0, 0), (0x10000U + 10000 + 63) / 64 * 64);
  EXPECT_TRUE(placed.memory.frames().empty());
}

}  // namespace
}  // namespace linebounce::test
