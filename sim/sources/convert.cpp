#include <fmt/format.h>

#include <algorithm>

#include "sim/config/config_error.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/sources/formats.hpp"

namespace linebounce {

std::vector<std::string> convert_foreign(const std::string& format, const std::filesystem::path& in,
                                         const std::filesystem::path& out) {
  const auto found =
      std::find_if(kSourceFormats.begin(), kSourceFormats.end(), [&](const SourceFormat& it) { return it.name == format; });
  if (found == kSourceFormats.end()) {
    std::vector<std::string> known;
    for (const SourceFormat& it : kSourceFormats) known.emplace_back(it.name);
    throw ConfigError("--from: the format " + not_known(format, known));
  }
  // Found out before `out` is replaced.
  if (!std::filesystem::exists(in)) throw trace::TraceError(in.string() + ": there is no such file");
  trace::Writer writer(out);
  trace::Summary summary;
  summary.program = in.filename().string();
  summary.recorder = fmt::format("linebounce trace convert {} --from {}", in.filename().string(), format);
  summary.missing = found->convert(in, writer);
  writer.finish(summary);
  return summary.missing;
}

}  // namespace linebounce
