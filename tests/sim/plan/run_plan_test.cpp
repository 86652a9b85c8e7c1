#include "sim/plan/run_plan.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

#include "sim/plan/output_directory.hpp"
#include "sim/plan/process_pool.hpp"
#include "sim/results/result_files.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

// The cost that a run reports depends on its CPUs and its seed.
PointData costs(const SimulationInput& input, const std::function<void(double)>&) {
  PointData data;
  data.metrics["cost.x"] = {input.machine.cpus * 10.0 + static_cast<double>(input.seed), "ns"};
  data.latency = {{"kernel", "l2", 9, 12.8571, input.machine.cpus}};
  data.references = 100;
  return data;
}

Point with_cpus(const PointPlace& place, int cpus) {
  Point point{place, {}, {}};
  point.input.machine.cpus = cpus;
  return point;
}

// One point for each number of CPUs; if empty, an experiment without a sweep.
Plan plan_over_cpus(const std::vector<int>& cpus, int seeds = 1) {
  Plan plan;
  plan.experiment.name = "x";
  plan.experiment.machine_name = "m";
  plan.experiment.seeds = seeds;
  plan.hash = "00000000000000ff";
  if (cpus.empty()) {
    plan.points.emplace_back();
    plan.make_point = [](int) { return with_cpus({}, 1); };
    plan.hashes = {plan.hash};
    return plan;
  }
  plan.experiment.sweep.push_back({{"machine.cpus"}, {{}}});
  for (const int count : cpus) {
    plan.points.push_back({static_cast<int>(plan.points.size()), {{"machine.cpus", std::int64_t{count}}}});
    plan.hashes.push_back("000000000000000" + std::to_string(count));
  }
  plan.make_point = [places = plan.points, cpus](int number) {
    const auto index = static_cast<std::size_t>(number);
    return with_cpus(places[index], cpus[index]);
  };
  return plan;
}

class RunPlan : public testing::Test {
 protected:
  void TearDown() override { fs::remove_all(folder); }

  [[nodiscard]] RunOptions options(Simulation simulation = costs) const {
    RunOptions options;
    options.directory = folder / "out";
    options.argv = {"linebounce"};
    options.simulation = std::move(simulation);
    return options;
  }
  [[nodiscard]] std::string text_of(const std::string& name) const { return read_file(folder / "out" / name); }
  [[nodiscard]] RunStatus status() const { return manifest_in(folder / "out")->status; }

  fs::path folder = fs::temp_directory_path() / ("linebounce_run_plan_test_" + std::to_string(::getpid()));
};

PointData never(const SimulationInput&, const std::function<void(double)>&) {
  throw std::logic_error("ran again");
}

double value_of(const RunReport& report, std::size_t point) {
  return as_double(report.results.points.at(point).metrics.at("cost.x").value);
}

TEST_F(RunPlan, WithoutASweepThePointsFilesAreTheTopLevel) {
  const RunReport report = run_plan(plan_over_cpus({}), options());
  EXPECT_EQ(report.code, ExitCode::done);
  EXPECT_EQ(value_of(report, 0), 11);
  EXPECT_FALSE(fs::exists(folder / "out/points"));
  EXPECT_EQ(text_of("latency.csv"), "point,kind,source,latency_cycles,latency_ns,count\n0,kernel,l2,9,12.8571,1\n");
  EXPECT_EQ(status(), RunStatus::complete);
}

TEST_F(RunPlan, WithASweepPointsAreMergedInTheirOrderWhateverEndsFirst) {
  const auto slow_first = [](const SimulationInput& input, const std::function<void(double)>& progress) {
    if (input.machine.cpus == 1) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    return costs(input, progress);
  };
  RunOptions two_at_once = options(slow_first);
  two_at_once.at_once = 2;
  const RunReport report = run_plan(plan_over_cpus({1, 2, 4}), two_at_once);
  EXPECT_EQ(value_of(report, 0), 11);
  EXPECT_EQ(value_of(report, 2), 41);
  EXPECT_EQ(text_of("latency.csv"),
            "point,kind,source,latency_cycles,latency_ns,count\n"
            "0,kernel,l2,9,12.8571,1\n1,kernel,l2,9,12.8571,2\n2,kernel,l2,9,12.8571,4\n");
  EXPECT_EQ(text_of("points/2/latency.csv"), "point,kind,source,latency_cycles,latency_ns,count\n2,kernel,l2,9,12.8571,4\n");
}

