#include "workloads/replay/thread_map.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>
#include <stdexcept>

#include "trace/error.hpp"

namespace linebounce::workloads {

namespace {

std::vector<std::uint32_t> threads_of(const trace::Symbols& symbols) {
  std::vector<std::uint32_t> threads;
  for (std::uint32_t stream = 0; stream < symbols.streams.size(); ++stream) {
    if (symbols.streams[stream].vector < 0) threads.push_back(stream);
  }
  return threads;
}

std::vector<int> read_list(const std::string& text, std::size_t threads, int cpus) {
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument(fmt::format(
        "workload.threads: \"{}\" {}; legal: one_each, round_robin, block, or {} numbers below {}, the CPU of each thread",
        text, why, threads, cpus));
  };
  std::vector<int> list;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    int cpu = -1;
    const char* const end = word.data() + word.size();
    const auto [rest, error] = std::from_chars(word.data(), end, cpu);
    if (error != std::errc{} || rest != end) refuse("is none of these");
    if (cpu < 0 || cpu >= cpus) refuse(fmt::format("has CPU {}, and the machine has {}", cpu, cpus));
    list.push_back(cpu);
  }
  if (list.size() != threads) refuse(fmt::format("has {} numbers", list.size()));
  return list;
}

std::vector<int> cpus_of(const std::string& text, std::size_t threads, int cpus, const std::string& file) {
  std::vector<int> list(threads);
  if (text == "one_each") {
    if (threads > static_cast<std::size_t>(cpus)) {
      throw trace::TraceError(
          fmt::format("{}: the trace has {} threads and the machine {} CPUs; give it more (machine.cpus), or fold the threads: "
                      "workload.threads "
                      "= \"round_robin\", \"block\", or the CPU of each thread, as in \"0 0 1 1\"",
                      file, threads, cpus));
    }
    for (std::size_t i = 0; i < threads; ++i) list[i] = static_cast<int>(i);
  } else if (text == "round_robin") {
    for (std::size_t i = 0; i < threads; ++i) list[i] = static_cast<int>(i % static_cast<std::size_t>(cpus));
  } else if (text == "block") {
    const std::size_t used = std::min(threads, static_cast<std::size_t>(cpus));
    for (std::size_t i = 0; i < threads; ++i) list[i] = static_cast<int>(i * used / threads);
  } else {
    return read_list(text, threads, cpus);
  }
  return list;
}

// Where handlers ran, a thread has to be whose CPU they interrupt.
void refuse_homeless_handlers(const trace::Symbols& symbols, const std::string& file) {
  std::set<int> cpus;
  for (const std::uint32_t thread : threads_of(symbols)) {
    if (const int cpu = symbols.streams[thread].cpu; cpu >= 0) cpus.insert(cpu);
  }
  for (const trace::Stream& handlers : symbols.streams) {
    if (handlers.vector < 0 || cpus.contains(handlers.cpu)) continue;
    throw trace::TraceError(fmt::format("{}: {} has interrupt handlers of CPU {}, on which no thread ran; legal: {}", file,
                                        handlers.name, handlers.cpu,
                                        cpus.empty() ? "none" : fmt::format("{}", fmt::join(cpus, ", "))));
  }
}

bool shares_a_cpu(const std::vector<int>& list) {
  return std::set(list.begin(), list.end()).size() < list.size();
}

trace::TraceError interrupts_of_their_own(const std::string& file, std::size_t threads) {
  return trace::TraceError(
      fmt::format("{}: its threads are CPUs with interrupts of their own, which cannot share one: give each its own, with {} "
                  "CPUs or more (machine.cpus)",
                  file, threads));
}

}  // namespace

ThreadMap map_threads(const trace::Symbols& symbols, const std::string& text, int cpus, const std::string& file) {
  refuse_homeless_handlers(symbols, file);
  const std::vector<std::uint32_t> threads = threads_of(symbols);
  const bool handlers = threads.size() < symbols.streams.size();
  if (handlers && threads.size() > static_cast<std::size_t>(cpus)) throw interrupts_of_their_own(file, threads.size());
  const std::vector<int> list = cpus_of(text, threads.size(), cpus, file);
  if (handlers && shares_a_cpu(list)) throw interrupts_of_their_own(file, threads.size());
  ThreadMap map;
  map.streams.resize(cpus);
  for (std::size_t i = 0; i < threads.size(); ++i) {
    map.streams[list[i]].push_back(threads[i]);
    const int recorded = symbols.streams[threads[i]].cpu;
    if (recorded < 0) continue;
    if (std::ssize(map.cpu_of) <= recorded) map.cpu_of.resize(recorded + 1);
    map.cpu_of[recorded] = list[i];
  }
  return map;
}

}  // namespace linebounce::workloads
