// WEIR_POLICY, WEIR_WORKERS, WEIR_BIND and WEIR_STATS, and options that cannot be used.
#include "tests/support/support.hpp"

#include <optional>

namespace weir::test {
namespace {

class set_variable {
 public:
  set_variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value, 1);
  }
  ~set_variable() {
    if (before_) setenv(name_, before_->c_str(), 1);
    else unsetenv(name_);
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(environment, policy) {
  {
    set_variable v("WEIR_POLICY", "push-weighted:in=3,threshold=64KiB");
    EXPECT_EQ(runtime({.workers = 1}).policy(), "push-weighted");
    EXPECT_EQ(runtime({.workers = 1, .policy = "fifo"}).policy(), "fifo");  // the program knows better
  }
  {
    set_variable v("WEIR_POLICY", "");
    EXPECT_EQ(runtime({.workers = 1}).policy(), "auto");
  }
  set_variable v("WEIR_POLICY", "lokal");
  const std::string message = message_of<configuration_error>([] { runtime rt({.workers = 1}); });
  WEIR_EXPECT_CONTAINS(message, "lokal");
  for (const std::string& name : policy_names()) WEIR_EXPECT_CONTAINS(message, name);
}

TEST(environment, workers) {
  {
    set_variable v("WEIR_WORKERS", "3");
    EXPECT_EQ(runtime().workers(), 3);
    EXPECT_EQ(runtime({.workers = 2}).workers(), 2);
  }
  for (const char* bad : {"-1", "two", "3x", "1000000"}) {
    set_variable v("WEIR_WORKERS", bad);
    const std::string message = message_of<configuration_error>([] { runtime rt; });
    WEIR_EXPECT_CONTAINS(message, bad);
    WEIR_EXPECT_CONTAINS(message, "WEIR_WORKERS");
  }
  set_variable v("WEIR_WORKERS", "0");
  EXPECT_GE(runtime().workers(), 1);
}

TEST(environment, bind) {
  {
    set_variable v("WEIR_BIND", "0");
    runtime rt({.workers = 2});
    rt.spawn([] {});
    rt.wait();
  }
  set_variable v("WEIR_BIND", "yes");
  WEIR_EXPECT_CONTAINS(message_of<configuration_error>([] { runtime rt({.workers = 1}); }), "WEIR_BIND=yes");
}

TEST(environment, statistics) {
  {
    set_variable v("WEIR_STATS", "yes");
    const std::string message = message_of<configuration_error>([] { runtime rt({.workers = 1}); });
    WEIR_EXPECT_CONTAINS(message, "WEIR_STATS=yes: expected 0 or 1");
  }
  ::testing::internal::CaptureStderr();
  {
    set_variable v("WEIR_STATS", "1");
    runtime rt({.workers = 1});
    rt.spawn([] {});
    rt.wait();
  }
  WEIR_EXPECT_CONTAINS(::testing::internal::GetCapturedStderr(), "tasks            1");
  ::testing::internal::CaptureStderr();
  { runtime rt({.workers = 1}); }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(configuration, policies_that_do_not_exist) {
  for (const char* bad : {"no-such-policy", "local,steal", "Local", " local", ":threshold=1"}) {
    const std::string message = message_of<configuration_error>([&] { runtime rt({.workers = 1, .policy = bad}); });
    WEIR_EXPECT_CONTAINS(message, "known: ");
    for (const std::string& name : policy_names()) WEIR_EXPECT_CONTAINS(message, name);
  }
}

TEST(configuration, parameters_that_do_not_exist) {
  const auto refused = [](const char* policy) { return message_of<configuration_error>([&] { runtime rt({.workers = 1, .policy = policy}); }); };
  WEIR_EXPECT_CONTAINS(refused("push-weighted:im=1"), "in out threshold");
  WEIR_EXPECT_CONTAINS(refused("push-weighted:im=1"), "im");
  WEIR_EXPECT_CONTAINS(refused("deferred:threshold=1"), "none");
  WEIR_EXPECT_CONTAINS(refused("local:threshold"), "threshold=VALUE");
  for (const char* bad : {"local:threshold=-1", "local:threshold=ten", "local:threshold=1KB", "local:threshold=", "local:threshold=nan", "push-weighted:in=1KiB", "local:threshold=1e300"})
    WEIR_EXPECT_CONTAINS(refused(bad), "expected a number");
  for (const char* good : {"local:threshold=0", "local:threshold=1.5KiB", "push-weighted:in=0,out=1e3,threshold=1GiB", "local:"})
    EXPECT_NO_THROW(runtime({.workers = 1, .policy = good})) << good;
}

TEST(configuration, workers_and_machines_that_do_not_exist) {
  WEIR_EXPECT_CONTAINS(message_of<configuration_error>([] { runtime rt({.workers = -1}); }), "-1");
  WEIR_EXPECT_CONTAINS(message_of<configuration_error>([] { runtime rt({.workers = 40000}); }), "40000");
  WEIR_EXPECT_CONTAINS(message_of<machine_error>([] { runtime rt({.workers = 1, .machine = "nodes:0 cpus:1"}); }), "nodes");
  WEIR_EXPECT_CONTAINS(message_of<machine_error>([] { runtime rt({.workers = 1, .machine = "no/such/file.toml"}); }), "no/such/file.toml");
}

TEST(configuration, workers_follow_the_machine) {
  EXPECT_EQ(runtime({.machine = "nodes:3 cpus:2"}).workers(), 6);
  EXPECT_EQ(runtime({.machine = "nodes:3 cpus:2"}).nodes(), 3);
  EXPECT_EQ(runtime({.workers = 9, .machine = "nodes:2 cpus:1"}).workers(), 9);
  EXPECT_GE(runtime().workers(), 1);
}

}  // namespace
}  // namespace weir::test