TEST_F(RunPlan, SeedsOfAPointCountUpFromTheFirst) {
  const RunReport report = run_plan(plan_over_cpus({}, 3), options());
  EXPECT_EQ(value_of(report, 0), 12);                                               // 11, 12, 13
  EXPECT_NEAR(*report.results.points[0].metrics.at("cost.x").ci95, 2.48434, 1e-4);  // 4.303 / sqrt(3)
}

TEST_F(RunPlan, NothingIsLeftInTheDirectoryButTheContractsFiles) {
  run_plan(plan_over_cpus({}, 2), options());
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder / "out")) names.push_back(entry.path().filename().string());
  EXPECT_THAT(names, testing::UnorderedElementsAre("manifest.json", "config.toml", "results.json", "latency.csv", "locks.csv",
                                                   "lines.csv", "transitions.csv", "cpi.csv", "seeds.csv"));
}

TEST_F(RunPlan, FinishedPointsAreNotRunAgain) {
  run_plan(plan_over_cpus({1, 2}), options());
  const std::string before = text_of("results.json");
  const RunReport report = run_plan(plan_over_cpus({1, 2}), options(never));
  EXPECT_EQ(report.code, ExitCode::done);
  EXPECT_EQ(report.reused, 2);
  EXPECT_EQ(text_of("results.json"), before);
}

TEST_F(RunPlan, APointWithoutItsManifestIsRunAgainAndTheOthersAreNot) {
  run_plan(plan_over_cpus({1, 2}), options());
  const std::string before = text_of("results.json");
  fs::remove(folder / "out/points/1/manifest.json");
  const auto only_two = [](const SimulationInput& input, const std::function<void(double)>& progress) {
    if (input.machine.cpus != 2) throw std::logic_error("ran again");
    return costs(input, progress);
  };
  const RunReport report = run_plan(plan_over_cpus({1, 2}), options(only_two));
  EXPECT_EQ(report.code, ExitCode::done);
  EXPECT_EQ(report.reused, 1);
  EXPECT_EQ(text_of("results.json"), before);
}

TEST_F(RunPlan, SeedsThatWereDoneBeforeAnInterruptAreKept) {
  const auto fails_at_two = [](const SimulationInput& input, const std::function<void(double)>& progress) {
    if (input.seed == 2) throw SimulationFailure("not yet");
    return costs(input, progress);
  };
  run_plan(plan_over_cpus({}, 2), options(fails_at_two));
  const auto only_seed_two = [](const SimulationInput& input, const std::function<void(double)>& progress) {
    if (input.seed != 2) throw std::logic_error("ran again");
    return costs(input, progress);
  };
  const RunReport report = run_plan(plan_over_cpus({}, 2), options(only_seed_two));
  EXPECT_EQ(report.code, ExitCode::done);
  EXPECT_EQ(value_of(report, 0), 11.5);
}

TEST_F(RunPlan, AnotherConfigurationsResultsAreRefused) {
  run_plan(plan_over_cpus({}), options());
  Plan other = plan_over_cpus({});
  other.hash = other.hashes[0] = "00000000000000aa";
  try {
    run_plan(other, options());
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("holds results"));
    EXPECT_THAT(error.what(), HasSubstr("--fresh"));
  }
}

TEST_F(RunPlan, FreshMovesOurFilesAndNoOthersIntoANeighbour) {
  run_plan(plan_over_cpus({1, 2, 4}), options());
  write_file(folder / "out/notes.txt", "mine");
  write_file(folder / "out/points/1/notes.txt", "mine too");
  RunOptions fresh = options();
  fresh.earlier = EarlierResults::set_aside;
  run_plan(plan_over_cpus({}), fresh);
  EXPECT_EQ(text_of("notes.txt"), "mine");
  EXPECT_EQ(text_of("points/1/notes.txt"), "mine too");
  EXPECT_FALSE(fs::exists(folder / "out/points/1/results.json"));
  EXPECT_FALSE(fs::exists(folder / "out/points/0"));
  EXPECT_EQ(manifest_in(folder / "out.1")->status, RunStatus::complete);
  EXPECT_TRUE(fs::exists(folder / "out.1/points/1/results.json"));
}

