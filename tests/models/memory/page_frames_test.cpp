// Which frames a replayed program's pages get.
#include "models/memory/page_frames.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "models/memory/homes.hpp"
#include "tests/models/support/small_machine.hpp"

namespace linebounce::test {
namespace {

constexpr Address kFirst = Address{1} << 35;
constexpr Address kSmall = 4096, kHuge = Address{1} << 21;

PageFrames small_pages(std::uint64_t seed, int pages) {
  PageFrames frames(seed);
  frames.draw(kFirst, kFirst + static_cast<Address>(pages) * kSmall, 12);
  return frames;
}

TEST(PageFrames, AnAddressKeepsItsOffsetInThePage) {
  const PageFrames frames = small_pages(1, 100);
  for (const Address offset : {0U, 1U, 64U, 4095U}) {
    const Address page = frames.to_physical(kFirst + 7 * kSmall);
    EXPECT_EQ(page % kSmall, 0U);
    EXPECT_EQ(frames.to_physical(kFirst + 7 * kSmall + offset), page + offset);
  }
}

TEST(PageFrames, HugePagesKeepTwoMebibytes) {
  PageFrames frames(1);
  frames.draw(kFirst, kFirst + 8 * kHuge, 21);
  const Address page = frames.to_physical(kFirst + 3 * kHuge);
  EXPECT_EQ(page % kHuge, 0U);
  for (const Address offset : {Address{4096}, Address{0x12345}, kHuge - 1})
    EXPECT_EQ(frames.to_physical(kFirst + 3 * kHuge + offset), page + offset);
}

// Neither range leaves the memory from which its frames are drawn, so no frame belongs to two pages.
TEST(PageFrames, EachPageHasAFrameOfItsOwnAndIsFoundAgain) {
  PageFrames frames(3);
  const Address behind = frames.draw(kFirst, kFirst + 3000 * kSmall, 12);
  frames.draw(behind, behind + 500 * kHuge, 21);
  std::set<Address> seen;
  const auto look = [&](Address page) {
    const Address physical = frames.to_physical(page);
    EXPECT_TRUE(seen.insert(physical).second) << "two pages have this frame";
    EXPECT_EQ(frames.to_virtual(physical), page);
    EXPECT_EQ(frames.to_virtual(physical + 100), page + 100);
  };
  for (Address page = kFirst; page < kFirst + 3000 * kSmall; page += kSmall) look(page);
  for (Address page = behind; page < behind + 500 * kHuge; page += kHuge) look(page);
}

// A permutation of every size, down to pages of 1 GiB, of which the memory has eight.
TEST(PageFrames, EveryPageSizeHasAPermutation) {
  for (int bits = 12; bits <= 30; ++bits) {
    PageFrames frames(5);
    const Address end = frames.draw(kFirst, kFirst + (Address{1} << bits), bits);
    std::set<Address> seen;
    for (Address page = 0; page < 8; ++page) {
      const Address physical = frames.to_physical(kFirst + (page << bits));
      EXPECT_TRUE(physical >= kFirst && physical < end) << bits;
      EXPECT_EQ(frames.to_virtual(physical), kFirst + (page << bits)) << bits;
      seen.insert(physical);
    }
    EXPECT_EQ(seen.size(), 8U) << bits;
  }
}

TEST(PageFrames, OtherAddressesAreThemselves) {
  const PageFrames frames = small_pages(1, 10);
  for (const Address address : {Address{0x10000}, kFirst - 1, kFirst + PageFrames::kMemory}) {
    EXPECT_EQ(frames.to_physical(address), address);
    EXPECT_EQ(frames.to_virtual(address), address);
  }
  EXPECT_EQ(PageFrames().to_physical(kFirst), kFirst);
}

TEST(PageFrames, TheSeedDecides) {
  EXPECT_EQ(small_pages(1, 10).to_physical(kFirst), small_pages(1, 10).to_physical(kFirst));
  EXPECT_EQ(small_pages(1, 10).to_physical(kFirst), small_pages(1, 1000).to_physical(kFirst))
      << "what a program has besides moves no page";
  EXPECT_NE(small_pages(1, 10).to_physical(kFirst), small_pages(2, 10).to_physical(kFirst));
}

// Each of 64 colours gets its share of 6400 consecutive pages: 100, with a standard deviation of 10. Chi-square with 63 degrees
// of freedom exceeds 104 in one of 1000 draws, and 20 seeds have a mean of 63 with a standard deviation of 2.5.
TEST(PageFrames, EachSetOfACacheIsEquallyLikely) {
  constexpr int kColours = 64, kPages = 100 * kColours, kSeeds = 20;
  double sum = 0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const PageFrames frames = small_pages(static_cast<std::uint64_t>(seed), kPages);
    std::vector<int> pages(kColours);
    for (Address page = 0; page < kPages; ++page) ++pages[frames.to_physical(kFirst + page * kSmall) / kSmall % kColours];
    for (const int of_colour : pages) sum += (of_colour - 100) * (of_colour - 100) / 100.0;
  }
  EXPECT_GT(sum / kSeeds, 63 - 4 * 2.5) << "the frames are spread more evenly than chance does";
  EXPECT_LT(sum / kSeeds, 63 + 4 * 2.5) << "some colours are preferred";
}

// Pages that lie side by side in the program are no likelier to have the same colour than others: 1 in 64.
TEST(PageFrames, NeighboursHaveNothingToDoWithEachOther) {
  constexpr Address kColours = 64, kPages = 4096, kSeeds = 16;
  for (const Address distance : {1U, 2U, 64U, 512U}) {
    Address same = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const PageFrames frames = small_pages(seed, kPages + distance);
      const auto colour = [&](Address page) { return frames.to_physical(kFirst + page * kSmall) / kSmall % kColours; };
      for (Address page = 0; page < kPages; ++page) same += colour(page) == colour(page + distance);
    }
    // 1024 are expected, with a standard deviation of 32.
    EXPECT_NEAR(static_cast<double>(same), 1024, 4 * 32) << distance;
  }
}

