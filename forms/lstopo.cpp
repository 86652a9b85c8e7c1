// Reads what hwloc's lstopo prints: XML (--of xml), or text. Both consist of nested objects. In versions 1, a NUMA node
// contains the objects of its CPUs. In version 2, it is a sibling of those objects. In the text, an object's depth is its
// line's indentation, and a line may have several objects, each within the one before: "L2 L#0 (256KB) + Core L#0".
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "forms/forms.hpp"
#include "forms/line_file.hpp"
#include "forms/machine_topology.hpp"
#include "trace/error.hpp"

namespace linebounce::sim {
namespace {

// A tag, without < and >, such as: object type="Core" os_index="3".
struct XmlTag {
  std::string_view name;
  std::string_view attributes;
  bool closes = false, is_empty = false;

  // Returns an attribute's value; empty if there is no such attribute.
  [[nodiscard]] std::string_view attribute(std::string_view wanted) const {
    for (std::size_t at = attributes.find(wanted); at != attributes.npos; at = attributes.find(wanted, at + 1)) {
      const bool begins = at == 0 || attributes[at - 1] == ' ' || attributes[at - 1] == '\n' || attributes[at - 1] == '\t';
      const std::size_t value = at + wanted.size();
      if (!begins || attributes.substr(value, 2) != "=\"") continue;
      const std::size_t end = attributes.find('"', value + 2);
      return attributes.substr(value + 2, end == attributes.npos ? 0 : end - value - 2);
    }
    return {};
  }
};

class XmlTags {
 public:
  explicit XmlTags(std::string_view text) : text_(text) {}

