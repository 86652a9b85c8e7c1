// Interface of a writer for one form of trace. Writer states the contract.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "trace/operation.hpp"
#include "trace/summary.hpp"
#include "trace/symbols.hpp"

namespace linebounce::trace {

class Sink {
 public:
  virtual ~Sink() = default;
  // REQUIRES: `symbol` is already in `symbols`, as the last one of its kind.
  virtual void define(const Symbols& symbols, const Symbol& symbol) = 0;
  // REQUIRES: `symbols` already contains the new facts.
  virtual void redefine(const Symbols& symbols, std::uint32_t lock) = 0;
  virtual void append(const Symbols& symbols, std::uint32_t stream, std::span<const Operation> operations) = 0;
  virtual void flush() = 0;
  virtual void finish(const Summary& summary) = 0;
};

std::unique_ptr<Sink> binary_sink(const std::filesystem::path& file);
std::unique_ptr<Sink> text_sink(const std::filesystem::path& file);

}  // namespace linebounce::trace
