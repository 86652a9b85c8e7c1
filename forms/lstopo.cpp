// Reads what hwloc's lstopo prints: XML (--of xml), or text. Both consist of nested objects. In versions 1, a NUMA node
// contains the objects of its CPUs. In version 2, it is a sibling of those objects. In the text, an object's depth is its
// line's indentation, and a line may have several objects, each within the one before: "L2 L#0 (256KB) + Core L#0".
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "forms/forms.hpp"
#include "forms/line_file.hpp"
#include "forms/machine_topology.hpp"
#include "forms/size_text.hpp"
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
        begin(xml_object(*tag));
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
        begin(text_object(object));
        indents.push_back(indent);
      }
    }
    open_.clear();
    return finished();
  }

 private:
  static constexpr std::size_t kDeepestXml = 64;
  static constexpr std::uint64_t kMostCacheBytes = std::uint64_t{1} << 40;
  static constexpr int kUsualLastLevel = 3;  // counts as the last cache even if no two cores share one
  static constexpr const char* kInstructionCache = "InstructionCache";
  static constexpr std::string_view kInstructionCacheOfXml = "2";

  struct OpenObject {
    std::string type;
    int number = 0;                               // position among the objects of its type
    std::optional<std::uint64_t> os_number = {};  // the operating system's number
    std::string subtype = {};                     // a node's kind of memory, "HBM"
    TopologyCache cache = {};                     // of a cache: what the file says of it
  };

  static OpenObject xml_object(const XmlTag& tag) {
    OpenObject object{std::string(tag.attribute("type"))};
    object.os_number = decimal(tag.attribute("os_index"));
    object.subtype = std::string(tag.attribute("subtype"));
    // Version 1 calls all caches "Cache", and states their level as a depth.
    if (object.type == "Cache") object.type = "L" + std::string(tag.attribute("depth")) + "Cache";
    if (tag.attribute("cache_type") == kInstructionCacheOfXml) object.type = kInstructionCache;
    const auto number = [&tag](const char* name) { return decimal(tag.attribute(name)).value_or(0); };
    object.cache.bytes = static_cast<std::int64_t>(std::min<std::uint64_t>(number("cache_size"), kMostCacheBytes));
    object.cache.ways = small(tag.attribute("cache_associativity"));
    object.cache.line_bytes = small(tag.attribute("cache_linesize"));
    return object;
  }

  static OpenObject text_object(std::string_view text) {
    OpenObject object{text_type(text)};
    object.os_number = text_number(text);
    if (const std::size_t kind = text.find('('); kind < text.find(' ')) {
      const std::string_view behind = text.substr(kind + 1);
      object.subtype = std::string(behind.substr(0, behind.find(')')));
    }
    object.cache.bytes = text_size(text);
    object.cache.ways = small(text_attribute(text, "ways="));
    object.cache.line_bytes = small(text_attribute(text, "linesize="));
    return object;
  }

  // A number of ways or bytes of a line. hwloc has -1 for full associativity, and 0 for an unknown one.
  static int small(std::string_view digits) {
    constexpr std::uint64_t kMost = 4096;
    const auto number = decimal(digits);
    return number && *number <= kMost ? static_cast<int>(*number) : 0;
  }

  // "64" for "linesize=" in "L3Cache L#0 (size=8192KiB linesize=64 ways=16)".
  static std::string_view text_attribute(std::string_view object, std::string_view name) {
    for (std::size_t at = object.find(name); at != object.npos; at = object.find(name, at + 1)) {
      if (at == 0 || (object[at - 1] != ' ' && object[at - 1] != '(')) continue;
      const std::string_view value = object.substr(at + name.size());
      return value.substr(0, value.find_first_of(" )"));
    }
    return {};
  }

  // A cache's size, "L2 L#0 (256KB)" or with a name, "(size=256KB linesize=64)".
  static std::int64_t text_size(std::string_view object) {
    if (const auto bytes = bytes_of_size(text_attribute(object, "size="))) return *bytes;
    const std::size_t open = object.rfind('(');
    if (open == object.npos) return 0;
    const std::string_view inside = object.substr(open + 1);
    return bytes_of_size(inside.substr(0, inside.find(')'))).value_or(0);
  }

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

  // The type of an object in the text, by its name in XML: "L3Cache" for "L3 L#0 (8192KB)" and for "L3Cache L#0 (size=...)",
  // "NUMANode" for "NUMANode(DRAM)".
  static std::string text_type(std::string_view object) {
    std::string_view type = take_word(object);
    type = type.substr(0, type.find('('));
    const bool is_cache = type.size() >= 2 && type[0] == 'L' && type[1] >= '1' && type[1] <= '5';
    if (!is_cache) return std::string(type);
    return type.substr(2).starts_with('i') ? kInstructionCache : std::string(type.substr(0, 2)) + "Cache";
  }

  // The operating system's number of an object in the text: 4 for "PU L#1 (P#4)" and "PU P#4".
  static std::optional<std::uint64_t> text_number(std::string_view object) {
    const std::size_t mark = object.find("P#");
    if (mark == object.npos) return std::nullopt;
    const std::string_view digits = object.substr(mark + 2);
    return decimal(digits.substr(0, digits.find_first_not_of("0123456789")));
  }

  void begin(OpenObject object) {
    if (open_.size() == kDeepestXml)
      throw trace::TraceError(fmt::format("{}: more than {} nested objects", file_, kDeepestXml));
    if (object.type == "Socket") object.type = "Package";
    // Version 2 writes a cache in front of memory that contains cores, too, as one of the cores' caches.
    if (object.subtype == "MemorySideCache") object.type = "Group";
    object.number = counts_[object.type]++;
    if (object.type == "NUMANode" && !open_.empty()) {
      // A cache in front of the memory contains the node alone; the node belongs to what contains the cache.
      std::size_t depth = open_.size();
      while (depth > 0 && open_[depth - 1].type == "MemCache") --depth;
      // An object may have a second node, for example one with slower memory. Only the first one counts.
      node_of_.emplace(parent_path(depth), object.number);
      nodes_.push_back({object.os_number ? std::to_string(*object.os_number) : "?", object.subtype});
    }
    open_.push_back(std::move(object));
    if (open_.back().type == "PU") processing_unit(open_.back().os_number);
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
    std::vector<HeldCache> cpu_caches;
    for (const OpenObject& object : open_) {
      if (object.type == "Package") cpu.package = object.number;
      if (object.type == "Core") cpu.core = object.number;
      if (object.type == "NUMANode") cpu.node = object.number;
      if (const int level = level_of(object); level > 0) cpu_caches.push_back({level, object.number, object.cache});
    }
    cpus_.push_back(cpu);
    caches_.push_back(std::move(cpu_caches));
    std::vector<std::string> paths;
    for (std::size_t depth = open_.size() - 1; depth > 0; --depth) paths.push_back(parent_path(depth));
    paths_.push_back(std::move(paths));
  }

  // The level of the data or unified cache that an object is; 0: it is none.
  static int level_of(const OpenObject& object) {
    const bool is_cache = object.type.size() > 2 && object.type[0] == 'L' && object.type.substr(2) == "Cache";
    return is_cache && object.type[1] >= '1' && object.type[1] <= '5' ? object.type[1] - '0' : 0;
  }

  MachineTopology finished() {
    if (cpus_.empty()) throw trace::TraceError(file_ + ": has no PU: lstopo prints them, also with --of xml");
    MachineTopology topology;
    topology.processor = processor_;
    set_nodes();
    set_last_caches(topology);
    list_caches(topology);
    note_memory_nodes(topology);
    topology.cpus = cpus_;
    std::ranges::sort(topology.cpus, {}, &TopologyCpu::number);
    return topology;
  }

  void set_nodes() {
    for (std::size_t i = 0; i < cpus_.size(); ++i) {
      TopologyCpu& cpu = cpus_[i];
      // Takes the node of the innermost enclosing object that has one.
      for (const std::string& path : paths_[i]) {
        const auto node = node_of_.find(path);
        if (cpu.node >= 0 || node == node_of_.end()) continue;
        cpu.node = node->second;
      }
      // If the file has no node for a CPU, because its package's memory may not be used, the package becomes a node.
      if (cpu.node < 0) cpu.node = counts_["NUMANode"] + cpu.package;
    }
  }

  // A CPU's last cache is the outermost one that cores share, of a level that all CPUs have; if there is none, its package.
  void set_last_caches(MachineTopology& topology) {
    constexpr int kOutermost = 5;
    for (TopologyCpu& cpu : cpus_) cpu.cache = cpu.package;
    for (int level = kOutermost; level > 1; --level) {
      std::map<int, std::set<int>> cores;  // by the cache's number
      std::size_t with = 0;
      for (std::size_t i = 0; i < cpus_.size(); ++i) {
        const HeldCache* held = cache_at(i, level);
        if (held == nullptr) continue;
        ++with;
        cores[held->number].insert(cpus_[i].core);
      }
      const bool is_shared = std::ranges::any_of(cores, [](const auto& of_cache) { return of_cache.second.size() > 1; });
      if (with < cpus_.size() || (!is_shared && level < kUsualLastLevel)) continue;
      for (std::size_t i = 0; i < cpus_.size(); ++i) cpus_[i].cache = cache_at(i, level)->number;
      topology.shared_cache = fmt::format("L{}", level);
      return;
    }
  }

  void list_caches(MachineTopology& topology) {
    const auto first = std::ranges::min_element(cpus_, {}, &TopologyCpu::number) - cpus_.begin();
    for (const HeldCache& own : caches_[first]) {
      TopologyCache cache = own.facts;
      cache.level = own.level;
      std::set<std::int64_t> others;
      for (std::size_t i = 0; i < cpus_.size(); ++i) {
        const HeldCache* held = cache_at(i, own.level);
        if (held != nullptr && held->number == own.number) ++cache.cpus;
        if (held != nullptr && held->facts.bytes != own.facts.bytes) others.insert(held->facts.bytes);
      }
      if (cache.bytes > 0) topology.caches.push_back(cache);
      if (!others.empty())
        topology.losses.add(Loss::caches_differ, fmt::format("L{}", own.level), std::to_string(cpus_[first].number));
    }
    std::ranges::sort(topology.caches, {}, &TopologyCache::level);
  }

  void note_memory_nodes(MachineTopology& topology) const {
    std::set<int> with_cpus;
    for (const TopologyCpu& cpu : cpus_) with_cpus.insert(cpu.node);
    std::vector<std::string> alone;
    for (int node = 0; node < std::ssize(nodes_); ++node) {
      if (with_cpus.contains(node)) continue;
      const auto& [number, kind] = nodes_[node];
      alone.push_back(kind.empty() ? number : fmt::format("{} ({})", number, kind));
    }
    if (!alone.empty()) topology.losses.add(Loss::memory_nodes_left_out, file_, fmt::format("{}", fmt::join(alone, ", ")));
  }

  struct HeldCache {
    int level = 0, number = 0;
    TopologyCache facts;
  };

  [[nodiscard]] const HeldCache* cache_at(std::size_t cpu, int level) const {
    const auto held = std::ranges::find(caches_[cpu], level, &HeldCache::level);
    return held == caches_[cpu].end() ? nullptr : &*held;
  }

  std::string file_;
  std::string processor_;
  std::vector<OpenObject> open_;
  std::map<std::string, int> counts_;
  std::map<std::string, int> node_of_;                      // by the path of the object to which the node belongs
  std::vector<std::pair<std::string, std::string>> nodes_;  // the operating system's number and the kind of memory
  std::vector<std::vector<HeldCache>> caches_;              // by CPU
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
          .likeness =
              [](const Excerpt& excerpt) {
                const bool has_machine = !excerpt.lines.empty() && excerpt.lines.front().text.starts_with("Machine");
                if (has_machine && (excerpt.has("PU L#") || excerpt.has("PU P#")))
                  return certain_if(excerpt.is_text, "it has the objects that lstopo prints");
                return certain_if(excerpt.is_text && excerpt.has("<topology") && excerpt.has("type=\"Machine\""),
                                  "it is XML with a topology");
              },
          .read_structure = read_lstopo};
}

}  // namespace linebounce::sim
