// What model tests expect of model::check, in terms of GoogleTest.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>

#include "base/model/model.hpp"

namespace weir::model {

// Adds "SUITE.TEST PLACE" for each of a test's places to the file that WEIR_MODEL_PLACES names.
inline void write_places(const result& r) {
  const char* file = std::getenv("WEIR_MODEL_PLACES");
  if (file == nullptr || r.places.empty()) return;
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::ofstream out(file, std::ios::app);
  for (std::size_t at = 0, end; (end = r.places.find('\n', at)) != r.places.npos; at = end + 1)
    out << test->test_suite_name() << '.' << test->name() << ' ' << r.places.substr(at, end - at) << '\n';
}

// No run fails.
inline void expect_passes(const std::function<void()>& body, const limits& l = {}) {
  const result r = check(body, l);
  write_places(r);
  EXPECT_TRUE(r.passed) << r.report;
}

// Some run fails, and the report contains `because`. Nothing is asked where an operation is weakened from outside: what
// is looked for then is a test that fails and should not.
inline void expect_fails(const std::function<void()>& body, const std::string& because, const limits& l = {}) {
  if (std::getenv("WEIR_MODEL_WEAKEN") != nullptr || std::getenv("WEIR_MODEL_PLACES") != nullptr) return;
  const result r = check(body, l);
  EXPECT_FALSE(r.passed) << "no run failed; expected: " << because;
  EXPECT_NE(r.report.find(because), std::string::npos) << r.report;
}

// limits for a test that is to fail.
inline limits without(weakening w) {
  limits l;
  l.without = w;
  return l;
}

}  // namespace weir::model
