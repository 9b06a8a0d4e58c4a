// The guest's first program: makes a Linux system of the bare kernel, runs the job, says how it ended, switches the
// machine off. Serial ports: 0 the kernel's messages, 1 and 2 the job's output and errors, 3 what is said to the command:
// lines "started", "code LINE OF /proc/PID/maps", "exit STATUS", "signal NUMBER", "out-of-memory", "failed REASON".
#include "../model/marks.hpp"
#include "exit_watch.hpp"
#include "job.hpp"
#include "memory_filter.hpp"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace {

using namespace weir::emulator;

int command_port = -1;

[[noreturn]] void switch_off() {
  ::sync();
  ::reboot(RB_POWER_OFF);
  ::_exit(1);   // the kernel panics, and with that the machine ends too
}

void write_all(int descriptor, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(descriptor, text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) return;
    if (n > 0) done += static_cast<std::size_t>(n);
  }
}

void tell(const std::string& line) {
  write_all(command_port, line + "\n");
  ::tcdrain(command_port);
}

[[noreturn]] void give_up(const std::string& what) {
  tell("failed " + what + ": " + std::strerror(errno));
  switch_off();
}

// ---------------------------------------------------------------- a system

void mount_at(const char* type, const char* folder) {
  ::mkdir(folder, 0755);
  if (::mount(type, folder, type, 0, nullptr) != 0) give_up(std::string("mount ") + folder);
}

int open_port(int number) {
  const std::string name = "/dev/ttyS" + std::to_string(number);
  const int port = ::open(name.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);
  termios settings{};
  if (port < 0 || ::tcgetattr(port, &settings) != 0) return -1;
  ::cfmakeraw(&settings);
  ::tcsetattr(port, TCSANOW, &settings);
  return port;
}

void bring_up_loopback() {
  const int s = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (s >= 0) ::ioctl(s, SIOCSIFFLAGS, &request);   // a program that needs no network does not mind
  ::close(s);
}

bool put(const std::string& path, const std::string& value) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const bool done = file >= 0 && ::write(file, value.data(), value.size()) == static_cast<ssize_t>(value.size());
  const int error = errno;
  ::close(file);
  errno = error;
  return done;
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The number after a word in a file of words and numbers; 0 if it is not there.
std::uint64_t number_after(const std::string& path, const std::string& word) {
  std::istringstream words(contents(path));
  for (std::string w; words >> w;)
    if (w == word && words >> w) return std::strtoull(w.c_str(), nullptr, 10);
  return 0;
}

// From the beginning of a thread to the first look at pages, and from one to the next. The longest pause comes first: the
// kernel refuses a shortest one that is longer. All pages at a time, as in Drebes et al., PACT 2016,
// section 6.1.
void set_scans(const std::string& ms) {
  const std::string folder = "/sys/kernel/debug/sched/numa_balancing/";
  ::mount("debugfs", "/sys/kernel/debug", "debugfs", 0, nullptr);
  for (const auto& [name, value] : {std::pair<const char*, std::string>{"scan_period_max_ms", "100000"}, {"scan_period_min_ms", ms}, {"scan_delay_ms", ms}, {"scan_size_mb", "100000"}})
    if (!put(folder + name, value)) give_up("numa_balancing: " + std::string(name));
}

void adjust_kernel(const job& j) {
  put("/proc/sys/kernel/numa_balancing", j.numa_balancing ? "1" : "0");   // is not there with one node
  if (j.numa_balancing && !j.scan_ms.empty()) set_scans(j.scan_ms);
  if (!put("/sys/kernel/mm/transparent_hugepage/enabled", j.huge_pages)) give_up("huge pages: " + j.huge_pages);
}

