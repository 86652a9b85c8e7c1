// Converts foreign traces for tests.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "forms/forms.hpp"
#include "trace/reader.hpp"
#include "trace/writer.hpp"

namespace linebounce::sim {

// A temporary folder that is deleted when the test ends.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_(std::filesystem::temp_directory_path() / ("linebounce_sources_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

struct Converted {
  trace::Symbols symbols;
  std::vector<std::vector<trace::Operation>> streams;
  std::vector<std::string> missing;
};

inline Converted read_all(const std::filesystem::path& file) {
  const trace::Reader reader(file);
  Converted out{reader.symbols(), {}, reader.summary().missing};
  for (std::uint32_t stream = 0; stream < out.symbols.streams.size(); ++stream) {
    auto cursor = reader.open(stream);
    std::vector<trace::Operation>& operations = out.streams.emplace_back();
    for (auto frame = cursor.frame(); !frame.empty(); frame = cursor.frame())
      operations.insert(operations.end(), frame.begin(), frame.end());
  }
  return out;
}

// The number of operations of each kind over all streams.
inline std::map<trace::Kind, std::int64_t> counts(
    const Converted& it, const std::function<bool(const trace::Operation&)>& counted = [](const auto&) { return true; }) {
  std::map<trace::Kind, std::int64_t> sums;
  for (const auto& stream : it.streams) {
    for (const trace::Operation& operation : stream) sums[operation.kind] += counted(operation) ? 1 : 0;
  }
  return sums;
}

// `form`: the form's name for --as. Several contents become files 0, 1, ..., which are converted together.
inline Converted converted(const std::string& form, const std::vector<std::string>& contents) {
  const TemporaryFolder folder;
  std::vector<std::filesystem::path> files;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    files.push_back(folder / (contents.size() == 1 ? "in" : "in_" + std::to_string(i)));
    std::ofstream(files.back(), std::ios::binary) << contents[i];
  }
  trace::Writer writer(folder / "out.trace");
  trace::Summary summary;
  summary.missing = form_named(form)->convert(files, writer).sentences();
  writer.finish(summary);
  return read_all(folder / "out.trace");
}

inline Converted converted(const std::string& form, const std::string& content) {
  return converted(form, std::vector<std::string>{content});
}

// A converter's error message for an unreadable file, without the file's folder.
inline std::string refusal(const std::string& form, const std::string& content) {
  try {
    converted(form, content);
  } catch (const trace::TraceError& error) {
    const std::string text = error.what();
    return text.substr(text.find("/in: ") + 5);
  }
  return "accepted";
}

// The names of the forms that a text may have. A mark follows the names that are certain.
inline std::vector<std::string> recognised(const std::string& text, const std::string& name = "in") {
  std::vector<std::string> names;
  for (const FormCandidate& candidate : recognise(excerpt_of_text(text, name)).candidates)
    names.push_back(std::string(candidate.form->name) + (candidate.likeness.sure == Likeness::Sure::certain ? "!" : ""));
  return names;
}

}  // namespace linebounce::sim
