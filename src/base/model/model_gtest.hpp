// What model tests expect of model::check, in terms of GoogleTest.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/model/model.hpp"

namespace weir::model {

// No run fails.
inline void expect_passes(const std::function<void()>& body, const limits& l = {}) {
  const result r = check(body, l);
  EXPECT_TRUE(r.passed) << r.report;
}

// Some run fails, and the report contains `because`.
inline void expect_fails(const std::function<void()>& body, const std::string& because, const limits& l = {}) {
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