TEST_F(RunPlan, FilesWithOurNamesThatAreNotOursAreNeverOverwritten) {
  fs::create_directories(folder / "out");
  write_file(folder / "out/config.toml", "mine");
  RunOptions fresh = options();
  fresh.earlier = EarlierResults::set_aside;
  EXPECT_THROW(run_plan(plan_over_cpus({}), options()), ConfigError);
  EXPECT_THROW(run_plan(plan_over_cpus({}), fresh), ConfigError);
  EXPECT_EQ(text_of("config.toml"), "mine");
}

TEST_F(RunPlan, AFailedPointDoesNotStopTheOthersAndIsNamed) {
  const auto deadlock_at_two = [](const SimulationInput& input, const std::function<void(double)>& progress) {
    if (input.machine.cpus == 2) throw SimulationFailure("deadlock\nline 0x40");
    return costs(input, progress);
  };
  const RunReport report = run_plan(plan_over_cpus({1, 2, 4}), options(deadlock_at_two));
  EXPECT_EQ(report.code, ExitCode::simulation_failed);
  ASSERT_EQ(report.failures.size(), 1U);
  EXPECT_EQ(report.failures[0].point, 1);
  EXPECT_EQ(report.failures[0].failure.message, "deadlock\nline 0x40");
  EXPECT_EQ(value_of(report, 2), 41);
  EXPECT_TRUE(report.results.points[1].metrics.empty());
  EXPECT_EQ(status(), RunStatus::failed);
  EXPECT_EQ(manifest_in(folder / "out")->failed_points.at(0).reason, "deadlock");
}

TEST_F(RunPlan, AFailedPointIsRunAgainNextTime) {
  run_plan(plan_over_cpus({}), options([](const auto&, const auto&) -> PointData { throw SimulationFailure("deadlock"); }));
  EXPECT_EQ(run_plan(plan_over_cpus({}), options()).code, ExitCode::done);
  EXPECT_EQ(status(), RunStatus::complete);
}

TEST_F(RunPlan, TheLargestOfDifferentExitCodesIsReturned) {
  const auto both = [](const SimulationInput& input, const std::function<void(double)>&) -> PointData {
    if (input.machine.cpus == 1) std::abort();
    throw SimulationFailure("deadlock");
  };
  EXPECT_EQ(run_plan(plan_over_cpus({1, 2}), options(both)).code, ExitCode::internal_bug);
}

TEST_F(RunPlan, AMetricThatIsNotANumberIsABugOfItsPoint) {
  const auto divides_by_zero = [](const SimulationInput&, const std::function<void(double)>&) {
    PointData data;
    data.metrics["cost.x"] = {std::numeric_limits<double>::quiet_NaN(), "ns"};
    return data;
  };
  const RunReport report = run_plan(plan_over_cpus({}), options(divides_by_zero));
  EXPECT_EQ(report.code, ExitCode::internal_bug);
  EXPECT_THAT(report.failures.at(0).failure.message, HasSubstr("cost.x"));
}

TEST_F(RunPlan, AnInterruptKeepsWhatIsFinishedAndTheNextRunGoesOn) {
  const auto endless_at_two = [](const SimulationInput& input, const std::function<void(double)>& progress) {
    if (input.machine.cpus == 2) {
      ::kill(::getppid(), SIGINT);
      std::this_thread::sleep_for(std::chrono::hours(1));
    }
    return costs(input, progress);
  };
  const RunReport report = run_plan(plan_over_cpus({1, 2, 4}), options(endless_at_two));
  EXPECT_EQ(report.code, ExitCode::interrupted);
  EXPECT_THAT(report.missing, ElementsAre(1, 2));
  EXPECT_EQ(value_of(report, 0), 11);
  EXPECT_EQ(status(), RunStatus::interrupted);
  const RunReport next = run_plan(plan_over_cpus({1, 2, 4}), options());
  EXPECT_EQ(next.code, ExitCode::done);
  EXPECT_EQ(next.reused, 1);
}

