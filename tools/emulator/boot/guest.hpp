// Boots a guest, runs one program in it, and ends it: no process and no file is left, whatever happens.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../guest/job.hpp"
#include "../model/config.hpp"
#include "../model/regions.hpp"
#include "../profile/memory_map.hpp"
#include "archive.hpp"
#include "kernel.hpp"
#include "layout.hpp"

namespace weir::emulator {

// Where the kernel looks for its first program.
inline constexpr const char* guest_init_path = "/init";

enum class stream { output, errors };

struct guest {
  layout shape;
  archive files;                       // what the program needs; the system's own files are added
  job work;
  std::optional<model_config> model;   // none: nothing is measured, and the guest is several times as fast
  std::chrono::milliseconds limit{0};  // for boot and program; 0: none
  std::chrono::milliseconds boot_limit{0};  // then a guest that has not begun the program is booted anew; 0: usual_boot_limit()
  std::function<void(stream, std::string_view)> show = [](stream, std::string_view) {};   // output as it comes
  std::function<void()> started = [] {};   // the program is about to begin
};

enum class ending {
  exited,       // number: exit status
  signalled,    // number: signal
  failed,       // the program could not be started; `what` says why
  timed_out,    // if it had not begun, `what` has the guest's last words
  crashed,      // the guest ended before its program; `what` has its last words
  interrupted,  // a signal ended this; number: which
};

struct guest_result {
  ending end = ending::crashed;
  int number = 0;
  std::string what;
  bool out_of_memory = false;   // the kernel had to kill a process
  int boots = 1;                // more: the ones before had not begun the program in time
  double boot_seconds = 0, seconds = 0;   // by this machine's clock; 0: the program had not begun; `seconds` is all of it
  std::vector<region_report> regions;     // in the order in which they ended
  memory_map code;                        // of the program when it ended, if the job was to tell it
};

// Once in some hundreds of times a guest with several CPUs hangs as it boots. It has done nothing yet: another is booted. The
// last of these has all the time that `limit` leaves it, for this machine may just be slow.
inline constexpr int most_boots = 3;
// Ten times what it takes on two idle CPUs, and more.
std::chrono::milliseconds usual_boot_limit(const layout& shape);

// Takes some five seconds for the boot, and as many threads as the guest has CPUs. Blocks SIGINT, SIGTERM and SIGHUP
// while it runs; they end the guest. If this process is killed, the kernel ends QEMU with it.
// Throws std::system_error if QEMU cannot be started.
guest_result run_guest(const guest& g, const equipment& tools);

}  // namespace weir::emulator
