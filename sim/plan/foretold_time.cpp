#include "sim/plan/foretold_time.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <numeric>
#include <random>

namespace linebounce::sim {
namespace {

constexpr double kFirstLook = 0.05;  // seconds that each of the first two points is simulated
constexpr double kSecondLook = 0.1;  // and each of up to kMostPoints
constexpr std::size_t kMostPoints = 24;
constexpr unsigned kLongest = 5;      // seconds after which a beginning is given up
constexpr double kLookTwiceAt = 0.5;  // share of kWorthForetelling that the first look must foretell

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// CPU time of this process in seconds.
double cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// Times of a job whose beginning was simulated, in seconds.
struct Beginning {
  double cpu = 0, wall = 0;  // of the beginning itself
  double foretold_cpu = 0;   // of the whole job; 0: unknown
};

// In a child process: simulates the job for `seconds` of CPU time after its set-up. The process then ends, because a simulation
// can't be left.
void simulate_beginning(const ComingJob& job, const Simulation& simulation, double seconds, Beginning& found) {
  const SimulationInput input = job.plan->make_point(job.point).input;
  if (input.run.measure_us == 0) return;  // it runs until its programs end, and never says how far it is
  ::alarm(kLongest);
  struct Moment {
    double cpu = 0, share = 0;
  };
  const auto begin = std::chrono::steady_clock::now();
  std::optional<Moment> set_up;
  Moment from;  // caches and memory are cold at the beginning: only the second half tells how fast the run goes on
  simulation(input, [&](double share) {
    const Moment now{cpu_seconds(), std::min(share, 1.0)};
    if (!set_up) set_up = from = now;
    if (now.cpu - set_up->cpu < seconds / 2) from = now;
    if (now.cpu - set_up->cpu < seconds || now.share <= from.share) return;
    found = {now.cpu, seconds_since(begin), now.cpu + (1 - now.share) * (now.cpu - from.cpu) / (now.share - from.share)};
    ::_exit(0);
  });
  found = {cpu_seconds(), seconds_since(begin), cpu_seconds()};
}

// The mean wall time of these jobs in seconds; none if it is unknown for all of them. How busy the computer is shows in all
// beginnings together, because each is too short to tell.
std::optional<double> mean_time(const std::vector<ComingJob>& jobs, const Simulation& simulation, double seconds, int at_once,
                                InterruptGuard& guard) {
  SharedArray<Beginning> found(jobs.size());
  PoolCallbacks callbacks;
  callbacks.work = [&](int job, const std::function<void(double)>&) {
    simulate_beginning(jobs[job], simulation, seconds, found[job]);
  };
  callbacks.finished = [](int, const JobOutcome&) { return true; };
  callbacks.tick = [](const std::vector<RunningJob>&) {};
  run_in_processes(static_cast<int>(jobs.size()), at_once, guard, callbacks);
  Beginning all;
  double known = 0;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    if (found[job].foretold_cpu <= 0) continue;
    all.cpu += found[job].cpu;
    all.wall += found[job].wall;
    all.foretold_cpu += found[job].foretold_cpu;
    ++known;
  }
  if (known == 0) return std::nullopt;
  return all.foretold_cpu / known * std::max(1.0, all.wall / all.cpu);
}

// Chooses one job from each of `count` equal parts of the list, at random: a fixed distance could always meet the same value of
// a swept path.
std::vector<ComingJob> spread_over(const std::vector<ComingJob>& jobs, std::size_t count) {
  std::minstd_rand random;
  std::vector<ComingJob> chosen;
  for (std::size_t part = 0; part < count; ++part) {
    const std::size_t first = part * jobs.size() / count;
    const std::size_t size = (part + 1) * jobs.size() / count - first;
    chosen.push_back(jobs[first + random() % size]);
  }
  return chosen;
}

}  // namespace

std::optional<double> foretold_seconds(const std::vector<ComingJob>& jobs, const Simulation& simulation, int at_once,
                                       InterruptGuard& guard) {
  if (std::ssize(jobs) <= at_once) return std::nullopt;
  const auto of_all = [&](const std::optional<double>& mean) {
    return mean.value_or(0) * static_cast<double>(jobs.size()) / at_once;
  };
  // The last point is usually the largest.
  const std::vector<ComingJob> two = {jobs.back(), jobs[jobs.size() / 2]};
  if (of_all(mean_time(two, simulation, kFirstLook, at_once, guard)) < kLookTwiceAt * kWorthForetelling) return std::nullopt;
  const std::vector<ComingJob> chosen = spread_over(jobs, std::min(kMostPoints, jobs.size()));
  const double seconds = of_all(mean_time(chosen, simulation, kSecondLook, at_once, guard));
  return seconds < kWorthForetelling ? std::nullopt : std::optional(seconds);
}

}  // namespace linebounce::sim
