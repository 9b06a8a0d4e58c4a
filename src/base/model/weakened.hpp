// Atomics that do less than the protocol asks for. A model test that still passes with them does not test the
// protocol's memory orders; so each protocol's tests show that they fail with them.
#pragma once

#include "base/model/model.hpp"

namespace weir::model {

// seq_cst becomes acq_rel: stores may pass later loads.
struct without_seq_cst {
  static std::memory_order rmw(std::memory_order order) { return order == std::memory_order_seq_cst ? std::memory_order_acq_rel : order; }
  static std::memory_order load(std::memory_order order) { return order == std::memory_order_seq_cst ? std::memory_order_acquire : order; }
  static std::memory_order store(std::memory_order order) { return order == std::memory_order_seq_cst ? std::memory_order_release : order; }
  static constexpr bool fences = false;
};

// Stores no longer release; seq_cst stays.
struct without_release {
  static std::memory_order rmw(std::memory_order order) {
    return order == std::memory_order_acq_rel ? std::memory_order_acquire : store(order);
  }
  static std::memory_order load(std::memory_order order) { return order; }
  static std::memory_order store(std::memory_order order) { return order == std::memory_order_release ? std::memory_order_relaxed : order; }
  static constexpr bool fences = true;
};

// Loads no longer acquire; seq_cst stays.
struct without_acquire {
  static std::memory_order rmw(std::memory_order order) {
    return order == std::memory_order_acq_rel ? std::memory_order_release : load(order);
  }
  static std::memory_order load(std::memory_order order) { return order == std::memory_order_acquire ? std::memory_order_relaxed : order; }
  static std::memory_order store(std::memory_order order) { return order; }
  static constexpr bool fences = true;
};

// An atomics policy: model_atomics, with the orders weakened by one of the above.
template <class Weakening>
struct weakened : model_atomics {
  template <class T>
  class atomic : public model::atomic<T> {
    using base = model::atomic<T>;

   public:
    using base::base;
    T load(std::memory_order order, site where = site::current()) const { return base::load(Weakening::load(order), where); }
    void store(T value, std::memory_order order, site where = site::current()) { base::store(value, Weakening::store(order), where); }
    T exchange(T value, std::memory_order order, site where = site::current()) { return base::exchange(value, Weakening::rmw(order), where); }
    T fetch_add(T n, std::memory_order order, site where = site::current()) { return base::fetch_add(n, Weakening::rmw(order), where); }
    T fetch_sub(T n, std::memory_order order, site where = site::current()) { return base::fetch_sub(n, Weakening::rmw(order), where); }
    T fetch_or(T bits, std::memory_order order, site where = site::current()) { return base::fetch_or(bits, Weakening::rmw(order), where); }
    T fetch_and(T bits, std::memory_order order, site where = site::current()) { return base::fetch_and(bits, Weakening::rmw(order), where); }
    bool compare_exchange_weak(T& expected, T desired, std::memory_order success, std::memory_order failure, site where = site::current()) {
      return base::compare_exchange_weak(expected, desired, Weakening::rmw(success), Weakening::load(failure), where);
    }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order success, std::memory_order failure, site where = site::current()) {
      return base::compare_exchange_strong(expected, desired, Weakening::rmw(success), Weakening::load(failure), where);
    }
  };

  static void fence(std::memory_order order, site where = site::current()) {
    if (Weakening::fences) model_atomics::fence(order, where);
  }
};

}  // namespace weir::model
