#include "workloads/program/parameter_binder.hpp"

namespace linebounce::workloads {

std::int64_t ParameterBinder::integer(const char* name, std::int64_t option, double minimum, double maximum,
                                      const char* meaning) {
  if (given_ != nullptr) return given_->integer(name);
  declarations_.push_back({name, option, meaning, minimum, maximum});
  return option;
}

void ParameterBinder::number(const char* name, double& option, double minimum, double maximum, const char* meaning) {
  if (given_ != nullptr) {
    option = given_->number(name);
  } else {
    declarations_.push_back({name, option, meaning, minimum, maximum});
  }
}

void ParameterBinder::flag(const char* name, bool& option, const char* meaning) {
  if (given_ != nullptr) {
    option = given_->flag(name);
  } else {
    declarations_.push_back({name, option, meaning});
  }
}

void ParameterBinder::text(const char* name, std::string& option, const char* meaning, const std::vector<std::string>& choices,
                           const std::map<std::string, std::string>& refusals) {
  if (given_ != nullptr) {
    option = given_->text(name);
  } else {
    declarations_.push_back(
        {.name = name, .default_value = option, .meaning = meaning, .choices = choices, .refusals = refusals});
  }
}

void ParameterBinder::names_lock(const std::function<std::string(const LockTraits&)>& why_not) {
  if (given_ == nullptr) declarations_.back().why_no_lock = why_not;
}

void ParameterBinder::names_counter(const std::function<std::string(const CounterUses&)>& why_not) {
  if (given_ == nullptr) declarations_.back().why_no_counter = why_not;
}

void ParameterBinder::texts(const std::string& prefix, std::map<std::string, std::string>& options, const char* meaning,
                            const std::vector<std::string>& choices) {
  if (given_ != nullptr) {
    options = given_->texts_below(prefix);
  } else {
    const std::string name = prefix + "default";
    declarations_.push_back(
        {.name = name, .default_value = options.at("default"), .meaning = meaning, .choices = choices, .open = true});
  }
}

}  // namespace linebounce::workloads
