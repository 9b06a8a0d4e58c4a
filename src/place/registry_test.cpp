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
  const std::vector<std::string> all = policy_names();
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
  for (const std::string& name : all) {
    const chosen p = parse(name);
    EXPECT_EQ(p.name, name);
    EXPECT_NE(p.object, nullptr);
  }
}

TEST(registry, the_papers_compositions) {
  EXPECT_EQ(parse("steal").outputs, flow::allocation::at_creation);
  EXPECT_EQ(parse("deferred").outputs, flow::allocation::deferred);
  EXPECT_EQ(parse("local").outputs, flow::allocation::deferred);
  EXPECT_EQ(parse("interleave").outputs, flow::allocation::interleaved);
  EXPECT_EQ(parse("fifo").outputs, flow::allocation::first_touch);
  EXPECT_EQ(parse("node-queues").discipline, policy::queues::nodes);
  for (const char* name : {"follow", "push-inputs", "push-outputs", "push-weighted", "local"})
    EXPECT_TRUE(parse(name).places) << name;
  for (const char* name : {"fifo", "steal", "deferred", "interleave", "node-queues"})
    EXPECT_FALSE(parse(name).places) << name;
}

TEST(registry, whose_creator_places_outputs) {
  for (const std::string name : {"steal", "push-inputs", "push-outputs", "push-weighted"}) {
    EXPECT_EQ(parse(name).outputs, flow::allocation::at_creation) << name;
    EXPECT_EQ(parse(name + ":allocate=creator").outputs, flow::allocation::at_creation) << name;
    EXPECT_EQ(parse(name + ":allocate=consumer").outputs, flow::allocation::at_consumer) << name;
  }
  EXPECT_TRUE(contains(refusal("steal:allocate=nobody"), "expected one of creator, consumer"));
}

TEST(registry, parameters_are_read) {
  for (const char* good : {"push-weighted:in=0.5,out=3,threshold=64KiB", "local:threshold=0", "local:threshold=1.5MiB",
                           "local:threshold=2GiB,stride=7", "local:"})
    EXPECT_NO_THROW(static_cast<void>(parse(good))) << good;
  policy_parameters p("p", "a=0.5,b=64KiB,c=1.5MiB,d=12");
  EXPECT_EQ(p.number("a", 1, 0, 2, ""), 0.5);
  EXPECT_EQ(p.bytes("b", 1, ""), 65536u);
  EXPECT_EQ(p.bytes("c", 1, ""), 3u << 19);
  EXPECT_EQ(p.count("d", 1, 1, 12, ""), 12u);
  EXPECT_EQ(p.number("e", 3, 0, 4, ""), 3) << "what is usual";
  EXPECT_NO_THROW(p.refuse_others());
}

TEST(registry, parameters_are_listed) {
  const auto all = policy_parameters_of("local");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].name, "threshold");
  EXPECT_EQ(all[0].usual, "1024");
  EXPECT_EQ(all[1].name, "stride");
  EXPECT_EQ(all[1].range, "1 to 1000000000");
  EXPECT_EQ(all[2].name, "migrate");
  EXPECT_EQ(all[2].usual, "off");
  EXPECT_TRUE(policy_parameters_of("deferred").empty());
}

TEST(registry, out_of_range_is_answered_with_the_range) {
  EXPECT_TRUE(contains(refusal("local:stride=0"), "1 to 1000000000"));
  EXPECT_TRUE(contains(refusal("local:stride=1.5"), "whole number"));
}

TEST(registry, unknown_names_are_answered_with_the_known_ones) {
  for (const char* bad : {"", "lokal", "LOCAL", "local ", "push", "steal,local"}) {
    const std::string message = refusal(bad);
    for (const std::string& name : policy_names()) EXPECT_TRUE(contains(message, name)) << message;
    EXPECT_TRUE(contains(message, std::string("\"") + bad + "\"")) << message;
  }
}

TEST(registry, unknown_parameters_are_answered_with_the_known_ones) {
  EXPECT_TRUE(contains(refusal("push-weighted:weight=1"), "in out threshold"));
  EXPECT_TRUE(contains(refusal("push-weighted:weight=1"), "\"weight\""));
  EXPECT_TRUE(contains(refusal("deferred:in=1"), "it takes none"));
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
