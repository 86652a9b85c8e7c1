// Tests the promises of linebounce.hpp in a program that sees no other header. Prints each promise that does not hold. With a
// machine's name as its argument, plays ping-pong on that machine and prints the number of transfers by source.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <linebounce/linebounce.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace lb = linebounce::library;

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("%s\n", what);
  ++failures;
}

template <class Exception, class Action>
void expect_throw(Action action, const char* what) {
  try {
    action();
  } catch (const Exception&) {
    return;
  } catch (const std::exception& other) {
    std::printf("instead: %s\n", other.what());
  }
  expect(false, what);
}

// CPUs 0 and 1 take turns writing a word.
void ping_pong(lb::Simulation& simulation, int rounds) {
  const lb::Address ball = simulation.place("ball", 8);
  for (const int player : {0, 1}) {
    simulation.program(player, [=](lb::Cpu& cpu) {
      for (int round = 0; round < rounds; ++round) {
        cpu.spin_until(ball, [=](lb::Value value) { return value % 2 == static_cast<lb::Value>(player); });
        cpu.fetch_add(ball, 1);
      }
    });
  }
}

void several_simulations_do_not_touch_each_other() {
  lb::Simulation first("p3_xeon_4way");
  lb::Simulation second("numaq_16way");
  lb::Simulation third("p3_xeon_4way");
  for (lb::Simulation* simulation : {&first, &second, &third}) ping_pong(*simulation, 50);
  const lb::Statistics numa = second.run();
  const lb::Statistics one = first.run();
  const lb::Statistics again = third.run();
  expect(one.time_ns == again.time_ns && one.transfers.count == again.transfers.count, "equal runs are equal");
  // Each of the 100 turns fetches the line from the other cache at least once.
  expect(one.transfers.count.at("local_c2c") >= 99, "each turn is a transfer on the bus");
  expect(numa.transfers.count.at("remote_c2c") >= 99, "on NUMA-Q the first two CPUs are on two nodes");
  expect(numa.time_ns > 2 * one.time_ns, "and there a turn takes longer");
  expect(one.lines.size() == 1 && one.lines[0].object == "ball" && one.lines[0].line == 0, "the ball's line is the only one");
  expect(one.lines[0].transfers.total() == one.transfers.total(), "all transfers are of that line");
}

// Checks everything that a run returns.
std::string text_of(const lb::Statistics& statistics) {
  std::string text = std::to_string(statistics.time_ns);
  const auto add = [&text](const lb::Transfers& transfers) {
    for (const auto& [source, number] : transfers.count) text += " " + source + " " + std::to_string(number);
    text += " " + std::to_string(transfers.total_latency_ns) + "\n";
  };
  add(statistics.transfers);
  for (const lb::LineCost& line : statistics.lines) {
    text += line.object + " " + std::to_string(line.line);
    add(line.transfers);
  }
  return text;
}