// The cpuset that the job is to run in, or nothing.
std::string make_cpuset(const job& j) {
  if (j.cpus.empty() && j.memory_nodes.empty()) return {};
  const std::string root = "/sys/fs/cgroup", group = root + "/job";
  if (!put(root + "/cgroup.subtree_control", "+cpuset") || ::mkdir(group.c_str(), 0755) != 0) give_up("cpuset");
  if (!j.cpus.empty() && !put(group + "/cpuset.cpus", j.cpus)) give_up("cpuset: CPUs " + j.cpus);
  if (!j.memory_nodes.empty() && !put(group + "/cpuset.mems", j.memory_nodes)) give_up("cpuset: nodes " + j.memory_nodes);
  return group;
}

// The memory of the model's clocks under the name that weir/region.h looks for. Without a model there is no such
// device.
void show_clock() {
  std::error_code none;   // a kernel without PCI has no such folder
  for (const auto& device : std::filesystem::directory_iterator("/sys/bus/pci/devices", none)) {
    const std::string folder = device.path();
    if (contents(folder + "/vendor") != "0x1af4\n" || contents(folder + "/device") != "0x1110\n") continue;
    put(folder + "/enable", "1");
    if (::symlink((folder + "/resource2").c_str(), "/dev/weir-clock") != 0) give_up("/dev/weir-clock");
  }
}

// ---------------------------------------------------------------- what the plugin is told

#define WEIR_MARK(kind, number) __asm__ volatile(".byte 0x0f, 0x1f, 0x80, %c0, %c1, 0x4d, 0x4e" : : "i"(kind), "i"(number) : "memory")