MachineSpec four_nodes(Placement placement) {
  MachineSpec spec = small_machine(4);
  spec.nodes = 4;
  spec.memory.placement = placement;
  spec.memory.page_kib = 4;
  return spec;
}

class HomesOfFrames {
 public:
  explicit HomesOfFrames(Placement placement)
      : spec_(four_nodes(placement)), layout_(lay_out(spec_)), homes(spec_, layout_, spec_.bus.line_bytes), frames(7) {
    frames.draw(kFirst, kFirst + 64 * kSmall, 12);
    homes.set_frames(frames);
  }
  [[nodiscard]] LineAddr line(Address page, Address offset = 0) const {
    return LineAddr(frames.to_physical(kFirst + page * kSmall + offset) / static_cast<Address>(spec_.bus.line_bytes));
  }

 private:
  MachineSpec spec_;
  MachineLayout layout_;

 public:
  Homes homes;
  PageFrames frames;
};

TEST(Homes, PagesThatFollowEachOtherInTheProgramAreInterleavedWhereverTheirFramesAre) {
  HomesOfFrames of(Placement::interleaved);
  const int first = of.homes.peek(of.line(0));
  for (Address page = 0; page < 64; ++page)
    EXPECT_EQ(of.homes.peek(of.line(page, 100)), (first + static_cast<int>(page)) % 4) << page;
}

TEST(Homes, TheFirstToucherHasThePageAndNoOther) {
  HomesOfFrames of(Placement::first_touch);
  EXPECT_EQ(of.homes.home(of.line(5), 2), 2);
  EXPECT_EQ(of.homes.home(of.line(5, 4000), 3), 2) << "a line of the same page";
  EXPECT_EQ(of.homes.home(of.line(6), 3), 3);
  EXPECT_EQ(of.homes.peek(of.line(7)), -1);
}

TEST(Homes, AnObjectsHomeFollowsItsPages) {
  HomesOfFrames of(Placement::first_touch);
  of.homes.place(kFirst + 10 * kSmall, Home::on(3));
  of.homes.place(kFirst + 20 * kSmall, Home::on(1));
  for (Address page = 10; page < 20; ++page) EXPECT_EQ(of.homes.peek(of.line(page)), 3) << page;
  EXPECT_EQ(of.homes.peek(of.line(20)), 1);
}

// A table of all pages in between would have 2^44 entries.
TEST(Homes, PagesThatLieFarApartTakeLittleMemory) {
  const MachineSpec spec = four_nodes(Placement::first_touch);
  const MachineLayout layout = lay_out(spec);
  Homes homes(spec, layout, spec.bus.line_bytes);
  for (int bit = 20; bit < 56; ++bit) EXPECT_EQ(homes.home(LineAddr((Address{1} << bit) / 32), bit % 4), bit % 4);
  for (int bit = 20; bit < 56; ++bit) EXPECT_EQ(homes.peek(LineAddr((Address{1} << bit) / 32)), bit % 4);
}

}  // namespace
}  // namespace linebounce::test
