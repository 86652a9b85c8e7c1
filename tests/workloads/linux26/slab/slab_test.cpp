// The allocators: no object is handed out twice or lost, whichever CPU frees it; and each takes the locks and batches of its
// kernel.
#include "workloads/linux26/slab/slab.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "models/failure.hpp"
#include "tests/workloads/kernel_machine.hpp"
#include "tests/workloads/run_workload.hpp"
#include "workloads/program/barrier.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::test {

using namespace workloads;

namespace {

// 62 of these fit in a page after struct slab and their bufctl: 48 + 62 * 4, rounded up, is 384, plus 62 * 256.
constexpr int kPerSlab = 62;
constexpr int kTag = 128;  // an offset within the object

Layout thing(const std::string& name = "thing", int size = 256) {
  return {.name = name, .size = size, .alignment = 128, .fields = {{"word", 0, 8}, {"tag", kTag, 8}}};
}

class SlabMachine : public KernelMachine {
 public:
  explicit SlabMachine(const MachineSpec& spec, const SlabOptions& options = {}, int objects_per_node = 1000)
      : KernelMachine(spec, {thing()}),
        allocator(*kernel, options),
        cache(allocator.create_cache("thing", objects_per_node)),
        barrier(space, "barrier", spec.cpus) {}

  [[nodiscard]] std::int64_t acquired_in(const std::string& function, const std::string& lock = "kmem_list3_list_lock") const {
    for (const auto& [site, use] : locks.figures().at(lock).by_call_site()) {
      if (space.functions()[site].name == function) return use.nowait + use.spin;
    }
    return 0;
  }
  // The node whose page has the object; objects are named thing[NODE.SLAB.INDEX].
  [[nodiscard]] int home(const Object& object) const { return space.symbol(space.find(object.address())).object.at(6) - '0'; }

