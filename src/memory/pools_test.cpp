// Pools and caches: blocks come from where they were asked for and go home, whoever releases them; counts; refusals.
#include "memory/fake_backend.hpp"
#include "memory/memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <random>
#include <set>
#include <thread>
#include <utility>

namespace weir::memory {
namespace {

struct held {
  block b;
  std::size_t bytes;
};

void mark(const held& h, unsigned char with) {
  if (h.bytes == 0) return;
  static_cast<unsigned char*>(h.b.data)[0] = with;
  static_cast<unsigned char*>(h.b.data)[h.bytes - 1] = with;
}
bool is_marked(const held& h, unsigned char with) {
  return h.bytes == 0 || (static_cast<unsigned char*>(h.b.data)[0] == with && static_cast<unsigned char*>(h.b.data)[h.bytes - 1] == with);
}

TEST(pools, blocks_do_not_overlap_and_are_aligned) {
  pools p(os::pretended_memory(), {0}, true);
  cache c(p, 0);
  std::mt19937 random(1);
  std::vector<held> all;
  std::set<std::pair<std::uintptr_t, std::uintptr_t>> ranges;
  for (int i = 0; i < 3000; i++) {
    const std::size_t bytes = random() % (i % 100 == 0 ? 200'000 : 3000);
    all.push_back({c.allocate(bytes, 0), bytes});
    const auto start = reinterpret_cast<std::uintptr_t>(all.back().b.data);
    EXPECT_EQ(start % 64, 0u);
    ranges.insert({start, start + bytes_of_class(class_of(bytes))});
    mark(all.back(), 0xab);
  }
  for (auto it = ranges.begin(); std::next(it) != ranges.end(); ++it) ASSERT_LE(it->second, std::next(it)->first);
  for (const held& h : all) {
    EXPECT_TRUE(is_marked(h, 0xab));
    c.release(h.b, h.bytes);
  }
}

TEST(pools, a_block_that_is_released_twice_is_noticed) {
#ifdef NDEBUG
  GTEST_SKIP() << "this build has no assertions";
#else
  fake_backend os;
  pools p(os, {0}, true);
  cache c(p, 0);
  const block b = c.allocate(100, 0);
  c.release(b, 100);
  EXPECT_DEATH(c.release(b, 100), "invariant broken");
#endif
}

TEST(pools, what_was_released_is_used_again) {
  fake_backend os;
  pools p(os, {0}, true);
  cache c(p, 0);
  for (int round = 0; round < 1000; round++) {
    std::vector<block> some;
    for (int i = 0; i < 100; i++) some.push_back(c.allocate(5000, 0));
    for (const block& b : some) c.release(b, 5000);
  }
  EXPECT_LE(os.total_maps(), 3u);
}

// A producer and a consumer on different nodes: the consumer releases what the producer allocates. Memory circulates
// instead of growing.
TEST(pools, blocks_go_home_from_another_cache) {
  fake_backend os;
  pools p(os, {4, 7}, true);
  cache producer(p, 0), consumer(p, 1);
  for (int round = 0; round < 5000; round++) {
    const block b = producer.allocate(1000, 0);
    EXPECT_EQ(b.place, 0);
    EXPECT_EQ(b.pool, 0);
    consumer.release(b, 1000);
  }
  EXPECT_LE(os.total_maps(), 2u);
  for (const auto& [chunk, node] : os.preferred()) EXPECT_EQ(node, 4) << "not the system's number of node 0";
}

// What a thread had kept where it was is there for others, and what it allocates from now on comes from where it is.
TEST(pools, a_cache_moves_with_its_thread) {
  fake_backend os;
  pools p(os, {4, 7}, true);
  cache wanderer(p, 0);
  std::vector<block> at_first;
  for (int i = 0; i < 1000; i++) at_first.push_back(wanderer.allocate(1000, 0));
  for (const block& b : at_first) wanderer.release(b, 1000);
  const std::size_t maps = os.total_maps();
  wanderer.move_home(1);
  {
    cache settler(p, 0);
    std::vector<block> again;
    for (int i = 0; i < 1000; i++) again.push_back(settler.allocate(1000, 0));
    EXPECT_EQ(os.total_maps(), maps) << "what the wanderer left was not used";
    for (const block& b : again) settler.release(b, 1000);
  }
  for (int i = 0; i < 1000; i++) {
    const block b = wanderer.allocate(1000, 1);
    EXPECT_EQ(b.pool, 1);
    wanderer.release(b, 1000);
  }
  wanderer.move_home(0);
  EXPECT_TRUE(wanderer.is_valid());
  wanderer.flush_counts();
  EXPECT_EQ(p.live_bytes(), 0);
}

TEST(pools, unmap_all_they_mapped) {
  fake_backend os;
  {
    pools p(os, {0, 1}, true);
    cache a(p, 0), b(p, 1);
    std::vector<held> all;
    for (std::size_t bytes : {0u, 1u, 64u, 1000u, 70'000u, 1u << 20, 33u << 20}) {
      for (int place : {0, 1, place_interleaved, place_unknown}) all.push_back({a.allocate(bytes, place), bytes});
    }
    for (const held& h : all) b.release(h.b, h.bytes);
  }
  EXPECT_EQ(os.mapped(), 0u);
  EXPECT_EQ(os.wrong_unmaps(), 0);
}

TEST(pools, very_large_blocks_go_to_the_system_and_back) {
  fake_backend os;
  pools p(os, {0, 3}, true);
  cache c(p, 0);
  const std::size_t bytes = largest_block_bytes + 1;
  const block b = c.allocate(bytes, 1);
  EXPECT_EQ(b.place, 1);
  ASSERT_EQ(os.preferred().size(), 1u);
  EXPECT_EQ(os.preferred()[0], (std::pair<void*, int>(b.data, 3)));
  static_cast<char*>(b.data)[bytes - 1] = 1;
  EXPECT_EQ(os.mapped(), 1u);
  c.release(b, bytes);
  EXPECT_EQ(os.mapped(), 0u);
  c.flush_counts();
  EXPECT_EQ(p.live_bytes(), 0);
}

TEST(pools, peaks_are_exact_to_the_stated_precision) {
  constexpr std::int64_t block_bytes = 10'000, blocks = 1000, caches = 2;
  pools p(os::pretended_memory(), {0, 1}, true);
  std::vector<block> zero, one;
  cache a(p, 0), b(p, 1);
  for (int i = 0; i < blocks; i++) {
    zero.push_back(a.allocate(block_bytes, 0));
    one.push_back(b.allocate(block_bytes / 2, 1));
  }
  constexpr std::int64_t precision = caches * pools::count_precision_bytes;
  EXPECT_NEAR(static_cast<double>(p.peak_bytes(0)), block_bytes * blocks, precision);
  EXPECT_NEAR(static_cast<double>(p.peak_bytes(1)), block_bytes / 2 * blocks, precision);
  EXPECT_NEAR(static_cast<double>(p.peak_bytes()), block_bytes * blocks * 1.5, precision);
  a.flush_counts();
  b.flush_counts();
  EXPECT_EQ(p.live_bytes(), block_bytes * blocks + block_bytes / 2 * blocks);
  for (const block& x : zero) b.release(x, block_bytes);  // by the other one
  for (const block& x : one) a.release(x, block_bytes / 2);
  a.flush_counts();
  b.flush_counts();
  EXPECT_EQ(p.live_bytes(), 0);
  EXPECT_GE(p.peak_bytes(), block_bytes * blocks * 3 / 2 - precision);
  p.reset_peaks();
  EXPECT_EQ(p.peak_bytes(), 0);
  EXPECT_EQ(p.peak_bytes(0), 0);
}

TEST(pools, do_not_count_unless_asked) {
  pools p(os::pretended_memory(), {0}, false);
  cache c(p, 0);
  const block b = c.allocate(1 << 20, 0);
  c.flush_counts();
  EXPECT_EQ(p.live_bytes(), 0);
  c.release(b, 1 << 20);
}

TEST(pools, refused_binding_is_said_and_survived) {
  fake_backend os;
  os.refuse_binding = os.refuse_interleaving = true;
  pools p(os, {0, 1}, true);
  cache c(p, 0);
  EXPECT_FALSE(p.lost().bind_refused);
  const held small{c.allocate(100, 1), 100}, large{c.allocate(40 << 20, 1), 40 << 20};
  EXPECT_TRUE(p.lost().bind_refused);
  EXPECT_FALSE(p.lost().interleave_refused);
  const held spread{c.allocate(100, place_interleaved), 100};
  EXPECT_TRUE(p.lost().interleave_refused);
  for (const held& h : {small, large, spread}) {
    mark(h, 7);
    EXPECT_TRUE(is_marked(h, 7));
    c.release(h.b, h.bytes);
  }
}

TEST(pools, one_node_needs_no_binding) {
  fake_backend os;
  pools p(os, {5}, true);
  cache c(p, 0);
  for (int place : {0, place_interleaved, place_unknown}) c.release(c.allocate(100, place), 100);
  EXPECT_TRUE(os.preferred().empty());
  EXPECT_TRUE(os.interleaved().empty());
}

TEST(pools, interleaved_chunks_name_all_nodes) {
  fake_backend os;
  pools p(os, {2, 5, 9}, true);
  cache c(p, 1);
  const block b = c.allocate(100'000, place_interleaved);
  EXPECT_EQ(b.place, place_interleaved);
  ASSERT_EQ(os.interleaved().size(), 1u);
  EXPECT_EQ(os.interleaved()[0], (std::vector{2, 5, 9}));
  c.release(b, 100'000);
}

// First touch: nobody knows where a new block is; once it was written its place is remembered for the next user.
TEST(pools, first_touch_blocks_keep_their_places) {
  fake_backend os;
  pools p(os, {0, 1}, true);
  cache c(p, 0);
  block b = c.allocate(5000, place_unknown);
  EXPECT_EQ(b.place, place_unknown);
  EXPECT_TRUE(os.preferred().empty()) << "the system shall decide";
  b.place = 1;  // found out after the first write
  c.release(b, 5000);
  const block again = c.allocate(5000, place_unknown);
  EXPECT_EQ(again.data, b.data);
  EXPECT_EQ(again.place, 1);
  EXPECT_EQ(again.pool, place_unknown);
  c.release(again, 5000);
}

TEST(pools, first_touch_places_survive_the_way_through_other_caches) {
  pools p(os::pretended_memory(), {0, 1}, true);
  std::map<void*, int> place;
  std::vector<block> all;
  {
    cache c(p, 0);
    for (int i = 0; i < 500; i++) {
      block b = c.allocate(2000, place_unknown);
      b.place = i % 2;
      place[b.data] = b.place;
      all.push_back(b);
    }
    cache d(p, 1);
    for (const block& b : all) d.release(b, 2000);
  }
  cache e(p, 0);
  int known = 0;
  for (int i = 0; i < 500; i++) {
    const block b = e.allocate(2000, place_unknown);
    if (const auto it = place.find(b.data); it != place.end()) {
      known++;
      EXPECT_EQ(b.place, it->second);
    }
  }
  EXPECT_GT(known, 400);
}

TEST(pools, know_nodes_by_index) {
  fake_backend os;
  pools p(os, {3, 8}, true);
  const int here = 0, there = 0;
  os.node_of_page[&here] = 8;
  os.node_of_page[&there] = 5;  // none of ours
  EXPECT_EQ(p.node_of(&here), 1);
  EXPECT_EQ(p.node_of(&there), place_unknown);
  EXPECT_EQ(p.node_of(&p), place_unknown);
}

TEST(pools, running_out_is_an_exception_and_not_counted) {
  fake_backend os;
  os.bytes_left = 3 << 20;
  pools p(os, {0, 1}, true);
  cache c(p, 0);
  std::vector<held> all;
  const auto fill = [&](std::size_t bytes) {
    EXPECT_THROW(
        for (;;) {
          all.push_back({c.allocate(bytes, 0), bytes});
          mark(all.back(), 1);
        },
        std::bad_alloc);
  };
  EXPECT_THROW(c.allocate(40 << 20, 0), std::bad_alloc);
  fill(100'000);
  fill(1000);
  std::int64_t live = 0;
  for (const held& h : all) live += static_cast<std::int64_t>(h.bytes);
  c.flush_counts();
  EXPECT_EQ(p.live_bytes(), live);
  EXPECT_GT(all.size(), 10u);
  for (const held& h : all) {
    EXPECT_TRUE(is_marked(h, 1));
    c.release(h.b, h.bytes);
  }
  all.clear();
  fill(100'000);  // all of it is there again
  for (const held& h : all) c.release(h.b, h.bytes);
  c.flush_counts();
  EXPECT_EQ(p.live_bytes(), 0);
}

// While it maps memory, another thread uses the pool.
class interrupted_backend : public fake_backend {
 public:
  std::function<void()> meanwhile;
  void* map(std::size_t bytes, std::size_t alignment) override {
    if (meanwhile) std::thread(std::exchange(meanwhile, nullptr)).join();
    return fake_backend::map(bytes, alignment);
  }
};

TEST(pools, others_go_on_while_one_waits_for_the_system) {
  interrupted_backend os;
  pools p(os, {0}, true);
  cache here(p, 0), there(p, 0);
  const block used = there.allocate(100, 0);
  bool went_on = false;
  os.meanwhile = [&] {
    std::size_t chunks = 0;
    p.for_each_chunk([&](char*, std::size_t, std::size_t) { chunks++; });
    const block same_class = there.allocate(100, 0);
    there.release(same_class, 100);
    there.release(used, 100);
    went_on = chunks > 0;
  };
  const std::size_t larger_than_an_extent = std::size_t{5} << 20;
  here.release(here.allocate(larger_than_an_extent, 0), larger_than_an_extent);
  EXPECT_TRUE(went_on);
}

TEST(pools, who_grow_at_once_share_an_extent) {
  fake_backend os;
  {
    pools p(os, {0}, true);
    std::vector<std::thread> all;
    for (std::size_t t = 0; t < 8; t++)
      all.emplace_back([&p, t] {
        cache c(p, 0);
        std::vector<held> some;
        for (std::size_t i = 0; i < 20; i++)
          some.push_back({c.allocate(100 << (t % 3), 0), std::size_t{100} << (t % 3)});
        for (const held& h : some) mark(h, static_cast<unsigned char>(t));
        for (const held& h : some) {
          EXPECT_TRUE(is_marked(h, static_cast<unsigned char>(t)));
          c.release(h.b, h.bytes);
        }
      });
    for (std::thread& t : all) t.join();
    EXPECT_EQ(os.total_maps(), 1u);
  }
  EXPECT_EQ(os.mapped(), 0u);
}

TEST(pools, memory_comes_in_large_extents_bound_once) {
  fake_backend os;
  pools p(os, {0, 1}, true);
  p.warm_up(1);
  p.warm_up(1);
  EXPECT_EQ(os.total_maps(), 1u);
  ASSERT_EQ(os.preferred().size(), 1u);
  EXPECT_EQ(os.preferred()[0].second, 1);
  cache c(p, 1);
  std::vector<held> all;
  for (std::size_t bytes : {100u, 1000u, 10'000u, 100'000u}) all.push_back({c.allocate(bytes, 1), bytes});
  EXPECT_EQ(os.total_maps(), 1u);  // every size class from the same one
  for (const held& h : all) c.release(h.b, h.bytes);
}

TEST(pools, chunks_can_be_walked) {
  pools p(os::pretended_memory(), {0}, false);
  cache c(p, 0);
  std::set<void*> blocks;
  for (int i = 0; i < 100; i++) blocks.insert(c.allocate(200, 0).data);
  std::size_t found = 0;
  p.for_each_chunk([&](char* data, std::size_t bytes, std::size_t block_bytes) {
    EXPECT_EQ(block_bytes, 256u);
    for (std::size_t at = 0; at + block_bytes <= bytes; at += block_bytes) found += blocks.contains(data + at);
  });
  EXPECT_EQ(found, blocks.size());
  for (void* b : blocks) c.release({b, 0, 0}, 200);
}

// Blocks handed from thread to thread in a circle, each with a cache of its own on one of three nodes.
TEST(pools, concurrent_allocation_and_release_across_threads) {
  fake_backend os;
  constexpr int threads = 4;
  constexpr int each = 20'000;
  {
    pools p(os, {0, 1, 2}, true);
    struct mailbox {
      std::mutex m;
      std::deque<held> items;
    } boxes[threads];
    std::atomic<int> wrong{0};
    const auto work = [&](int me) {
      cache c(p, me % 3);
      std::mt19937 random(static_cast<unsigned>(me));
      const int places[] = {0, 1, 2, place_interleaved, place_unknown};
      const auto release_some = [&](std::size_t most) {
        for (std::size_t n = 0; n < most; n++) {
          held h;
          {
            std::lock_guard guard(boxes[me].m);
            if (boxes[me].items.empty()) return;
            h = boxes[me].items.front();
            boxes[me].items.pop_front();
          }
          wrong += !is_marked(h, static_cast<unsigned char>(h.bytes));
          c.release(h.b, h.bytes);
        }
      };
      for (int i = 0; i < each; i++) {
        const std::size_t bytes = random() % (i % 64 == 0 ? 300'000 : 2000);
        const held h{c.allocate(bytes, places[random() % 5]), bytes};
        mark(h, static_cast<unsigned char>(bytes));
        {
          std::lock_guard guard(boxes[(me + 1) % threads].m);
          boxes[(me + 1) % threads].items.push_back(h);
        }
        if (i % 3 == 0) release_some(6);
      }
      release_some(each);
    };
    std::vector<std::thread> all;
    for (int t = 0; t < threads; t++) all.emplace_back(work, t);
    for (std::thread& t : all) t.join();
    EXPECT_EQ(wrong, 0);
    cache last(p, 0);
    for (mailbox& m : boxes)
      for (const held& h : m.items) last.release(h.b, h.bytes);
    last.flush_counts();
    EXPECT_EQ(p.live_bytes(), 0);
  }
  EXPECT_EQ(os.mapped(), 0u);
  EXPECT_EQ(os.wrong_unmaps(), 0);
}

}  // namespace
}  // namespace weir::memory
