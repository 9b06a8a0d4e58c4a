// What Scotch has to say about its failures, for whoever called it.
#pragma once

#include <string>

namespace weir::partition {

// As long as one exists, messages of Scotch in this thread are kept instead of printed.
class scotch_messages {
 public:
  scotch_messages();
  ~scotch_messages();
  scotch_messages(const scotch_messages&) = delete;
  scotch_messages& operator=(const scotch_messages&) = delete;

  std::string last() const;  // empty: none, or a library of the program's own has printed it

 private:
  scotch_messages* const before_;
};

}  // namespace weir::partition