  SlabAllocator allocator;
  SlabCache& cache;
  Barrier barrier;
};

std::vector<Object> alloc_many(Cpu& cpu, SlabCache& cache, int count) {
  std::vector<Object> objects;
  for (int i = 0; i < count; ++i) objects.push_back(cache.alloc(cpu));
  return objects;
}

// CPU 0 of node 0 allocates; CPU 1 of node 1 runs the second step when CPU 0 has ended its own.
void in_turn(SlabMachine& two, const Core::Program& first, const Core::Program& second) {
  two.run([&](Cpu& cpu) {
    if (cpu.id().value == 0) first(cpu);
    two.barrier.wait(cpu);
    if (cpu.id().value == 1) {
      second(cpu);
      two.cache.check(cpu);
    }
  });
}

struct Variant {
  std::string variant;
  std::string machine;
  bool from_remote_frees = false;
};

class EachVariant : public testing::TestWithParam<Variant> {
 protected:
  static MachineSpec spec() { return GetParam().machine == "itanium" ? small_itanium(4) : small_machine(4); }
  static SlabOptions options() {
    return {.variant = GetParam().variant, .refill_from_remote_frees = GetParam().from_remote_frees};
  }
};
std::vector<Variant> variants() {
  std::vector<Variant> all = {{"slab_numa", "itanium", true}};
  for (const std::string& name : slab_variant_names()) {
    all.push_back({name, "itanium"});
    all.push_back({name, "sc"});
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(, EachVariant, testing::ValuesIn(variants()), [](const auto& tested) {
  return tested.param.variant + "_" + tested.param.machine + (tested.param.from_remote_frees ? "_from_remote_frees" : "");
});

// Every CPU allocates objects, marks them, and sends them through memory to any CPU, which frees them. A CPU that finds
// another's mark has an object that was handed out twice.
TEST_P(EachVariant, GivesNoObjectToTwoAndLosesNoneWhoeverFreesThem) {
  constexpr int kCpus = 4;
  constexpr std::size_t kOwnAtMost = 90;
  SlabMachine four(spec(), options(), 600);
  const Address mailboxes = four.space.place_array("mailboxes", kCpus * kCpus * 128);
  const auto mailbox = [&](int from, int to) { return mailboxes + static_cast<Address>((from * kCpus + to) * 128); };
  std::vector<std::int64_t> freed(kCpus);
  four.run([&](Cpu& cpu) {
    const int me = cpu.id().value;
    Random random(1, static_cast<std::uint64_t>(me), 0);
    std::vector<std::pair<Object, Value>> own;
    Value tag = static_cast<Value>(me) << 32U;
    const auto free_checked = [&](const Object& object, Value expected) {
      const Value found = cpu.load(object.address() + kTag);
      EXPECT_EQ(found, expected);
      four.cache.free(cpu, object);
      ++freed[static_cast<std::size_t>(me)];
    };
    const auto receive = [&](int from) {
      const Address box = mailbox(from, me);
      const Value address = cpu.load_acquire(box);
      if (address == 0) return;
      const Value expected = cpu.load(box + 8);
      const std::vector<Object> all = four.cache.objects();
      const auto object = std::find_if(all.begin(), all.end(), [&](const Object& o) { return o.address() == address; });
      ASSERT_NE(object, all.end());
      free_checked(*object, expected);
      cpu.store_release(box, 0);
    };
    for (int i = 0; i < 1500; ++i) {
      const auto other = static_cast<int>(random.below(kCpus));
      // Alternates between phases of collecting and of giving away.
      if (own.size() < kOwnAtMost && random.below(10) < (i % 400 < 200 ? 8U : 3U)) {
        const bool here = random.below(3) != 0;
        const int node = four.kernel->nodes() - 1 - four.kernel->node_of(me);
        own.emplace_back(here ? four.cache.alloc(cpu) : four.cache.alloc_on(cpu, node), ++tag);
        cpu.store(own.back().first.address(), 0);
        cpu.store(own.back().first.address() + kTag, tag);
      } else if (!own.empty()) {
        const std::size_t which = random.below(own.size());
        const auto [object, mark] = own[which];
        const Address box = mailbox(me, other);
        if (other == me) {
          free_checked(object, mark);
        } else if (cpu.load_acquire(box) == 0) {
          cpu.store(box + 8, mark);
          cpu.store_release(box, object.address());
        } else {
          continue;
        }
        own.erase(own.begin() + static_cast<std::ptrdiff_t>(which));
      }
      receive(static_cast<int>(random.below(kCpus)));
    }
    for (const auto& [object, mark] : own) free_checked(object, mark);
    four.barrier.wait(cpu);
    for (int from = 0; from < kCpus; ++from) receive(from);
    four.barrier.wait(cpu);
    if (me == 0) four.cache.check(cpu);
  });
  for (const std::int64_t count : freed) EXPECT_GT(count, 200);
}

TEST_P(EachVariant, FreeingTwiceStopsTheRun) {
  SlabMachine four(spec(), options());
  const auto free_twice = [&](Cpu& cpu) {
    const Object object = four.cache.alloc(cpu);
    four.cache.free(cpu, object);
    four.cache.free(cpu, object);
  };
  EXPECT_THROW(four.run(free_twice), ModelFailure);
}

TEST_P(EachVariant, FreeingAnotherCachesObjectStopsTheRun) {
  SlabMachine four(spec(), options());
  const Object foreign = four.kernel->place("thing", "foreign", 0);
  EXPECT_THROW(four.run([&](Cpu& cpu) { four.cache.free(cpu, foreign); }), ModelFailure);
}

// With several nodes, the other node's memory must also be used up before allocation fails.
TEST_P(EachVariant, AllocatesEveryObjectAndThenStopsTheRun) {
  SlabMachine four(spec(), options(), 100);
  const std::size_t all = four.cache.objects().size();
  std::set<Address> given;
  const auto take_all = [&](Cpu& cpu) {
    if (cpu.id().value != 0) return;
    for (std::size_t i = 0; i < all; ++i) given.insert(four.cache.alloc(cpu).address());
    four.cache.check(cpu);
    EXPECT_EQ(given.size(), all);
    four.cache.alloc(cpu);
  };
  EXPECT_THROW(four.run(take_all), ModelFailure);
  EXPECT_EQ(given.size(), all);
}

TEST_P(EachVariant, TheCheckFindsAnObjectThatIsFreeAndInUse) {
  SlabMachine four(spec(), options());
  bool consistent = false;
  const auto corrupt = [&](Cpu& cpu) {
    if (cpu.id().value != 0) return;
    const Object object = four.cache.alloc(cpu);
    const Object other = four.cache.alloc(cpu);
    four.cache.free(cpu, object);
    four.cache.check(cpu);
    consistent = true;
    // Makes the latest entry of the CPU's array, or the link in the first free object, point to an object in use.
    Address link = object.address();
    if (GetParam().variant != "slub") {
      const Address array = four.find_object("thing.array[0]");
      link = array + 24 + (cpu.load(array, 4) - 1) * 8;
    }
    cpu.store(link, other.address());
    four.cache.check(cpu);
  };
  EXPECT_THROW(four.run(corrupt), ModelFailure);
  EXPECT_TRUE(consistent);
}

// First 16 objects, because the cache is not in use yet. Then a batch of 60: the slab has only 46 left. Then, with both lists
// empty, a new slab and 60 objects from it.
TEST(SlabNuma, RefillsInBatchesAndGrowsWhenTheListsAreEmpty) {
  SlabMachine two(small_itanium(2));
  std::vector<std::int64_t> locks_at;
  in_turn(
      two,
      [&](Cpu& cpu) {
        for (int i = 1; i <= kPerSlab + 61; ++i) {
          two.cache.alloc(cpu);
          locks_at.push_back(two.acquired_in("cache_alloc_refill"));
        }
      },
      [](Cpu&) {});
  const auto first_with = [&](std::int64_t locks) {
    return 1 + (std::find(locks_at.begin(), locks_at.end(), locks) - locks_at.begin());
  };
  EXPECT_EQ(locks_at[0], 2) << "once in vain, once after it has grown";
  EXPECT_EQ(first_with(3), 17);
  EXPECT_EQ(first_with(5), kPerSlab + 1);
  EXPECT_EQ(first_with(6), kPerSlab + 61);
  EXPECT_EQ(two.acquired_in("cache_grow"), 2);
}

// The CPU's array holds 120; the next free sends 60 to the node's shared array, from which a later refill takes them.
TEST(SlabNuma, AFullArraySendsABatchToTheSharedOneAndGetsItBackAtOnce) {
  SlabMachine two(small_itanium(2));
  constexpr int kCount = 2 * kPerSlab;  // leaves the array empty
  in_turn(
      two,
      [&](Cpu& cpu) {
        const std::vector<Object> objects = alloc_many(cpu, two.cache, kCount);
        const auto refills = two.acquired_in("cache_alloc_refill");
        for (int i = 0; i < 120; ++i) two.cache.free(cpu, objects[static_cast<std::size_t>(i)]);
        EXPECT_EQ(two.acquired_in("cache_flusharray"), 0);
        for (int i = 120; i < kCount; ++i) two.cache.free(cpu, objects[static_cast<std::size_t>(i)]);
        EXPECT_EQ(two.acquired_in("cache_flusharray"), 1);
        alloc_many(cpu, two.cache, kCount - 60);
        EXPECT_EQ(two.acquired_in("cache_alloc_refill"), refills);
        alloc_many(cpu, two.cache, 60);
        EXPECT_EQ(two.acquired_in("cache_alloc_refill"), refills + 1);
      },
      [](Cpu&) {});
}

// The first twelve wait; the thirteenth sends them home, as does each twelfth after it: the 13th, 25th and 37th.
TEST(SlabNuma, ObjectsFreedOnAnotherNodeGoHomeInBatchesOfTwelve) {
  SlabMachine two(small_itanium(2));
  std::vector<Object> objects;
  std::vector<std::int64_t> drains_at;
  in_turn(
      two, [&](Cpu& cpu) { objects = alloc_many(cpu, two.cache, 40); },
      [&](Cpu& cpu) {
        for (const Object& object : objects) {
          two.cache.free(cpu, object);
          drains_at.push_back(two.acquired_in("__drain_alien_cache"));
        }
      });
  for (std::size_t i = 0; i < drains_at.size(); ++i) EXPECT_EQ(drains_at[i], i / 12) << i;
  EXPECT_EQ(two.acquired_in("cache_free_alien", "alien_array_cache_lock"), 40);
  EXPECT_EQ(two.acquired_in("cache_flusharray"), 0) << "nothing of it came into a CPU's array";
  EXPECT_GT(two.misses("kmem_cache_free", "kmem_list3", "alien"), 0U);
  EXPECT_GT(two.misses("kmem_cache_free", "slab", "nodeid"), 0U);
}

// The home is node 0, whose list_lock CPU 1 takes.
TEST(SlabNuma, ADrainTakesTheLockOfTheObjectsHome) {
  SlabMachine two(small_itanium(2));
  std::vector<Object> objects;
  in_turn(
      two, [&](Cpu& cpu) { objects = alloc_many(cpu, two.cache, 13); },
      [&](Cpu& cpu) {
        for (const Object& object : objects) two.cache.free(cpu, object);
      });
  std::set<std::string> locks;
  for (const Miss& miss : two.small.misses()) {
    const Symbol symbol = two.space.symbol(two.space.find(miss.address));
    if (miss.cpu.value == 1 && symbol.field == "list_lock") locks.insert(symbol.object);
  }
  EXPECT_EQ(locks, std::set<std::string>{"thing.node[0]"});
}

TEST(SlabNuma, TheLimitOfAnAlienArrayCanBeChosen) {
  SlabMachine two(small_itanium(2), {.alien_limit = 5});
  std::vector<Object> objects;
  in_turn(
      two, [&](Cpu& cpu) { objects = alloc_many(cpu, two.cache, 40); },
      [&](Cpu& cpu) {
        for (const Object& object : objects) two.cache.free(cpu, object);
      });
  EXPECT_EQ(two.acquired_in("__drain_alien_cache"), 39 / 5);
}

// One lock for each allocation, and one more after a slab is made.
TEST(SlabNuma, AllocatesOnAnotherNodeOneByOneUnderItsLock) {
  SlabMachine two(small_itanium(2));
  in_turn(
      two,
      [&](Cpu& cpu) {
        for (int i = 0; i < 20; ++i) EXPECT_EQ(two.home(two.cache.alloc_on(cpu, 1)), 1);
        EXPECT_EQ(two.home(two.cache.alloc_on(cpu, 0)), 0);
      },
      [](Cpu&) {});
  EXPECT_EQ(two.acquired_in("__cache_alloc_node"), 21);
}

TEST(SlabNuma, EmptySlabsBeyondTheLimitGoBackToThePageAllocator) {
  SlabMachine two(small_itanium(2), {}, 2000);
  in_turn(
      two,
      [&](Cpu& cpu) {
        const std::vector<Object> objects = alloc_many(cpu, two.cache, 1500);
        for (const Object& object : objects) two.cache.free(cpu, object);
      },
      [](Cpu&) {});
  EXPECT_GT(two.acquired_in("free_pages", "zone_lock"), 0);
}

class FromRemoteFrees : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(, FromRemoteFrees, testing::Bool(), [](const auto& tested) { return tested.param ? "on" : "off"; });

// Ten objects of node 0 wait at CPU 1 to go home. When it needs objects, it takes those, without any list's lock, or new ones
// from its own node.
TEST_P(FromRemoteFrees, ARefillTakesWhatWaitsForItsWayHome) {
  SlabMachine two(small_itanium(2), {.refill_from_remote_frees = GetParam()});
  std::vector<Object> objects;
  std::int64_t refills = 0;
  int of_node_0 = 0;
  in_turn(
      two, [&](Cpu& cpu) { objects = alloc_many(cpu, two.cache, 10); },
      [&](Cpu& cpu) {
        for (const Object& object : objects) two.cache.free(cpu, object);
        refills = two.acquired_in("cache_alloc_refill");
        for (const Object& object : alloc_many(cpu, two.cache, 10)) of_node_0 += two.home(object) == 0 ? 1 : 0;
        refills = two.acquired_in("cache_alloc_refill") - refills;
      });
  EXPECT_EQ(of_node_0, GetParam() ? 10 : 0);
  EXPECT_EQ(refills, GetParam() ? 0 : 2);
}

TEST(SlabUnaware, KeepsWhatItFreesWhereverItsHomeIs) {
  SlabMachine two(small_itanium(2), {.variant = "slab_unaware"});
  std::vector<Object> objects;
  in_turn(
      two, [&](Cpu& cpu) { objects = alloc_many(cpu, two.cache, 40); },
      [&](Cpu& cpu) {
        for (const Object& object : objects) two.cache.free(cpu, object);
        for (std::size_t i = objects.size(); i-- > 0;) EXPECT_EQ(two.cache.alloc(cpu), objects[i]) << "the last comes first";
      });
  EXPECT_EQ(two.misses("kmem_cache_free", "slab", "nodeid"), 0U);
}

// 64 objects of 256 bytes in a page without a header.
TEST(Slub, ARemoteFreeTakesTheSlabsLockAndAnotherCpusSlabIsNotTouched) {
  SlabMachine two(small_itanium(2), {.variant = "slub"});
  std::vector<Object> objects;
  in_turn(
      two,
      [&](Cpu& cpu) {
        objects = alloc_many(cpu, two.cache, 70);
        EXPECT_EQ(two.acquired_in("__slab_free", "page_flags"), 0);
        two.cache.free(cpu, objects.back());  // from its own slab
        objects.pop_back();
        EXPECT_EQ(two.acquired_in("__slab_free", "page_flags"), 0);
      },
      [&](Cpu& cpu) {
        for (const Object& object : objects) two.cache.free(cpu, object);
      });
  EXPECT_EQ(two.acquired_in("__slab_free", "page_flags"), 69);
  // The slab of 64 was full and belonged to no CPU: it enters the list with its first free and leaves it with its last.
  EXPECT_EQ(two.acquired_in("add_partial", "kmem_cache_node_list_lock"), 1);
  EXPECT_EQ(two.acquired_in("remove_partial", "kmem_cache_node_list_lock"), 1);
}

// CPU 0 of node 0: of 1000 objects, the share set by its policy comes from node 1; of those allocated in its handlers, none.
TEST(Interleaved, TheShareOfProcessesComesFromTheNextNode) {
  SlabMachine two(small_nodes(2, 2), {.interleaved_pct = 40}, 1200);
  int remote = 0;
  int remote_in_handler = 0;
  int in_handler = 0;
  const auto alloc = [&](Cpu& cpu, int& of_other_node) {
    const Object object = two.cache.alloc(cpu);
    of_other_node += two.home(object);
    two.cache.free(cpu, object);
  };
  int vector = 0;
  vector = two.kernel->interrupts().add_handler([&](Cpu& cpu, FunctionId) {
    cpu.set_timer(5000, vector);
    ++in_handler;
    alloc(cpu, remote_in_handler);
  });
  two.run([&](Cpu& cpu) {
    if (cpu.id().value != 0) return;
    cpu.set_timer(1000, vector);
    for (int i = 0; i < 1000; ++i) alloc(cpu, remote);
  });
  EXPECT_NEAR(remote, 400, 50);
  EXPECT_GT(in_handler, 20);
  EXPECT_EQ(remote_in_handler, 0);
}

TEST(SlabAllocator, RefusesWhatThereIsNoRoomFor) {
  KernelMachine two(small_itanium(2), {thing(), thing("page_and_more", 16512)});
  SlabAllocator thirteen(*two.kernel, {.alien_limit = 14});
  EXPECT_THROW(thirteen.create_cache("thing", 10), std::invalid_argument);
  SlabAllocator unknown(*two.kernel, {.variant = "slob"});
  EXPECT_THROW(unknown.create_cache("thing", 10), std::invalid_argument);
  SlabAllocator usual(*two.kernel, {});
  EXPECT_THROW(usual.create_cache("page_and_more", 10), std::invalid_argument);
}

class SlabChurn : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, SlabChurn, testing::ValuesIn(slab_variant_names()), [](const auto& tested) { return tested.param; });

TEST_P(SlabChurn, HandsObjectsFromCpuToCpuForAsLongAsItIsMeasured) {
  const MachineSpec spec = small_itanium(4);
  SmallMachine small(spec, {}, 0, 1000);
  const LayoutSet layouts = load_layout_file("linux_2_6_20", "").layouts;
  const Metrics metrics = run_workload("slab_churn", {{"allocator", GetParam()}}, small, spec, layouts);
  // Four CPUs, 2 us between two objects plus the objects' own time: far below 2 million per second, but not close to 0.
  EXPECT_GT(metrics.values.at("throughput.operations_per_s"), 2e5);
  EXPECT_LT(metrics.values.at("throughput.operations_per_s"), 2e6);
}

}  // namespace
}  // namespace linebounce::test
