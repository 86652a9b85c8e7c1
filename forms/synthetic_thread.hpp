// A thread of a synthetic trace: its stream and its random numbers.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "trace/writer.hpp"
#include "workloads/program/random.hpp"
#include "workloads/program/zipf.hpp"

namespace linebounce::sim {

// An object's field: its offset and size in bytes.
struct Place {
  std::uint64_t offset, bytes;
};

class SyntheticThread {
 public:
  // Names the stream "KIND[NUMBER]". `between_cycles`: the mean of compute().
  SyntheticThread(trace::Writer& out, const std::string& kind, int number, int between_cycles, std::uint64_t seed)
      : number_(number),
        between_(static_cast<std::uint64_t>(between_cycles)),
        random_(seed, static_cast<std::uint64_t>(number), 0),
        out_(&out),
        stream_(out.define(trace::Stream{fmt::format("{}[{}]", kind, number), number, -1, false})) {}

  [[nodiscard]] int number() const { return number_; }
  workloads::Random& random() { return random_; }
  int below(int bound) { return static_cast<int>(random_.below(static_cast<std::uint64_t>(bound))); }
  bool happens(int pct) { return below(100) < pct; }
  // Draws another thread; returns this one if it is the only one.
  int another(int threads) { return threads == 1 ? 0 : (number_ + 1 + below(threads - 1)) % threads; }

  // Appends a computation of a random length, uniform from 0 to twice the mean.
  void compute() {
    if (between_ > 0) append(trace::Kind::compute, 0, random_.below(2 * between_ + 1));
  }
  // Like compute(), with another mean.
  void between(int cycles) { append(trace::Kind::compute, 0, random_.below(2 * static_cast<std::uint64_t>(cycles) + 1)); }
  void enter(std::uint32_t function) { append(trace::Kind::enter, function); }
  void leave() { append(trace::Kind::leave, 0); }
  void acquire(std::uint32_t lock) { append(trace::Kind::acquire, lock); }
  void release(std::uint32_t lock) { append(trace::Kind::release, lock); }
  void acquire_shared(std::uint32_t lock) { append(trace::Kind::acquire_shared, lock); }
  void release_shared(std::uint32_t lock) { append(trace::Kind::release_shared, lock); }
  void load(std::uint32_t object, Place place) { access(trace::Kind::load, object, place); }
  void store(std::uint32_t object, Place place) { access(trace::Kind::store, object, place); }
  void add(std::uint32_t object, Place place) { access(trace::Kind::fetch_add, object, place); }
  void access(trace::Kind kind, std::uint32_t object, Place place) {
    append(kind, object, place.offset, static_cast<std::uint8_t>(place.bytes));
  }

 private:
  void append(trace::Kind kind, std::uint32_t id, std::uint64_t argument = 0, std::uint8_t bytes = 0) {
    out_->append(stream_, trace::Operation{kind, bytes, 0, id, argument});
  }

  int number_;
  std::uint64_t between_;
  workloads::Random random_;
  trace::Writer* out_;
  std::uint32_t stream_;
};

// Draws from `items` items by Zipf's law. `skew`: the exponent, rounded to three decimals.
inline workloads::Zipf zipf(int items, double skew) {
  return {items, static_cast<int>(std::lround(skew * 1000))};
}

}  // namespace linebounce::sim