TEST_F(RunPlan, PointsRunAloneAndThenMergedAreTheSameRun) {
  run_plan(plan_over_cpus({1, 2}), options());
  const std::string at_once = text_of("results.json") + text_of("latency.csv") + text_of("config.toml");
  fs::remove_all(folder / "out");
  run_one_point(plan_over_cpus({1, 2}), 1, options());
  EXPECT_EQ(status(), RunStatus::interrupted);
  run_one_point(plan_over_cpus({1, 2}), 0, options());
  EXPECT_EQ(merge_plan(plan_over_cpus({1, 2}), options()).code, ExitCode::done);
  EXPECT_EQ(text_of("results.json") + text_of("latency.csv") + text_of("config.toml"), at_once);
  EXPECT_EQ(status(), RunStatus::complete);
}

TEST_F(RunPlan, MergingNamesThePointsThatAreMissing) {
  run_one_point(plan_over_cpus({1, 2, 4}), 1, options());
  const RunReport report = merge_plan(plan_over_cpus({1, 2, 4}), options());
  EXPECT_EQ(report.code, ExitCode::unreadable_input);
  EXPECT_THAT(report.missing, ElementsAre(0, 2));
}

TEST_F(RunPlan, APlanKnowsWhichPointsADirectoryHas) {
  const Plan plan = plan_over_cpus({1, 2, 4});
  EXPECT_THAT(done_points(plan, folder / "out"), ElementsAre());
  run_one_point(plan, 1, options());
  EXPECT_THAT(done_points(plan, folder / "out"), ElementsAre(1));
  Plan other = plan;
  other.hash = "00000000000000ee";
  EXPECT_THROW(done_points(other, folder / "out"), ConfigError);
  EXPECT_THAT(plan_text(plan, done_points(plan, folder / "out")), HasSubstr("\"done\""));
  EXPECT_THAT(plan_text(plan), Not(HasSubstr("\"done\"")));
}

TEST_F(RunPlan, AFreshMergeLeavesADirectoryThatHasNoPoint) {
  run_plan(plan_over_cpus({1, 2, 4}), options());
  RunOptions fresh = options();
  fresh.earlier = EarlierResults::set_aside;
  EXPECT_EQ(merge_plan(plan_over_cpus({1, 2}), fresh).code, ExitCode::unreadable_input);
  EXPECT_EQ(status(), RunStatus::interrupted);
  EXPECT_THAT(done_points(plan_over_cpus({1, 2}), folder / "out"), ElementsAre());
  EXPECT_FALSE(fs::exists(folder / "out/points"));
}

TEST_F(RunPlan, MergingReportsAPointThatFailedInAnotherProcess) {
  const auto deadlock = [](const auto&, const auto&) -> PointData { throw SimulationFailure("deadlock\nline 0x40"); };
  run_one_point(plan_over_cpus({1, 2}), 0, options());
  run_one_point(plan_over_cpus({1, 2}), 1, options(deadlock));
  const RunReport report = merge_plan(plan_over_cpus({1, 2}), options());
  EXPECT_EQ(report.code, ExitCode::simulation_failed);
  ASSERT_EQ(report.failures.size(), 1U);
  EXPECT_EQ(report.failures[0].point, 1);
  EXPECT_EQ(report.failures[0].failure.message, "deadlock");
}

TEST_F(RunPlan, ADamagedPointIsRunAgainAndNamed) {
  run_plan(plan_over_cpus({1, 2}), options());
  const std::string before = text_of("results.json");
  std::ofstream(folder / "out/points/1/results.json") << "{";
  const RunReport report = run_plan(plan_over_cpus({1, 2}), options());
  EXPECT_EQ(report.code, ExitCode::done);
  EXPECT_EQ(report.reused, 1);
  ASSERT_EQ(report.damaged.size(), 1U);
  EXPECT_EQ(report.damaged[0].point, 1);
  EXPECT_THAT(report.damaged[0].reason, HasSubstr("results.json has changed"));
  EXPECT_EQ(text_of("results.json"), before);
}

TEST_F(RunPlan, PaperRowsThatHaveChangedAreNotDamage) {
  run_plan(plan_over_cpus({}), options());
  Plan retitled = plan_over_cpus({});
  retitled.experiment.name = "y";
  EXPECT_TRUE(run_plan(retitled, options(never)).damaged.empty());
  const RunReport report = run_plan(retitled, options(never));
  EXPECT_EQ(report.reused, 1);
  EXPECT_TRUE(report.damaged.empty());
}

