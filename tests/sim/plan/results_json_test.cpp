#include "sim/plan/results_json.hpp"

#include <gmock/gmock.h>

#include "sim/results/result_files.hpp"

namespace linebounce::sim {
namespace {

using testing::HasSubstr;

TEST(ResultsJson, ValuesWithinValuesWithoutEndAreAnInputError) {
  const std::string deep = std::string(200000, '[') + std::string(200000, ']');
  EXPECT_THROW(read_points("{\"schema\": " + deep + "}"), InputError);
}

TEST(ResultsJson, ANumberThatFitsIntoNoIntegerIsAnInputError) {
  const auto text = [](const std::string& value) {
    return R"({"schema": "linebounce.results/1", "points": [{"at": {"a": )" + value + R"(}, "metrics": {"m": {"value": )" +
           value + R"(, "unit": ""}}}]})";
  };
  EXPECT_EQ(read_points(text("9223372036854775807")).size(), 1U);
  EXPECT_THROW(read_points(text("9223372036854775808")), InputError);
}

TEST(ResultsJson, MetricsThatAreNoneAreAnInputError) {
  const auto text = [](const std::string& metrics) {
    return R"({"schema": "linebounce.results/1", "points": [{"at": {}, "metrics": {}}, {"at": {}, )" + metrics + "}]}";
  };
  EXPECT_EQ(read_points(text(R"("metrics": {"m": {"value": 1, "unit": "ns"}})")).back().metrics.size(), 1U);
  for (const char* wrong : {R"("other": {"m": {"value": 1, "unit": "ns"}})", R"("metrics": [{"value": 1, "unit": "ns"}])",
                            R"("metrics": {"m": 1})", R"("metrics": {"m": {"value": 1}})", R"("metrics": null)"})
    EXPECT_THROW(read_points(text(wrong)), InputError) << wrong;
}

TEST(ResultsJson, ReadsBackAsItWasWritten) {
  Results results;
  results.experiment = "x";
  results.machine = "m";
  ReportedPoint point;
  point.at = {{"machine.cpus", std::int64_t{4}}, {"workload.design", std::string("rcu")}};
  point.metrics["cost.a"] = {12.857142857, "ns", 0.123456789};
  point.metrics["cost.count"] = {std::int64_t{3}, "", std::nullopt};
  results.points = {point};
  results.answer.text = "rcu is fastest.";
  results.answer.point = 0;
  const std::string text = results_text(results);
  Results again = results;
  again.points = read_points(text);
  EXPECT_EQ(results_text(again), text);
  EXPECT_THAT(text, HasSubstr("12.8571"));
  EXPECT_THROW(read_points(text.substr(0, 40)), InputError);
  EXPECT_EQ(read_answered_point(text), 0);
  EXPECT_EQ(read_answered_point(R"({"schema": "linebounce.results/1"})"), std::nullopt) << "as earlier versions wrote it";
}

}  // namespace
}  // namespace linebounce::sim
