// Ranges by address: the tree.
#include "flow/range_index.hpp"

#include <algorithm>
#include <limits>
#include <new>

namespace weir::flow {

struct range_index::node {
  unsigned count = 0;
};

struct range_index::leaf : node {
  leaf *before = nullptr, *next = nullptr;
  std::array<std::uintptr_t, fanout> keys;
  std::array<range_record*, fanout> records;

  // How many begin at or before the address.
  unsigned up_to(std::uintptr_t address) const {
    return static_cast<unsigned>(std::upper_bound(keys.data(), keys.data() + count, address) - keys.data());
  }
  void insert(unsigned i, range_record* r) {
    std::copy_backward(keys.data() + i, keys.data() + count, keys.data() + count + 1);
    std::copy_backward(records.data() + i, records.data() + count, records.data() + count + 1);
    keys[i] = r->first;
    records[i] = r;
    count++;
  }
  void erase(unsigned i) {
    std::copy(keys.data() + i + 1, keys.data() + count, keys.data() + i);
    std::copy(records.data() + i + 1, records.data() + count, records.data() + i);
    count--;
  }
};

// Child i has what is at or above keys[i], and below keys[i + 1]; the first one has all below keys[1].
struct range_index::branch : node {
  std::array<std::uintptr_t, fanout> keys;
  std::array<node*, fanout> children;