TEST_F(RunPlan, ASeedsOutcomeThatHasChangedIsRunAgain) {
  const auto fails_at_two = [](const SimulationInput& input, const std::function<void(double)>& progress) {
    if (input.seed == 2) throw SimulationFailure("not yet");
    return costs(input, progress);
  };
  run_plan(plan_over_cpus({}, 2), options(fails_at_two));
  const fs::path of_seed_one = seed_path(folder / "out", 1);
  std::string text = read_file(of_seed_one);
  text[text.size() / 2] ^= 1;
  write_file(of_seed_one, text);
  EXPECT_EQ(value_of(run_plan(plan_over_cpus({}, 2), options()), 0), 11.5);
}

TEST_F(RunPlan, ASecondRunIntoTheSameDirectoryIsRefusedWhileTheFirstLives) {
  fs::create_directories(folder / "out");
  const DirectoryLock first(folder / "out", LockKind::alone);
  try {
    run_plan(plan_over_cpus({}), options());
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("process " + std::to_string(::getpid())));
  }
}

TEST_F(RunPlan, PointsMayRunSideBySideButNotBesideAMerge) {
  fs::create_directories(folder / "out");
  const DirectoryLock first(folder / "out", LockKind::one_point);
  EXPECT_EQ(run_one_point(plan_over_cpus({1, 2}), 1, options()).code, ExitCode::done);
  EXPECT_THROW(merge_plan(plan_over_cpus({1, 2}), options()), ConfigError);
}

TEST_F(RunPlan, ProgressCountsPointsAndEndsWithAllOfThem) {
  Progress last;
  RunOptions watched = options();
  watched.progress = [&last](const Progress& progress) { last = progress; };
  run_plan(plan_over_cpus({1, 2, 4}), watched);
  EXPECT_EQ(last.points, 3);
  EXPECT_EQ(last.points_done, 3);
  EXPECT_EQ(last.share, 1);
}

// Each point says that it takes a minute of CPU time, and ends after a fifth of a second.
TEST_F(RunPlan, HowLongALongRunTakesIsToldBeforeIt) {
  Plan plan = plan_over_cpus({1, 2, 4});
  plan.make_point = [inner = plan.make_point](int number) {
    Point point = inner(number);
    point.input.run.measure_us = 1;
    return point;
  };
  RunOptions watched = options();
  watched.simulation = [](const SimulationInput& input, const std::function<void(double)>& progress) {
    constexpr double kMinute = 60;
    const std::clock_t begin = std::clock();
    for (double used = 0; used < 0.2;) {
      progress(used / kMinute);
      used = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    }
    return costs(input, progress);
  };
  std::vector<std::pair<std::size_t, double>> told;
  watched.foretell = [&](std::size_t points, double seconds) {
    told.emplace_back(points, seconds);
    EXPECT_FALSE(fs::exists(folder / "out" / "points"));
  };
  EXPECT_EQ(run_plan(plan, watched).code, ExitCode::done);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told.front().first, 3U);
  EXPECT_GT(told.front().second, 90);
}

TEST_F(RunPlan, WhatIsKnownSoFarIsToldWhileARunGoesOn) {
  const auto slow_at_four = [](const SimulationInput& input, const std::function<void(double)>& progress) {
    if (input.machine.cpus == 4) std::this_thread::sleep_for(std::chrono::milliseconds(400));
    PointData data = costs(input, progress);
    data.metrics["throughput.operations_per_s"] = {input.machine.cpus * 1e6, "1/s"};
    return data;
  };
  RunOptions watched = options();
  watched.simulation = slow_at_four;
  watched.first_answer_s = 0.1;
  std::vector<std::pair<int, std::string>> told;
  watched.progress = [&told](const Progress& progress) {
    if (!progress.answer.empty()) told.emplace_back(progress.points_done, progress.answer);
  };
  run_plan(plan_over_cpus({1, 2, 4}), watched);
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.front().first, 2) << "the third point still runs";
  EXPECT_THAT(told.front().second, HasSubstr("2 CPUs"));
}

}  // namespace
}  // namespace linebounce::sim