  std::optional<XmlTag> next() {
    for (;;) {
      const std::size_t begin = text_.find('<', at_);
      if (begin == text_.npos) return std::nullopt;
      if (text_.substr(begin, 4) == "<!--") {
        at_ = std::min(text_.find("-->", begin), text_.size());
        continue;
      }
      const std::size_t end = text_.find('>', begin);
      if (end == text_.npos) return std::nullopt;
      at_ = end + 1;
      std::string_view inside = text_.substr(begin + 1, end - begin - 1);
      if (inside.starts_with('?') || inside.starts_with('!')) continue;
      XmlTag tag;
      tag.closes = inside.starts_with('/');
      if (tag.closes) inside.remove_prefix(1);
      tag.is_empty = inside.ends_with('/');
      if (tag.is_empty) inside.remove_suffix(1);
      tag.name = inside.substr(0, inside.find_first_of(" \t\n"));
      tag.attributes = inside.substr(tag.name.size());
      return tag;
    }
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

class LstopoReader {
 public:
  explicit LstopoReader(std::string file) : file_(std::move(file)) {}

  MachineTopology read_xml(std::string_view text) {
    XmlTags tags(text);
    while (const auto tag = tags.next()) {
      if (tag->name == "info" && tag->attribute("name") == "CPUModel" && processor_.empty())
        processor_ = std::string(tag->attribute("value"));
      if (tag->name != "object") continue;
      if (tag->closes) {
        if (open_.empty()) throw trace::TraceError(file_ + ": an object ends that has not started");
        open_.pop_back();
      } else {
        std::string type(tag->attribute("type"));
        // Version 1 calls all caches "Cache", and states their level as a depth.
        if (type == "Cache") type = "L" + std::string(tag->attribute("depth")) + "Cache";
        begin(std::move(type), decimal(tag->attribute("os_index")));
        if (tag->is_empty) open_.pop_back();
      }
    }
    if (!open_.empty()) throw trace::TraceError(file_ + ": the XML is cut off within an object");
    return finished();
  }

  MachineTopology read_text(const std::string& text) {
    std::vector<std::size_t> indents;  // of the open objects
    for (const std::string& line : unquoted_lines(text)) {
      const std::size_t indent = line.find_first_not_of(" \t");
      if (indent == line.npos || (indents.empty() && !stripped(line).starts_with("Machine"))) continue;
      if (!indents.empty() && indent <= indents.front()) {
        if (line.find("L#") != line.npos || line.find("P#") != line.npos)
          throw trace::TraceError(file_ + ": the lines below \"Machine\" are not indented, as lstopo prints them");
        break;  // other text follows
      }
      while (!indents.empty() && indents.back() >= indent) {
        indents.pop_back();
        open_.pop_back();
      }
      for (const std::string& object : objects_of(stripped(line))) {
        begin(text_type(object), text_number(object));
        indents.push_back(indent);
      }
    }
    open_.clear();
    return finished();
  }

 private:
  static constexpr std::size_t kDeepestXml = 64;

  struct OpenObject {
    std::string type;
    int number = 0;  // position among the objects of its type
  };

  // Splits a line of text, "L2 L#0 (256KB) + Core L#0", into its objects.
  static std::vector<std::string> objects_of(std::string_view line) {
    std::vector<std::string> objects;
    constexpr std::string_view kWithin = " + ";
    for (std::size_t begin = 0; begin <= line.size();) {
      const std::size_t end = std::min(line.find(kWithin, begin), line.size());
      objects.emplace_back(stripped(line.substr(begin, end - begin)));
      begin = end + kWithin.size();
    }
    return objects;
  }

  // The type of an object in the text, by its name in XML: "L3Cache" for "L3 L#0 (8192KB)".
  static std::string text_type(std::string_view object) {
    std::string type(take_word(object));
    const bool is_cache = type.size() >= 2 && type[0] == 'L' && type[1] >= '1' && type[1] <= '5';
    return is_cache ? type + "Cache" : type;
  }

  // The operating system's number of an object in the text: 4 for "PU L#1 (P#4)" and "PU P#4".
  static std::optional<std::uint64_t> text_number(std::string_view object) {
    const std::size_t mark = object.find("P#");
    if (mark == object.npos) return std::nullopt;
    const std::string_view digits = object.substr(mark + 2);
    return decimal(digits.substr(0, digits.find_first_not_of("0123456789")));
  }

  void begin(std::string type, std::optional<std::uint64_t> os_number) {
    if (open_.size() == kDeepestXml)
      throw trace::TraceError(fmt::format("{}: more than {} nested objects", file_, kDeepestXml));
    OpenObject object{std::move(type), 0};
    if (object.type == "Socket") object.type = "Package";
    object.number = counts_[object.type]++;
    if (object.type == "NUMANode" && !open_.empty()) {
      // A cache in front of the memory contains the node alone; the node belongs to what contains the cache.
      std::size_t depth = open_.size();
      while (depth > 0 && open_[depth - 1].type == "MemCache") --depth;
      // An object may have a second node, for example one with slower memory. Only the first one counts.
      node_of_.emplace(parent_path(depth), object.number);
    }
    open_.push_back(std::move(object));
    if (open_.back().type == "PU") processing_unit(os_number);
  }

  // Returns the types and numbers of the enclosing objects as a path.
  [[nodiscard]] std::string parent_path(std::size_t depth = std::string::npos) const {
    std::string path;
    for (std::size_t i = 0; i < std::min(depth, open_.size()); ++i)
      path += fmt::format("{} {}/", open_[i].type, open_[i].number);
    return path;
  }

  void processing_unit(std::optional<std::uint64_t> number) {
    if (!number || *number > 65535)
      throw trace::TraceError(file_ + ": a PU lacks the operating system's number (os_index, or P# in the text)");
    TopologyCpu cpu;
    cpu.number = static_cast<int>(*number);
    cpu.core = cpu.number;
    cpu.node = -1;
    int cache = -1;
    for (const OpenObject& object : open_) {
      if (object.type == "Package") cpu.package = object.number;
      if (object.type == "Core") cpu.core = object.number;
      if (object.type == "NUMANode") cpu.node = object.number;
      if (cache < 0 && object.type == "L3Cache") cache = object.number;
    }
    cpu.cache = cache;
    cpus_.push_back(cpu);
    std::vector<std::string> paths;
    for (std::size_t depth = open_.size() - 1; depth > 0; --depth) paths.push_back(parent_path(depth));
    paths_.push_back(std::move(paths));
  }

  MachineTopology finished() {
    if (cpus_.empty()) throw trace::TraceError(file_ + ": has no PU: lstopo prints them, also with --of xml");
    MachineTopology topology;
    topology.processor = processor_;
    const bool has_caches = std::ranges::all_of(cpus_, [](const TopologyCpu& cpu) { return cpu.cache >= 0; });
    if (has_caches) topology.shared_cache = "L3";
    for (std::size_t i = 0; i < cpus_.size(); ++i) {
      TopologyCpu cpu = cpus_[i];
      if (!has_caches) cpu.cache = cpu.package;
      // Takes the node of the innermost enclosing object that has one.
      for (const std::string& path : paths_[i]) {
        const auto node = node_of_.find(path);
        if (cpu.node >= 0 || node == node_of_.end()) continue;
        cpu.node = node->second;
      }
      // If the file has no node for a CPU, because its package's memory may not be used, the package becomes a node.
      if (cpu.node < 0) cpu.node = counts_["NUMANode"] + cpu.package;
      topology.cpus.push_back(cpu);
    }
    std::ranges::sort(topology.cpus, {}, &TopologyCpu::number);
    return topology;
  }

  std::string file_;
  std::string processor_;
  std::vector<OpenObject> open_;
  std::map<std::string, int> counts_;
  std::map<std::string, int> node_of_;  // by the path of the object to which the node belongs
  std::vector<TopologyCpu> cpus_;
  std::vector<std::vector<std::string>> paths_;  // by CPU: the paths of its enclosing objects, innermost first
};

}  // namespace

MachineTopology read_lstopo(const std::string& text, const std::string& file) {
  if (text.find("<topology") != std::string::npos) return LstopoReader(file).read_xml(text);
  return LstopoReader(file).read_text(text);
}

Form lstopo_form() {
  return {.name = "lstopo",
          .kind = FormKind::machine,
          .what = "hwloc's lstopo, as text or --of xml",
          .marks = "<topology> with <object type=\"Machine\">; or \"Machine (62GB total)\" and below it \"PU L#0 (P#0)\"",
          .likeness = [](const Excerpt& excerpt) {
            const bool has_machine = !excerpt.lines.empty() && excerpt.lines.front().text.starts_with("Machine");
            if (has_machine && (excerpt.has("PU L#") || excerpt.has("PU P#")))
              return certain_if(excerpt.is_text, "it has the objects that lstopo prints");
            return certain_if(excerpt.is_text && excerpt.has("<topology") && excerpt.has("type=\"Machine\""),
                              "it is XML with a topology");
          }};
}

}  // namespace linebounce::sim
