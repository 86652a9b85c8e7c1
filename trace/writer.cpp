#include "trace/writer.hpp"

#include "trace/sink.hpp"

namespace linebounce::trace {

class Writer::File {
 public:
  explicit File(const std::filesystem::path& file) : sink(file.extension() == ".txt" ? text_sink(file) : binary_sink(file)) {}

  std::unique_ptr<Sink> sink;
  Symbols symbols;
  bool finished = false;
};

Writer::Writer(const std::filesystem::path& file) : file_(std::make_unique<File>(file)) {}

Writer::~Writer() {
  if (file_->finished) return;
  try {
    file_->sink->flush();
  } catch (const WriteError&) {
    // Ignored: the exception that abandoned the trace has told the reason.
  }
}

std::uint32_t Writer::define(const Symbol& symbol) {
  const std::uint32_t id = file_->symbols.define(symbol);
  file_->sink->define(file_->symbols, symbol);
  return id;
}

const Symbols& Writer::symbols() const {
  return file_->symbols;
}

void Writer::redefine(std::uint32_t lock, const Lock& facts) {
  file_->symbols.locks.at(lock) = facts;
  file_->sink->redefine(file_->symbols, lock);
}

void Writer::append(std::uint32_t stream, std::span<const Operation> operations) {
  file_->sink->append(file_->symbols, stream, operations);
}

void Writer::flush() {
  file_->sink->flush();
}

void Writer::finish(const Summary& summary) {
  file_->sink->finish(summary);
  file_->finished = true;
}

}  // namespace linebounce::trace
