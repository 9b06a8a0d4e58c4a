// How a call that makes no sense gets one sentence from the compiler instead of pages. Internal.
//
// A function that has such calls has one more overload, which takes whatever the others do not, as `anything`; all it
// does is to fail a static_assert. Its result, if any, is a `refused`, about which nobody complains a second time.
#pragma once

#include <type_traits>

namespace weir::detail {

// False, but not before a template is instantiated.
template <class...>
inline constexpr bool never = false;

struct refused;

// A parameter of the worst overload: any argument fits, by a user-defined conversion, so every other one is better.
struct anything {
  anything(const refused&) noexcept {}
  template <class T>
  anything(const T&) noexcept {}
};

// The result of a refused call: it can become whatever the program wanted to have.
struct refused {
  template <class T>
    requires(!std::is_same_v<T, anything>)
  operator T() const;
};

}  // namespace weir::detail