void simulations_in_threads_are_each_as_alone() {
  const std::vector<std::string> machines = {"p3_xeon_4way", "numaq_16way", "generic_2socket_32core", "p4_xeon_ht_2way"};
  const auto played = [](const std::string& machine) {
    lb::Simulation simulation(machine);
    ping_pong(simulation, 200);
    return text_of(simulation.run());
  };
  std::vector<std::string> alone, together(machines.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < machines.size(); ++i) threads.emplace_back([&, i] { together[i] = played(machines[i]); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& machine : machines) alone.push_back(played(machine));
  expect(alone == together, "a simulation is the same beside others in other threads");
}

// Makes a folder whose "p3_xeon_4way" has one CPU fewer. This program may write to `home`.
void each_simulation_reads_the_files_of_its_own_home(const std::filesystem::path& home) {
  namespace fs = std::filesystem;
  for (const char* part : {"configs", "models/protocols"}) {
    fs::create_directories((home / part).parent_path());
    constexpr auto kAsOften = fs::copy_options::recursive | fs::copy_options::overwrite_existing;
    fs::copy(fs::path(LINEBOUNCE_HOME) / part, home / part, kAsOften);
  }
  const fs::path file = home / "configs/machines/p3_xeon_4way.toml";
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  const std::string four = "cpus   = 4";
  std::string three = text.str();
  expect(three.find(four) != std::string::npos, "the file states its CPUs");
  three.replace(three.find(four), four.size(), "cpus   = 3");
  std::ofstream(file) << three;
  const lb::Simulation installed("p3_xeon_4way");
  const lb::Simulation changed("p3_xeon_4way", home.string());
  const lb::Simulation again("p3_xeon_4way");
  expect(installed.cpus() == 4 && changed.cpus() == 3 && again.cpus() == 4, "each reads its own files");
  expect_throw<std::runtime_error>([] { lb::Simulation("p3_xeon_4way", "/"); }, "a home has configurations");
}

void a_local_line_is_cheaper_than_a_remote_one() {
  const auto cost = [](int node) {
    lb::Simulation simulation("numaq_16way");
    const lb::Address word = simulation.place("word", 8, node);
    simulation.preset(word, 42);
    lb::Value seen = 0;
    double took = 0;
    simulation.program(0, [&](lb::Cpu& cpu) {
      const double before = cpu.now_ns();
      seen = cpu.load(word);
      took = cpu.now_ns() - before;
    });
    const lb::Statistics statistics = simulation.run();
    expect(seen == 42, "a word holds what it was preset to");
    expect(statistics.transfers.count.contains(node == 0 ? "local_memory" : "remote_memory"), "its home is that node");
    return took;
  };
  expect(cost(1) > 2 * cost(0), "memory of another node is much farther away");
}

void errors_are_exceptions() {
  expect_throw<std::runtime_error>([] { lb::Simulation("no_such_machine"); }, "an unknown machine is refused");
  lb::Simulation simulation("p3_xeon_4way");
  expect_throw<std::out_of_range>([&] { simulation.program(4, {}); }, "there is no fifth CPU");
  expect_throw<std::out_of_range>([&] { simulation.place("word", 8, 7); }, "there is no node 7");
  expect_throw<std::invalid_argument>([&] { simulation.place("nothing", 0); }, "an object has a byte");
  expect_throw<std::invalid_argument>([&] { simulation.preset(4, 1, 8); }, "a word of 8 bytes does not begin at byte 4");
  expect_throw<std::invalid_argument>([&] { simulation.preset(0, 1, 3); }, "no word has 3 bytes");
  expect_throw<std::out_of_range>([&] { simulation.program(-1, {}); }, "there is no CPU before the first");
  expect_throw<std::invalid_argument>([&] { simulation.place("endless", std::int64_t{1} << 62); }, "an object has an end");
  expect_throw<std::out_of_range>([&] { simulation.preset(1 << 20, 1); }, "what was never placed is not preset");
  simulation.program(0, [](lb::Cpu&) { throw std::domain_error("the program's own"); });
  expect_throw<std::domain_error>([&] { simulation.run(); }, "what a program throws leaves run()");
  expect_throw<std::logic_error>([&] { simulation.run(); }, "it runs once");
  expect_throw<std::logic_error>([&] { simulation.program(0, {}); }, "and takes no program afterwards");
  lb::Simulation outer("p3_xeon_4way");
  outer.program(0, [](lb::Cpu&) { lb::Simulation("p3_xeon_4way"); });
  expect_throw<std::logic_error>([&] { outer.run(); }, "none is made inside another's program");
  lb::Simulation waiting("p3_xeon_4way");
  const lb::Address never = waiting.place("never", 8);
  waiting.program(1, [=](lb::Cpu& cpu) { cpu.spin_until(never, [](lb::Value value) { return value != 0; }); });
  expect_throw<std::runtime_error>([&] { waiting.run(); }, "a deadlock is reported");
  lb::Simulation behind("p3_xeon_4way");
  ping_pong(behind, 2);
  expect(behind.run().transfers.total() > 0, "after a failure the next one runs");
}

// A program may catch the exception and continue: a refused call has no effect.
void calls_with_wrong_arguments_are_exceptions() {
  lb::Simulation simulation("p3_xeon_4way");
  const lb::Address word = simulation.place("word", 8);
  const lb::Address end = word + static_cast<lb::Address>(simulation.line_bytes());
  simulation.program(0, [=](lb::Cpu& cpu) {
    for (const int bytes : {-8, 0, 3, 16, 64}) {
      expect_throw<std::invalid_argument>([&] { cpu.load(word, bytes); }, "a word has 1, 2, 4 or 8 bytes");
      expect_throw<std::invalid_argument>([&] { cpu.fetch_add(word, 1, bytes); }, "and an atomic one, too");
    }
    expect_throw<std::invalid_argument>([&] { cpu.store(word + 4, 1, 8); }, "a word lies at a multiple of its size");
    expect_throw<std::invalid_argument>([&] { cpu.exchange(end - 1, 1, 2); }, "and so never in two lines");
    for (const lb::Address outside : {lb::Address{0}, end, word - 8, ~lb::Address{7}}) {
      expect_throw<std::out_of_range>([&] { cpu.load(outside); }, "nothing is placed there");
      expect_throw<std::out_of_range>([&] { cpu.store_release(outside, 1); }, "nor stored");
      expect_throw<std::out_of_range>([&] { cpu.compare_exchange(outside, 0, 1); }, "nor exchanged");
      expect_throw<std::out_of_range>([&] { cpu.prefetch(outside); }, "nor fetched");
      expect_throw<std::out_of_range>([&] { cpu.spin_until(outside, [](lb::Value) { return true; }); }, "nor awaited");
    }
    expect_throw<std::invalid_argument>([&] { cpu.spin_until(word, nullptr); }, "a spin has a condition");
    for (const std::int64_t amount : {std::int64_t{-1}, INT64_MIN, INT64_MAX, lb::Cpu::kMostAtOnce + 1}) {
      expect_throw<std::invalid_argument>([&] { cpu.compute(amount); }, "a computation is not negative, and ends");
      expect_throw<std::invalid_argument>([&] { cpu.execute(amount); }, "and so are instructions");
    }
    cpu.compute(0);
    cpu.execute(0);
    cpu.fetch_add(word, 1);
    expect(cpu.load(word) == 1, "what was refused has done nothing");
  });
  expect(simulation.run().transfers.total() == 1, "nor has it moved a line");
}

// An object ends with its last byte, although its line goes on.
void an_access_stays_within_the_objects_bytes() {
  lb::Simulation simulation("p3_xeon_4way");
  const auto line = static_cast<lb::Address>(simulation.line_bytes());
  const lb::Address three = simulation.place("three", 3), next = simulation.place("next", 1);
  const lb::Address long_one = simulation.place("long", static_cast<std::int64_t>(line) + 4);
  expect(three / line != next / line && next / line != long_one / line, "no other object shares its lines");
  expect_throw<std::out_of_range>([&] { simulation.preset(three, 1, 4); }, "three bytes are less than four");
  expect_throw<std::out_of_range>([&] { simulation.preset(three + 3, 1, 1); }, "and there is no fourth");
  simulation.preset(three + 2, 7, 1);
  simulation.program(0, [=](lb::Cpu& cpu) {
    expect(cpu.load(three + 2, 1) == 7 && cpu.load(three, 2) == 0,
           "words within the object are read, zeros where nothing is set");
    for (const int bytes : {4, 8}) {
      expect_throw<std::out_of_range>([&] { cpu.load(three, bytes); }, "a word that ends behind its object");
      expect_throw<std::out_of_range>([&] { cpu.store(three, 1, bytes); }, "is not stored");
      expect_throw<std::out_of_range>([&] { cpu.store_release(three, 1, bytes); }, "nor released");
      expect_throw<std::out_of_range>([&] { cpu.exchange(three, 1, bytes); }, "nor exchanged");
      expect_throw<std::out_of_range>([&] { cpu.fetch_add(three, 1, bytes); }, "nor added to");
      expect_throw<std::out_of_range>([&] { cpu.compare_exchange(three, 0, 1, bytes); }, "nor compared");
      expect_throw<std::out_of_range>(
          [&] {
            cpu.spin_until(
                three, [](lb::Value) { return true; }, bytes);
          },
          "nor awaited");
    }
    for (lb::Address byte = three + 3; byte < next; ++byte)
      expect_throw<std::out_of_range>([&] { cpu.load(byte, 1); }, "the rest of the line is in no object");
    expect_throw<std::out_of_range>([&] { cpu.prefetch(three + 3); }, "nor fetched");
    expect_throw<std::out_of_range>([&] { cpu.load(long_one + line, 8); }, "nor is the rest of the last of several lines");
    cpu.store(long_one + line, 5, 4);
    expect(cpu.load(long_one + line, 4) == 5, "whose first bytes are");
  });
  const lb::Statistics statistics = simulation.run();
  bool has_second_line = false;
  for (const lb::LineCost& cost : statistics.lines) {
    expect(cost.object == "three" || (cost.object == "long" && cost.line == 1), "only these lines were touched");
    has_second_line |= cost.object == "long";
  }
  expect(has_second_line, "lines count from 0 in their object");
}

void operations_return_the_value_before_and_only_they_take_time() {
  lb::Simulation simulation("p3_xeon_4way");
  const lb::Address word = simulation.place("word", 8);
  double ended = 0;
  int asked = 0;
  simulation.program(0, [&](lb::Cpu& cpu) {
    expect(cpu.number() == 0, "it runs on CPU 0");
    expect(cpu.load(word) == 0, "an object is filled with zeros");
    expect(cpu.exchange(word, 3) == 0 && cpu.fetch_add(word, 2) == 3, "exchange and addition return the value before");
    expect(cpu.compare_exchange(word, 4, 9) == 5 && cpu.load(word) == 5,
           "so does a comparison that fails, which stores nothing");
    expect(cpu.compare_exchange(word, 5, 9) == 5 && cpu.load(word) == 9, "and one that does not");
    const double before = cpu.now_ns();
    volatile double work = 0;
    for (int i = 0; i < 100000; ++i) work = work + i;
    expect(cpu.now_ns() == before && cpu.now_ns() == before,
           "what the program does between calls takes no time, nor does the clock");
    for (const auto& operation : std::vector<std::function<void()>>{[&] { cpu.load(word); }, [&] { cpu.store(word, 1); },
                                                                    [&] { cpu.fetch_add(word, 1); }, [&] { cpu.compute(10); },
                                                                    [&] { cpu.execute(100); }}) {
      const double begun = cpu.now_ns();
      operation();
      expect(cpu.now_ns() > begun, "an operation takes time");
    }
    cpu.store(word, 0);
    cpu.compute(10000);
    for (int i = 0; i < 3; ++i) {
      cpu.compute(5000);
      cpu.fetch_add(word, 1);
    }
  });
  simulation.program(1, [&](lb::Cpu& cpu) {
    cpu.compute(5000);
    const lb::Value seen = cpu.spin_until(word, [&](lb::Value value) { return ++asked, value == 3; });
    expect(seen == 3, "a spin returns the value for which `done` was true");
    ended = cpu.now_ns();
  });
  const double time_ns = simulation.run().time_ns;
  expect(asked <= 12, "`done` is called once for each change, however long the wait");
  expect(time_ns >= ended, "the time lasts until the last program has ended");
}

void misses_are_counted_by_supplier_and_the_costliest_line_is_first() {
  lb::Simulation simulation("p3_xeon_4way");
  const lb::Address once = simulation.place("once", 8), often = simulation.place("often", 8),
                    flag = simulation.place("flag", 8);
  for (const int number : {0, 1}) {
    simulation.program(number, [=](lb::Cpu& cpu) {
      if (number == 0) cpu.load(once);
      for (int round = 0; round < 20; ++round) {
        cpu.spin_until(flag, [=](lb::Value value) { return value % 2 == static_cast<lb::Value>(number); });
        cpu.load(often);
        cpu.store(often, 1);
        cpu.fetch_add(flag, 1);
      }
    });
  }
  const lb::Statistics statistics = simulation.run();
  std::int64_t sum = 0;
  for (const auto& [source, number] : statistics.transfers.count) {
    const std::vector<std::string> known = {"local_c2c",  "local_memory", "remote_memory",
                                            "remote_c2c", "node_cache",   "upgrade"};
    expect(std::find(known.begin(), known.end(), source) != known.end(), "a supplier is one that the header names");
    sum += number;
  }
  expect(sum == statistics.transfers.total(), "the total is the sum");
  expect(statistics.transfers.count.at("upgrade") >= 19, "a store to a line of which the CPU has a copy is an upgrade");
  expect(statistics.lines.size() == 3 && statistics.lines.back().object == "once", "the line that missed once comes last");
  for (std::size_t i = 1; i < statistics.lines.size(); ++i)
    expect(statistics.lines[i - 1].transfers.total_latency_ns >= statistics.lines[i].transfers.total_latency_ns,
           "the costliest line comes first");
}

void a_program_has_a_stack_of_256_kib() {
  lb::Simulation simulation("p3_xeon_4way");
  simulation.program(0, [](lb::Cpu& cpu) {
    volatile char most[224 * 1024];
    for (std::size_t i = 0; i < sizeof most; i += 1024) most[i] = static_cast<char>(i);
    cpu.compute(1);
    expect(most[1024 * 7] == static_cast<char>(1024 * 7), "the stack is the program's own");
  });
  simulation.run();
}

void a_machine_is_a_name_or_a_file_and_an_error_has_its_place(const std::filesystem::path& folder) {
  const std::filesystem::path shipped = std::filesystem::path(LINEBOUNCE_HOME) / "configs/machines/p3_xeon_4way.toml";
  const std::filesystem::path file = folder / "mine.toml", wrong = folder / "wrong.toml";
  std::ostringstream text;
  text << std::ifstream(shipped).rdbuf();
  std::ofstream(file) << text.str();
  std::ofstream(wrong) << text.str() << "\n[nothing]\n";
  expect(lb::Simulation(file.string()).cpus() == 4, "a file is a machine");
  try {
    lb::Simulation{wrong.string()};
    expect(false, "an unknown table is refused");
  } catch (const std::runtime_error& error) {
    const std::string said = error.what();
    expect(said.find("wrong.toml:") != said.npos && said.find("nothing") != said.npos, "the message has file, line and key");
  }
  try {
    lb::Simulation("p3_xeon_4wy");
    expect(false, "an unknown name is refused");
  } catch (const std::runtime_error& error) {
    expect(std::string(error.what()).find("p3_xeon_4way") != std::string::npos, "the message has what is legal");
  }
}

void the_environment_names_the_home(const std::filesystem::path& home) {
  ::setenv("LINEBOUNCE_ROOT", home.c_str(), 1);
  expect(lb::Simulation("p3_xeon_4way").cpus() == 3, "LINEBOUNCE_ROOT comes before the installed folder");
  expect(lb::Simulation("p3_xeon_4way", LINEBOUNCE_HOME).cpus() == 3, "and before `home`");
  ::unsetenv("LINEBOUNCE_ROOT");
}

void none_is_run_by_the_program_of_another() {
  lb::Simulation inner("p3_xeon_4way"), outer("p3_xeon_4way");
  outer.program(0, [&](lb::Cpu&) { inner.run(); });
  expect_throw<std::logic_error>([&] { outer.run(); }, "none is run inside another's program");
  expect_throw<std::invalid_argument>([&] { inner.place("too large", lb::Simulation::kMostBytes + 1); },
                                      "an object has a size");
  inner.run();
  expect_throw<std::logic_error>([&] { inner.place("late", 8); }, "nothing is placed after the run");
  expect_throw<std::logic_error>([&] { inner.preset(64, 1); }, "nor preset");
}

// A CPU that another program or thread uses would go on on a stack that is not its own.
void a_cpu_is_its_own_programs_alone() {
  lb::Simulation simulation("p3_xeon_4way");
  const auto word = simulation.place("word", 8);
  lb::Cpu* first = nullptr;
  simulation.program(0, [&](lb::Cpu& cpu) {
    first = &cpu;
    std::thread([&] { expect_throw<std::logic_error>([&] { cpu.fetch_add(word, 1); }, "another thread is refused"); }).join();
    cpu.compute(1000);
    cpu.fetch_add(word, 1);
  });
  simulation.program(1, [&](lb::Cpu& cpu) {
    cpu.compute(10);
    expect_throw<std::logic_error>([&] { first->fetch_add(word, 1); }, "another CPU's program is refused");
    cpu.compute(10000);
    expect(cpu.load(word) == 1, "what was refused has done nothing");
  });
  simulation.run();
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) {
    lb::Simulation simulation(arguments[1]);
    ping_pong(simulation, 50);
    const lb::Transfers transfers = simulation.run().transfers;
    for (const auto& [source, number] : transfers.count)
      std::printf("%s %lld\n", source.c_str(), static_cast<long long>(number));
    std::printf("total_ns %.3f\n", transfers.total_latency_ns);
    return 0;
  }
  simulations_in_threads_are_each_as_alone();  // comes first, before anything has been made that threads would share
  several_simulations_do_not_touch_each_other();
  each_simulation_reads_the_files_of_its_own_home(std::filesystem::current_path() / "home");
  a_local_line_is_cheaper_than_a_remote_one();
  errors_are_exceptions();
  calls_with_wrong_arguments_are_exceptions();
  a_cpu_is_its_own_programs_alone();
  an_access_stays_within_the_objects_bytes();
  operations_return_the_value_before_and_only_they_take_time();
  misses_are_counted_by_supplier_and_the_costliest_line_is_first();
  a_program_has_a_stack_of_256_kib();
  a_machine_is_a_name_or_a_file_and_an_error_has_its_place(std::filesystem::current_path());
  none_is_run_by_the_program_of_another();
  the_environment_names_the_home(std::filesystem::current_path() / "home");
  return failures == 0 ? 0 : 1;
}
