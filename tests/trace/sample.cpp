#include "tests/trace/sample.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace linebounce::trace {
namespace {

std::vector<Symbol> definitions() {
  return {
      Structure{"rq", 128, 64, {{"nr_running", 0, 4}, {"lock", 4, 4}, {"curr", 64, 8}}, {{"?", 72, 56}}, 32, "scheduler"},
      Structure{"list_head", 16, 8, {{"next", 0, 8}, {"prev", 8, 8}}, {}, std::nullopt, ""},
      Object{"rq[0]", 0, 128, 0, "node 1", std::nullopt, kNone},
      Object{"rq[1]", 0, 128, 0, "local", std::nullopt, kNone},
      Object{"a buffer \"with\" marks", kNone, 4096, 128, "first_touch", 0x7f0012345678, kNone, false, "", 4096},
      Object{"clh.node[3]", 1, 16, 0, "", std::nullopt, 1},
      Function{"schedule", false},
      Function{"lists::Table<int, long>::find(int const&)", true},
      Lock{"rq[0].lock", "ticket", false, 0, 4, 4, "rq.lock", {{kNone, 1}, {1, 0}}, true, false, ""},
      Lock{"files", "clh", false, kNone, 0, 8, "", {}, false, true, ""},
      Lock{"mutex#1", "pthread_mutex", true, 2, 40, 8, "", {}, false, false, ""},
      Barrier{"start", 2},
      Event{"work is there"},
      Word{1, 64, 8},
      Stream{"main", 0, -1, false},
      Stream{"worker", -1, -1, true},
      Stream{"cpu 3 timer", 3, 239, false},
  };
}

std::vector<Operation> of_main() {
  return {{Kind::enter, 0, 0, 0, 0},
          {Kind::create, 0, 0, 1, 0},
          {Kind::load, 4, 0, 0, 0},
          {Kind::load, 8, kPaired | (3 << kRepeatShift), 2, 4064},
          {Kind::store, 8, kRelease, 1, 64},
          {Kind::store, 8, kCounted | kRelease, 1, 64},
          {Kind::store, 1, kMostRepeats << kRepeatShift, 2, 0},
          {Kind::exchange, 4, 0, 0, 0},
          {Kind::fetch_add, 8, 0, 1, 64},
          {Kind::compare_exchange, 8, kFailed, 1, 64},
          {Kind::prefetch, 8, kForWrite, 2, 128},
          {Kind::fence, 0, 0, 0, 0},
          {Kind::execute, 0, 0, 0, 120},
          {Kind::compute, 0, 0, 0, 3000000000},
          {Kind::clock, 0, 0, 0, 0},
          {Kind::acquire, 0, 0, 0, 0},
          {Kind::try_acquire, 0, kFailed, 2, 0},
          {Kind::try_acquire, 0, 0, 2, 0},
          {Kind::release, 0, 0, 2, 0},
          {Kind::release, 0, 0, 0, 0},
          {Kind::acquire_shared, 0, 0, 1, 0},
          {Kind::release_shared, 0, kFailed, 1, 0},
          {Kind::try_acquire_shared, 0, 0, 1, 0},
          {Kind::release_shared, 0, 0, 1, 0},
          {Kind::barrier, 0, 0, 0, 0},
          {Kind::signal, 0, 0, 0, 0},
          {Kind::wake, 0, 0, 3, 0},
          {Kind::timer, 0, 0, 239, 1000000},
          {Kind::interrupt, 0, 0, (3 << 16) + 239, 0},
          {Kind::interrupts_off, 0, 0, 0, 0},
          {Kind::interrupts_on, 0, 0, 0, 0},
          {Kind::tally, 0, 0, 1, 42},
          {Kind::blocked, 0, 0, 0, 1500},
          {Kind::join, 0, 0, 1, 0},
          {Kind::leave, 0, 0, 0, 0}};
}

std::vector<Operation> of_worker() {
  return {{Kind::enter, 0, 0, 1, 0},        {Kind::barrier, 0, 0, 0, 0}, {Kind::await, 0, kPaired, 0, 99},
          {Kind::await, 1, kCounted, 0, 1}, {Kind::wait, 0, 0, 0, 1},    {Kind::leave, 0, 0, 0, 0}};
}

std::vector<Operation> of_handler() {
  return {{Kind::handler, 0, 0, 0, 0}, {Kind::sleep, 0, 0, 0, 1}, {Kind::handler_end, 0, 0, 0, 0}};
}

}  // namespace

Sample small_sample() {
  Sample sample;
  sample.definitions = definitions();
  for (const Symbol& symbol : sample.definitions) sample.symbols.define(symbol);
  sample.summary = {"dbench 8",          "linebounce trace record dcache_dbench",
                    "p3_xeon_8way",      {{"local_c2c", 17}, {"memory", 4}},
                    "[run]\nseed = 1\n", {"No kernel.", "No values."}};
  sample.streams = {of_main(), of_worker(), of_handler()};
  return sample;
}

Sample large_sample() {
  Sample sample = small_sample();
  std::vector<Operation>& worker = sample.streams[1];
  std::vector<Operation> many;
  for (std::uint32_t i = 0; i < 20000; ++i) many.push_back({Kind::load, 8, 0, 2, (std::uint64_t{i} * i) % 512 * 8});
  worker.insert(worker.begin() + 1, many.begin(), many.end());
  std::vector<Operation>& main = sample.streams[0];
  main.insert(main.begin() + 3, many.begin(), many.begin() + 9000);
  return sample;
}

void write(const Sample& sample, const std::filesystem::path& file) {
  Writer writer(file);
  for (const Symbol& symbol : sample.definitions) writer.define(symbol);
  constexpr std::size_t kTurn = 1000;
  bool more = true;
  for (std::size_t from = 0; more; from += kTurn) {
    more = false;
    for (std::uint32_t stream = 0; stream < sample.streams.size(); ++stream) {
      const std::vector<Operation>& all = sample.streams[stream];
      for (std::size_t i = from; i < std::min(from + kTurn, all.size()); ++i) writer.append(stream, all[i]);
      more = more || all.size() > from + kTurn;
    }
  }
  writer.finish(sample.summary);
}

std::vector<std::vector<Operation>> operations_of(const Reader& reader) {
  std::vector<std::vector<Operation>> streams(reader.symbols().streams.size());
  for (std::uint32_t stream = 0; stream < streams.size(); ++stream) {
    Reader::Cursor cursor = reader.open(stream);
    for (auto frame = cursor.frame(); !frame.empty(); frame = cursor.frame()) {
      streams[stream].insert(streams[stream].end(), frame.begin(), frame.end());
    }
  }
  return streams;
}

ScratchFile::ScratchFile(const std::string& name) {
  std::string directory = (std::filesystem::temp_directory_path() / "linebounce_trace_XXXXXX").string();
  path_ = std::filesystem::path(::mkdtemp(directory.data())) / name;
}

ScratchFile::~ScratchFile() {
  std::filesystem::remove_all(path_.parent_path());
}

std::string ScratchFile::bytes() const {
  std::ifstream file(path_, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void ScratchFile::write(std::string_view bytes) const {
  std::ofstream(path_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace linebounce::trace
