// Names and parameters of policies, and what is said about those that do not exist.
#include "place/place.hpp"

#include <weir/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace weir::place {
namespace {

std::string refusal(std::string_view specification) {
  try {
    parse(specification);
  } catch (const configuration_error& e) {
    return e.what();
  }
  ADD_FAILURE() << specification << " was accepted";
  return {};
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(registry, every_name_is_a_policy) {
  const std::vector<std::string> all = names();
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
  for (const std::string& name : all) {
    const policy p = parse(name);
    EXPECT_EQ(p.name, name);
    // Only where there are inboxes can a task be placed elsewhere.
    EXPECT_EQ(p.rule != nullptr, p.discipline == queues::inboxes) << name;
  }
}

TEST(registry, the_papers_compositions) {
  EXPECT_EQ(parse("steal").outputs, flow::allocation::at_creation);
  EXPECT_EQ(parse("deferred").outputs, flow::allocation::deferred);
  EXPECT_EQ(parse("local").outputs, flow::allocation::deferred);
  EXPECT_EQ(parse("interleave").outputs, flow::allocation::interleaved);
  EXPECT_EQ(parse("fifo").outputs, flow::allocation::first_touch);
  EXPECT_EQ(parse("node-queues").discipline, queues::nodes);
  EXPECT_EQ(parse("push-inputs").rule, &push_inputs);
  EXPECT_EQ(parse("push-outputs").rule, &push_outputs);
  EXPECT_EQ(parse("push-weighted").rule, &push_weighted);
}

TEST(registry, parameters_are_read) {
  const policy p = parse("push-weighted:in=0.5,out=3,threshold=64KiB");
  EXPECT_EQ(p.name, "push-weighted");
  EXPECT_EQ(p.chosen.weight_in, 0.5);
  EXPECT_EQ(p.chosen.weight_out, 3);
  EXPECT_EQ(p.chosen.push_threshold_bytes, 65536u);
  EXPECT_EQ(parse("local:threshold=0").chosen.push_threshold_bytes, 0u);
  EXPECT_EQ(parse("local:threshold=1.5MiB").chosen.push_threshold_bytes, 3u << 19);
  EXPECT_EQ(parse("local:threshold=2GiB").chosen.push_threshold_bytes, std::uint64_t{2} << 30);
}

TEST(registry, unknown_names_are_answered_with_the_known_ones) {
  for (const char* bad : {"", "lokal", "LOCAL", "local ", "push", "steal,local"}) {
    const std::string message = refusal(bad);
    for (const std::string& name : names()) EXPECT_TRUE(contains(message, name)) << message;
    EXPECT_TRUE(contains(message, std::string("\"") + bad + "\"")) << message;
  }
}

TEST(registry, unknown_parameters_are_answered_with_the_known_ones) {
  EXPECT_TRUE(contains(refusal("push-weighted:weight=1"), "in out threshold"));
  EXPECT_TRUE(contains(refusal("push-weighted:weight=1"), "\"weight\""));
  EXPECT_TRUE(contains(refusal("steal:in=1"), "it takes none"));
  EXPECT_TRUE(contains(refusal("local:in=1"), "threshold"));
  EXPECT_TRUE(contains(refusal("local:thres=1"), "thres"));
  EXPECT_TRUE(contains(refusal("local:,"), "\"\""));
}

TEST(registry, values_must_be_numbers) {
  for (const char* bad : {"local:threshold=", "local:threshold=x", "local:threshold=-1", "local:threshold=1 KiB", "local:threshold=1kib", "local:threshold=inf", "local:threshold=1e19",
                          "push-weighted:in=1KiB", "push-weighted:out=one", "push-weighted:out=-0.5"})
    EXPECT_TRUE(contains(refusal(bad), "expected a number")) << bad;
  EXPECT_TRUE(contains(refusal("local:threshold"), "threshold=VALUE"));
}

}  // namespace
}  // namespace weir::place
