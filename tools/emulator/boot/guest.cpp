// QEMU's arguments, its process, and what comes out of it.
#include "guest.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <sstream>
#include <system_error>

#include "child.hpp"
#include "../model/clocks.hpp"
#include "descriptors.hpp"
#include "signals.hpp"

namespace weir::emulator {
namespace {

using clock = std::chrono::steady_clock;

// ---------------------------------------------------------------- the machine

// Everything QEMU inherits.
struct connections {
  descriptor archive, console, config, clock;
  pipe_ends output = make_pipe(), errors = make_pipe(), control = make_pipe(), report = make_pipe(), complaints = make_pipe();
};

void add_nodes(std::vector<std::string>& a, const layout& shape) {
  int cpu = 0;
  for (std::size_t n = 0; n < shape.cpus.size(); n++) {
    const int count = shape.cpus[n];
    const std::string cpus = count == 0 ? "" : fmt::format(",cpus={}-{}", cpu, cpu + count - 1);
    a.insert(a.end(), {"-object", fmt::format("memory-backend-ram,id=memory{},size={}M", n, shape.memory_mib[n])});
    a.insert(a.end(), {"-numa", fmt::format("node,nodeid={0},memdev=memory{0}{1}", n, cpus)});
    cpu += count;
  }
  for (std::size_t i = 0; i < shape.distance.size(); i++)
    if (const std::size_t from = i / shape.cpus.size(), to = i % shape.cpus.size(); from != to) a.insert(a.end(), {"-numa", fmt::format("dist,src={},dst={},val={}", from, to, shape.distance[i])});
}

// One socket a node, as far as CPUs can be divided so.
std::string smp(const layout& shape) {
  int with_cpus = 0, most = 0;
  for (int c : shape.cpus) with_cpus += c > 0, most = std::max(most, c);
  const int cpus = shape.cpu_count();
  if (with_cpus * most != cpus) return fmt::format("cpus={0},sockets={0},cores=1,threads=1", cpus);
  return fmt::format("cpus={},sockets={},cores={},threads=1", cpus, with_cpus, most);
}

// nohz_full: timer ticks of CPUs that run one program would be a good part of what is measured. Where the kernel is to move
// pages, it needs them: it looks at pages from its tick. no_timer_check: on a busy host emulated ticks come too late for the
// kernel's test of its timer, and it would panic.
std::string kernel_line(const guest& g) {
  const std::string ticks = g.work.numa_balancing ? "numa_balancing=enable" : fmt::format("nohz_full=0-{} numa_balancing=disable", g.shape.cpu_count() - 1);
  return "console=ttyS0 quiet panic=-1 no_timer_check nokaslr mitigations=off tsc=reliable clocksource=tsc " + ticks;
}

void add_port(std::vector<std::string>& a, const char* name, const std::string& path) {
  a.insert(a.end(), {"-chardev", fmt::format("file,id={},path={}", name, path), "-serial", fmt::format("chardev:{}", name)});
}

// The model and the memory that its clocks lie in, which the guest sees as a PCI device's. Its block comes after the
// nodes': address_map.hpp counts on theirs being the first.
void add_model(std::vector<std::string>& a, const equipment& tools, const connections& c) {
  const std::string memory = fmt::format("size={},share=on,mem-path={}", clock_memory_bytes, c.clock.path());
  a.insert(a.end(), {"-object", "memory-backend-file,id=clock," + memory, "-device", "ivshmem-plain,memdev=clock"});
  const int config = c.config.number(), report = c.report.writer.number(), times = c.clock.number();
  a.insert(a.end(), {"-plugin", fmt::format("{},config={},report={},clock={}", tools.plugin, config, report, times)});
}

// One thread per CPU; nothing in the machine but four serial ports, as guest/init.cpp uses them, and its clocks.
std::vector<std::string> qemu_arguments(const guest& g, const equipment& tools, const connections& c) {
  // 5-level page tables would make every page walk of the emulator longer, for nothing.
  std::vector<std::string> a = {tools.qemu, "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-accel", "tcg,thread=multi", "-cpu", "max,la57=off",
                                "-m", fmt::format("{}M", g.shape.memory_total_mib()), "-smp", smp(g.shape)};
  add_nodes(a, g.shape);
  add_port(a, "console", c.console.path());
  add_port(a, "output", c.output.writer.path());
  add_port(a, "errors", c.errors.writer.path());
  add_port(a, "control", c.control.writer.path());
  a.insert(a.end(), {"-kernel", tools.kernel, "-initrd", c.archive.path(), "-append", kernel_line(g)});
  if (g.model) add_model(a, tools, c);
  return a;
}

// The archive lies on node 0, and so does what the kernel unpacks of it.
layout with_room_for(layout shape, std::size_t archive_bytes) {
  shape.memory_mib[0] += 128 + static_cast<int>(3 * archive_bytes >> 20);
  return shape;
}

// ---------------------------------------------------------------- the process

// In the child.
void connect(const connections& c) {
  for (const descriptor* d : {&c.archive, &c.console, &c.config, &c.clock, &c.output.writer, &c.errors.writer,
                              &c.control.writer, &c.report.writer})
    if (d->open()) ::fcntl(d->number(), F_SETFD, 0);
  const int nothing = ::open("/dev/null", O_RDWR);
  ::dup2(nothing, 0), ::dup2(nothing, 1), ::dup2(c.complaints.writer.number(), 2);
}

// ---------------------------------------------------------------- what it says

// Cuts text into lines as it comes.
template <class Take>
void take_lines(std::string& text, Take take) {
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) take(text.substr(begin, end - begin));
  text.erase(0, begin);
}

class listener {
 public:
  listener(const guest& g, clock::time_point begin) : guest_(g), begin_(begin) {}

