#include "sim/terminal/limits_text.hpp"

#include <nlohmann/json.hpp>

#include "models/ordinal.hpp"

namespace linebounce::sim {

std::string limits_text(const trace::Limits& limits, std::size_t indent, const Painter& paint) {
  std::string out;
  for (const trace::Limit& limit : limits.all()) out += paragraph(limit.sentence, indent, Colour::yellow, paint);
  return out;
}

std::string basis_text(const std::string& basis, std::size_t indent, const Painter& paint) {
  return basis.empty() ? "" : paragraph(basis, indent, Colour::dim, paint);
}

nlohmann::ordered_json limits_json(const trace::Limits& limits) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const trace::Limit& limit : limits.all())
    list.push_back(
        {{"name", limit.name}, {"bearing", trace::kBearingNames.at(ordinal(limit.bearing))}, {"sentence", limit.sentence}});
  return list;
}

std::string not_seen_text(const std::vector<std::string>& missing, const Painter& paint) {
  std::string out;
  for (const std::string& sentence : missing)
    out += (out.empty() ? "  not seen  " : "            ") + wrapped_from(sentence, 12, Colour::none, paint);
  return out;
}

std::string behind_limits(const trace::Limits& limits, const std::string& verdict) {
  const std::string text = limits.text();
  return text.empty() ? verdict : text + " " + verdict;
}

}  // namespace linebounce::sim
