// The page reads no traces: opening one is refused.
#include <cstdlib>

#include "trace/reader.hpp"
#include "trace/recover.hpp"
#include "workloads/replay/places.hpp"

namespace linebounce::trace {

class Reader::File {};

Reader::Reader(const std::filesystem::path& file, ReadOptions) {
  throw TraceError(file.string() + ": there are no traces in this build");
}
Reader::~Reader() = default;
const Symbols& Reader::symbols() const {
  std::abort();
}
const Summary& Reader::summary() const {
  std::abort();
}
std::string Reader::fingerprint() const {
  std::abort();
}
std::string Reader::damage() const {
  std::abort();
}
int page_bytes_of(const Reader&, const Object&) {
  std::abort();
}
void keep_what_makes_sense(Reader&) {}

}  // namespace linebounce::trace

namespace linebounce::workloads {

LayoutSet layouts_of(const trace::Symbols&) {
  std::abort();
}

}  // namespace linebounce::workloads