// The access that follows a mark has an address whose lower half is the function's.
template <int function>
void tell_address(std::uint64_t address) {
  constexpr std::uint64_t window = std::uint64_t{1} << 40, page = 4096;
  const std::uint64_t at = window | (address & 0xffffffff);
  void* const there = reinterpret_cast<void*>(at / page * page);
  if (::mmap(there, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != there) return;
  *reinterpret_cast<volatile char*>(there) = 0;   // no fault between the mark and the access
  __asm__ volatile(".byte 0x0f, 0x1f, 0x80, %c1, %c2, 0x4d, 0x4e\n\tmovb (%0), %%al" : : "r"(at), "i"(static_cast<int>(mark_kind::kernel_address)), "i"(function) : "al", "memory");
  ::munmap(there, page);
}

void tell_kernel_addresses() {
  std::ifstream symbols("/proc/kallsyms");
  std::string address, kind, name;
  for (std::string line; std::getline(symbols, line);) {
    if (!line.ends_with("asm_exc_page_fault") && !line.ends_with("folio_migrate_flags") && !line.ends_with("folio_copy") && !line.ends_with("copy_page")) continue;
    std::istringstream(line) >> address >> kind >> name;
    const std::uint64_t value = std::strtoull(address.c_str(), nullptr, 16);
    if (name == "asm_exc_page_fault") tell_address<static_cast<int>(kernel_function::page_fault)>(value);
    if (name == "folio_migrate_flags") tell_address<static_cast<int>(kernel_function::page_moved)>(value);
    if (name == "folio_copy") tell_address<static_cast<int>(kernel_function::page_moving)>(value);
    if (name == "copy_page") tell_address<static_cast<int>(kernel_function::copy_page)>(value);
  }
}

// ---------------------------------------------------------------- the job

// In the child. What goes wrong here comes back through the pipe `complaints` as text. It begins when `go` is closed.
[[noreturn]] void become(const job& j, const std::string& cpuset, int output, int errors, int complaints, int go) {
  const auto fail = [&](const std::string& what) {
    write_all(complaints, what + ": " + std::strerror(errno));
    ::_exit(127);
  };
  char nothing;
  while (::read(go, &nothing, 1) < 0 && errno == EINTR) {}
  ::setsid();
  // The same code has the same address in each run and, unlike by chance, in each process: QEMU keeps a page's
  // translation with the address that it was first used at.
  if (j.profile && ::personality(ADDR_NO_RANDOMIZE) < 0) fail("fixed addresses");
  if (!cpuset.empty() && !put(cpuset + "/cgroup.procs", std::to_string(::getpid()))) fail("cpuset");
  ::dup2(::open("/dev/null", O_RDONLY), 0);
  ::dup2(output, 1);
  ::dup2(errors, 2);
  if (::chdir(j.folder.c_str()) != 0) fail(j.folder);
  std::vector<char*> arguments, environment;
  for (const std::string& a : j.arguments) arguments.push_back(const_cast<char*>(a.c_str()));
  for (const std::string& e : j.environment) environment.push_back(const_cast<char*>(e.c_str()));
  arguments.push_back(nullptr), environment.push_back(nullptr);
  if (j.refuse_memory_calls && !refuse_memory_calls()) fail("refusing memory calls");
  ::execve(j.program.c_str(), arguments.data(), environment.data());
  fail(j.program);
  std::abort();
}

// Waits for the child, and takes away whatever processes end before it.
int wait_for(pid_t child, exit_watch& watch) {
  int status = 0;
  for (pid_t ended = 0; ended != child;) {
    const pid_t changed = ::wait(&status);
    if (changed < 0 && errno != EINTR) give_up("wait");
    if (changed > 0 && WIFSTOPPED(status)) watch.stopped(status);
    else ended = changed;
  }
  return status;
}

// This program's own code comes last: it is at the addresses of no program but those that are linked to a fixed one.
void tell_code(const exit_watch& watch) {
  std::string text;
  for (const std::string& line : watch.code()) text += "code " + line + "\n";
  for (const std::string& line : code_of("self")) text += "code " + line + "\n";
  write_all(command_port, text);
  ::tcdrain(command_port);
}

// Whether the program was started; otherwise why not.
std::string start_complaint(int reader) {
  std::string text;
  char buffer[256];
  for (ssize_t n; (n = ::read(reader, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  ::close(reader);
  return text;
}

void run(const job& j, int output, int errors) {
  const std::string cpuset = make_cpuset(j);
  int complaints[2], go[2];
  if (::pipe2(complaints, O_CLOEXEC) != 0 || ::pipe2(go, O_CLOEXEC) != 0) give_up("pipe");
  tell("started");
  WEIR_MARK(static_cast<int>(mark_kind::program_begin), 0);
  if (j.whole_program) WEIR_MARK(static_cast<int>(mark_kind::region_begin), 255);
  const pid_t child = ::fork();
  if (child < 0) give_up("fork");
  if (child == 0) ::close(go[1]), become(j, cpuset, output, errors, complaints[1], go[0]);
  exit_watch watch;
  if (j.profile && !watch.begin(child)) give_up("ptrace");
  ::close(complaints[1]), ::close(go[0]), ::close(go[1]);
  const std::string complaint = start_complaint(complaints[0]);
  const int status = wait_for(child, watch);
  if (j.whole_program) WEIR_MARK(static_cast<int>(mark_kind::region_end), 255);
  WEIR_MARK(static_cast<int>(mark_kind::program_end), 0);
  ::tcdrain(output);
  ::tcdrain(errors);
  if (j.profile) tell_code(watch);
  if (number_after("/proc/vmstat", "oom_kill") > 0) tell("out-of-memory");
  if (!complaint.empty()) tell("failed " + complaint);
  else if (WIFEXITED(status)) tell("exit " + std::to_string(WEXITSTATUS(status)));
  else tell("signal " + std::to_string(WTERMSIG(status)));
}

}  // namespace

int main() {
  mount_at("devtmpfs", "/dev");
  command_port = open_port(3);
  const int output = open_port(1), errors = open_port(2);
  if (command_port < 0 || output < 0 || errors < 0) switch_off();
  mount_at("proc", "/proc");
  mount_at("sysfs", "/sys");
  mount_at("tmpfs", "/dev/shm");
  mount_at("cgroup2", "/sys/fs/cgroup");
  bring_up_loopback();
  const job j = job_from_text(contents(job_path));
  adjust_kernel(j);
  show_clock();
  tell_kernel_addresses();
  run(j, output, errors);
  switch_off();
}
