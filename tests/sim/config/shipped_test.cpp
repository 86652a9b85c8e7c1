// The experiments in configs/, and the one in their README, with the program's own workloads.
#include "fixture.hpp"
#include "sim/config/project_files.hpp"

namespace linebounce::sim {
namespace {

class Shipped : public ConfigFiles {};

TEST_F(Shipped, EveryExperimentLoadsUnderItsFilesName) {
  const auto names = file_names(kExperimentFiles);
  ASSERT_FALSE(names.empty());
  for (const auto& name : names) {
    const Experiment experiment = load_experiment(name, {});
    EXPECT_EQ(experiment.name, name);
    EXPECT_FALSE(experiment.title.empty()) << name;
  }
}

TEST_F(Shipped, TheReadmesExampleIsAnExperiment) {
  const std::string readme = read_text(project_root() / "configs/experiments/README.md");
  const std::string fence = "```toml\n";
  const auto begin = readme.find(fence) + fence.size();
  const auto file = write("e.toml", readme.substr(begin, readme.find("```\n", begin) - begin));
  EXPECT_EQ(expand(load_experiment(file, {})).size(), 3U * 2U * 2U);
}

}  // namespace
}  // namespace linebounce::sim