  // Reads until QEMU has closed everything, a signal arrives, or time is over. False if that is the time to boot in.
  bool listen(connections& c, const signals_held& signals, clock::time_point boot_deadline) {
    const clock::time_point deadline = guest_.limit.count() == 0 ? clock::time_point::max() : begin_ + guest_.limit;
    std::array<pollfd, 6> open{};
    const std::array<const descriptor*, 5> readers = {&c.output.reader, &c.errors.reader, &c.control.reader, &c.report.reader, &c.complaints.reader};
    for (std::size_t i = 0; i < readers.size(); i++) open[i] = {readers[i]->number(), POLLIN, 0};
    open[5] = {signals.reader().number(), POLLIN, 0};
    for (std::size_t left = readers.size(); left > 0;) {
      const bool boots = result_.boot_seconds == 0 && boot_deadline < deadline;
      const int ready = ::poll(open.data(), open.size(), milliseconds_until(boots ? boot_deadline : deadline));
      if (ready < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "poll");
      if (ready == 0 && boots) return false;
      if (ready == 0) return stop(ending::timed_out, 0);
      if (ready > 0 && open[5].revents != 0) return stop(ending::interrupted, signals.take());
      for (std::size_t i = 0; ready > 0 && i < readers.size(); i++)
        if (open[i].revents != 0 && !take(i, *readers[i])) open[i].fd = -1, left--;
    }
    return true;
  }

  guest_result result(const connections& c, int boots) {
    result_.boots = boots;
    if (!ended_ || (result_.end == ending::timed_out && result_.boot_seconds == 0)) result_.what = last_words(c);
    result_.seconds = std::chrono::duration<double>(clock::now() - begin_).count();
    return std::move(result_);
  }

 private:
  static int milliseconds_until(clock::time_point deadline) {
    if (deadline == clock::time_point::max()) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
  }

  bool stop(ending end, int number) {
    ended_ = true;
    result_.end = end;
    result_.number = number;
    return true;
  }

  bool take(std::size_t which, const descriptor& reader) {
    std::string& text = texts_[which];
    if (!read_some(reader, text)) return false;
    if (which == 0 || which == 1) {
      guest_.show(which == 0 ? stream::output : stream::errors, text);
      text.clear();
    }
    if (which == 2) take_lines(text, [&](const std::string& line) { obey(line); });
    if (which == 3) take_lines(text, [&](const std::string& line) { result_.regions.push_back(report_from_text(line)); });
    return true;
  }

  // What the guest's first program says.
  void obey(const std::string& line) {
    std::istringstream words(line);
    std::string verb;
    words >> verb;
    if (verb == "started") {
      result_.boot_seconds = std::chrono::duration<double>(clock::now() - begin_).count();
      guest_.started();
    } else if (verb == "code") {
      result_.code.add(line.substr(verb.size() + 1));
    } else if (verb == "out-of-memory") {
      result_.out_of_memory = true;
    } else if (verb == "failed") {
      stop(ending::failed, 0);
      result_.what = line.substr(line.find(' ') + 1);
    } else if (verb == "exit" || verb == "signal") {
      int number = 0;
      words >> number;
      stop(verb == "exit" ? ending::exited : ending::signalled, number);
    }
  }

  // The kernel's panic, else QEMU's own complaint, else the last line the kernel said.
  std::string last_words(const connections& c) const {
    std::istringstream lines(read_memory_file(c.console));
    std::string last;
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (line.find("Kernel panic") != std::string::npos) return line;
      if (!line.empty()) last = line;
    }
    if (const std::string& said = texts_[4]; !said.empty()) return said.substr(0, said.find('\n'));
    return last.empty() ? "its kernel said nothing" : last;
  }

  const guest& guest_;
  clock::time_point begin_;
  std::array<std::string, 5> texts_;
  bool ended_ = false;
  guest_result result_;
};

// Only QEMU may hold these open: their end is the end of QEMU.
void close_writers(connections& c) {
  for (pipe_ends* p : {&c.output, &c.errors, &c.control, &c.report, &c.complaints}) p->writer.close();
}

}  // namespace

std::chrono::milliseconds usual_boot_limit(const layout& shape) { return std::chrono::seconds(60 + 3 * shape.cpu_count()); }

guest_result run_guest(const guest& original, const equipment& tools) {
  guest g = original;
  g.files.add(tools.init, guest_init_path);
  g.files.add_text(job_path, to_text(g.work));
  const std::string archive_bytes = g.files.bytes();
  g.shape = with_room_for(g.shape, archive_bytes.size());
  if (g.model) g.model->node_bytes[0] = std::uint64_t(g.shape.memory_mib[0]) << 20;
  if (g.boot_limit.count() == 0) g.boot_limit = usual_boot_limit(g.shape);
  const signals_held signals;
  const clock::time_point begin = clock::now();
  for (int boot = 1;; boot++) {
    connections c;
    c.archive = make_memory_file("archive", archive_bytes);
    c.console = make_memory_file("console", {});
    if (g.model) {
      c.config = make_memory_file("config", to_text(*g.model));
      c.clock = make_memory_file("clock", std::string(clock_memory_bytes, '\0'));
    }
    listener all(g, begin);
    bool over = false;
    {
      const child qemu(qemu_arguments(g, tools, c), signals.before(), SIGKILL, tools.qemu, [&] { connect(c); });
      close_writers(c);
      over = all.listen(c, signals, boot == most_boots ? clock::time_point::max() : clock::now() + g.boot_limit);
    }
    if (over) return all.result(c, boot);
  }
}

}  // namespace weir::emulator