  unsigned child_for(std::uintptr_t address) const {
    return static_cast<unsigned>(std::upper_bound(keys.data() + 1, keys.data() + count, address) - keys.data()) - 1;
  }
  void insert(unsigned i, std::uintptr_t lowest, node* child) {
    std::copy_backward(keys.data() + i, keys.data() + count, keys.data() + count + 1);
    std::copy_backward(children.data() + i, children.data() + count, children.data() + count + 1);
    keys[i] = lowest;
    children[i] = child;
    count++;
  }
  void erase(unsigned i) {
    std::copy(keys.data() + i + 1, keys.data() + count, keys.data() + i);
    std::copy(children.data() + i + 1, children.data() + count, children.data() + i);
    count--;
  }
};

range_record* range_index::position::record() const { return leaf_ == nullptr ? nullptr : leaf_->records[index_]; }

void range_index::position::advance() {
  if (++index_ < leaf_->count) return;
  leaf_ = leaf_->next;
  index_ = 0;
}

range_index::~range_index() {
  if (root_ != nullptr) destroy(root_, levels_);
  while (spares_ != nullptr) {
    auto* const l = static_cast<leaf*>(spares_);
    spares_ = l->next;
    delete l;
  }
}

// Branches lie in leaves' memory, which is no smaller.
void range_index::destroy(node* n, unsigned levels_below) noexcept {
  static_assert(sizeof(leaf) >= sizeof(branch) && alignof(leaf) == alignof(branch));
  if (levels_below > 0) {
    const auto& b = static_cast<const branch&>(*n);
    for (unsigned i = 0; i < b.count; i++) destroy(b.children[i], levels_below - 1);
  }
  ::operator delete(n, sizeof(leaf));
}

void range_index::reserve(unsigned records) {
  // Each may split its leaf and all branches above, and give the tree a root; so may each before it. In the first leaf
  // they have room.
  const bool have_room = levels_ == 0 && size_ + records <= fanout;
  const unsigned wanted = have_room ? (root_ == nullptr ? 1 : 0) : records * (levels_ + records + 2);
  WEIR_ASSERT(wanted <= most_spares);
  while (spare_count_ < wanted) give_back(new leaf);
}

void range_index::give_back(node* n) noexcept {
  auto* const l = new (static_cast<void*>(n)) leaf;
  l->next = static_cast<leaf*>(spares_);
  spares_ = l;
  spare_count_++;
}

template <class Node>
Node* range_index::make() noexcept {
  WEIR_ASSERT(spares_ != nullptr);
  auto* const l = static_cast<leaf*>(spares_);
  spares_ = l->next;
  spare_count_--;
  return new (static_cast<void*>(l)) Node;
}

range_index::place range_index::descend(std::uintptr_t address, path& p) const {
  place found{nullptr, 0, std::numeric_limits<std::uintptr_t>::max()};
  node* n = root_;
  for (unsigned level = 0; level < levels_; level++) {
    auto& b = static_cast<branch&>(*n);
    const unsigned i = b.child_for(address);
    if (i > 0) found.low = b.keys[i];
    if (i + 1 < b.count) found.high = b.keys[i + 1];
    p.branches[level] = &b;
    p.taken[level] = i;
    n = b.children[i];
  }
  found.at = static_cast<leaf*>(n);
  return found;
}

const range_index::place& range_index::place_of(std::uintptr_t address) {
  place& known = recent_[(address >> recent_shift) % recent_places];
  if (!known.has(address)) {
    path p;
    known = descend(address, p);
  }
  return known;
}

void range_index::forget_place(const leaf* l) noexcept {
  for (place& p : recent_)
    if (p.at == l) p = {};
}

range_index::position range_index::find(std::uintptr_t address) {
  if (root_ == nullptr) return {nullptr, 0};
  const leaf* l = place_of(address).at;
  unsigned i = l->up_to(address);
  if (i > 0) {
    if (l->records[i - 1]->end() > address) return {l, i - 1};
  } else if (const leaf* b = l->before; b != nullptr && b->records[b->count - 1]->end() > address) {
    return {b, b->count - 1};
  }
  if (i == l->count) {
    l = l->next;
    i = 0;
  }
  return {l, i};
}

void range_index::add(range_record* r) noexcept {
  if (root_ == nullptr) root_ = make<leaf>();
  if (place_of(r->first).at->count == fanout) split(r->first);
  leaf& l = *place_of(r->first).at;
  l.insert(l.up_to(r->first), r);
  size_++;
}

// Makes room in the leaf of this address: one leaf becomes two, of half its records each; where the address comes
// after them all the new one gets none, for then more will probably follow.
void range_index::split(std::uintptr_t address) noexcept {
  path p;
  leaf& l = *descend(address, p).at;
  leaf& right = *make<leaf>();
  const unsigned kept = address > l.keys[fanout - 1] ? fanout : fanout / 2;
  right.count = fanout - kept;
  std::copy(l.keys.data() + kept, l.keys.data() + fanout, right.keys.data());
  std::copy(l.records.data() + kept, l.records.data() + fanout, right.records.data());
  l.count = kept;
  right.next = l.next;
  right.before = &l;
  if (l.next != nullptr) l.next->before = &right;
  l.next = &right;
  forget_place(&l);
  add_child(p, &right, kept == fanout ? address : right.keys[0]);
}

// Behind the child that was taken on the lowest level.
void range_index::add_child(path& p, node* added, std::uintptr_t lowest) noexcept {
  for (unsigned level = levels_; level-- > 0;) {
    branch* b = p.branches[level];
    unsigned i = p.taken[level] + 1;
    if (b->count < fanout) {
      b->insert(i, lowest, added);
      return;
    }
    branch& right = *make<branch>();
    right.count = fanout / 2;
    std::copy(b->keys.data() + fanout / 2, b->keys.data() + fanout, right.keys.data());
    std::copy(b->children.data() + fanout / 2, b->children.data() + fanout, right.children.data());
    b->count = fanout / 2;
    const std::uintptr_t lowest_right = right.keys[0];
    if (i > fanout / 2) {
      b = &right;
      i -= fanout / 2;
    }
    b->insert(i, lowest, added);
    added = &right;
    lowest = lowest_right;
  }
  WEIR_ASSERT(levels_ < most_levels);
  branch& root = *make<branch>();
  root.insert(0, 0, root_);
  root.insert(1, lowest, added);
  root_ = &root;
  levels_++;
}

void range_index::remove(const range_record* r) noexcept {
  leaf& l = *place_of(r->first).at;
  const unsigned i = l.up_to(r->first) - 1;
  WEIR_ASSERT(l.records[i] == r);
  l.erase(i);
  size_--;
  if (l.count > 0) return;
  path p;
  const place gone = descend(r->first, p);
  WEIR_ASSERT(gone.at == &l);
  if (l.before != nullptr) l.before->next = l.next;
  if (l.next != nullptr) l.next->before = l.before;
  forget_place(gone.at);
  remove_child(p);
  give_back(gone.at);
  while (spare_count_ > most_spares) {
    auto* const s = static_cast<leaf*>(spares_);
    spares_ = s->next;
    spare_count_--;
    delete s;
  }
}

// The child that was taken on the lowest level, and branches that have no other.
void range_index::remove_child(path& p) noexcept {
  unsigned level = levels_;
  while (level > 0 && p.branches[level - 1]->count == 1) give_back(p.branches[--level]);
  if (level == 0) {
    root_ = nullptr;
    levels_ = 0;
    return;
  }
  p.branches[level - 1]->erase(p.taken[level - 1]);
  while (levels_ > 0 && root_->count == 1) {
    node* const only = static_cast<branch&>(*root_).children[0];
    give_back(root_);
    root_ = only;
    levels_--;
  }
}

bool range_index::is_valid() {
  std::uintptr_t end = 0;
  std::size_t seen = 0;
  for (position p = find(0); p.record() != nullptr; p.advance(), seen++) {
    const range_record& r = *p.record();
    if (r.first < end || r.end() <= r.first) return false;
    if (p.leaf_->keys[p.index_] != r.first) return false;
    end = r.end();
  }
  for (const place& p : recent_) {
    path unused;
    if (p.at != nullptr && (descend(p.low, unused).at != p.at || descend(p.high - 1, unused).at != p.at)) return false;
  }
  return seen == size_;
}

}  // namespace weir::flow
