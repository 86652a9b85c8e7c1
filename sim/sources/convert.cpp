#include <fmt/format.h>

#include <fstream>

#include "sim/sources/formats.hpp"
#include "sim/sources/line_file.hpp"

namespace linebounce::sim {

const SourceFormat* format_of(const std::filesystem::path& file) {
  constexpr std::size_t kLongestMagic = 16;
  std::string begin(kLongestMagic, '\0');
  std::ifstream in = open_input(file);
  in.read(begin.data(), kLongestMagic);
  for (const SourceFormat& format : kSourceFormats) {
    if (!format.magic.empty() && begin.starts_with(format.magic)) return &format;
  }
  return nullptr;
}

std::vector<std::string> convert_foreign(const SourceFormat& format, const std::filesystem::path& in,
                                         const std::filesystem::path& out) {
  // Found out before `out` is replaced.
  if (!std::filesystem::exists(in)) throw trace::TraceError(in.string() + ": there is no such file");
  trace::Writer writer(out);
  trace::Summary summary;
  summary.program = in.filename().string();
  summary.recorder = fmt::format("linebounce trace convert {} --from {}", in.filename().string(), format.name);
  summary.missing = format.convert(in, writer);
  writer.finish(summary);
  return summary.missing;
}

}  // namespace linebounce::sim
