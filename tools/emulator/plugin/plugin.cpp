// The QEMU plugin: hands what the emulated CPUs do to the model, and the model's reports to the command. Arguments:
// config=FD (the model's configuration as text), report=FD (one line for each region that ends), clock=FD (the memory
// that the guest sees, in which CPUs' clocks are to lie).
#include "../model/machine_model.hpp"
#include "../model/marks.hpp"
#include "qemu_plugin.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>

namespace {

using namespace weir::emulator;

machine_model* model = nullptr;   // made once, never destroyed: CPUs run until the process is gone

// What the guest's first program has told: where the kernel's functions begin. 0: not told.
std::array<std::atomic<std::uint32_t>, kernel_functions> function_address;
// The function a CPU is about to tell the address of, plus one.
std::array<std::atomic<std::uint8_t>, max_cpus> about_to_tell;
// Whether a CPU is moving a page. The kernel copies pages for other reasons, too, also those of other programs.
std::array<std::atomic<bool>, max_cpus> moving;

// ---------------------------------------------------------------- what CPUs do

// A block's length and the lower 48 bits of its address fit one pointer; nothing needs to be allocated and kept. A
// program's addresses have no more bits, and half of a kernel's are enough to tell its functions apart.
void* packed(std::uint64_t address, std::size_t instructions) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address << 16 | (instructions & 0xffff)));
}
std::uint64_t user_address_in(const void* data) { return reinterpret_cast<std::uintptr_t>(data) >> 16; }
std::uint32_t kernel_address_in(const void* data) { return static_cast<std::uint32_t>(user_address_in(data)); }
std::uint64_t instructions_in(const void* data) { return reinterpret_cast<std::uintptr_t>(data) & 0xffff; }

bool begins(kernel_function which, std::uint32_t address) { return address == function_address[static_cast<std::size_t>(which)].load(std::memory_order_relaxed); }
// It is as short as that in the kernel: a count, one instruction that copies, a return.
constexpr std::uint32_t copy_page_bytes = 16;
bool within_copy_page(std::uint32_t address) {
  const std::uint32_t begin = function_address[static_cast<std::size_t>(kernel_function::copy_page)].load(std::memory_order_relaxed);
  return begin != 0 && address - begin < copy_page_bytes;
}

void on_user_block(unsigned cpu, void* data) {
  if (model->running()) model->run_block(cpu, instructions_in(data), user_address_in(data));
}

void on_kernel_block(unsigned cpu, void* data) {
  if (!model->running()) return;
  const std::uint32_t address = kernel_address_in(data);
  model->run_kernel_block(cpu, instructions_in(data));
  if (begins(kernel_function::page_fault, address)) model->page_fault(cpu);
  if (begins(kernel_function::page_moving, address)) moving[cpu].store(true, std::memory_order_relaxed);
  if (begins(kernel_function::page_moved, address)) {
    moving[cpu].store(false, std::memory_order_relaxed);
    model->page_moved(cpu);
  }
}

void on_system_call(unsigned cpu, void*) {
  if (model->running()) model->system_call(cpu);
}

void take_address(unsigned cpu, std::uint64_t address) {
  if (const std::uint8_t which = about_to_tell[cpu].exchange(0); which != 0) function_address[which - 1u].store(static_cast<std::uint32_t>(address));
}

void access(unsigned cpu, qemu_plugin_meminfo_t info, std::uint64_t address, std::uint64_t code) {
  const auto physical = [&]() -> std::uint64_t {
    const qemu_plugin_hwaddr* at = qemu_plugin_get_hwaddr(info, address);
    return at == nullptr || qemu_plugin_hwaddr_is_io(at) ? UINT64_MAX : qemu_plugin_hwaddr_phys_addr(at);
  };
  model->access(cpu, address, qemu_plugin_mem_is_store(info), physical, code);
}

// QEMU (7.2) goes on to tell the callback of a program's last instruction what the kernel's instructions access that it
// has functions for: 60 lines of a CPU's registers for a thread that falls asleep and wakes.
bool is_kernels(std::uint64_t address) { return address >> 63 != 0; }

// `instruction`: its address.
void on_access(unsigned cpu, qemu_plugin_meminfo_t info, std::uint64_t address, void* instruction) {
  if (is_kernels(address)) return;
  if (model->counting()) return access(cpu, info, address, reinterpret_cast<std::uintptr_t>(instruction));
  if (about_to_tell[cpu].load(std::memory_order_relaxed) != 0) take_address(cpu, address);
}

// `instruction`: packed, the address of one that copies.
void on_kernel_copy(unsigned cpu, qemu_plugin_meminfo_t info, std::uint64_t address, void* instruction) {
  if (!model->counting() || !moving[cpu].load(std::memory_order_relaxed)) return;
  if (within_copy_page(kernel_address_in(instruction))) access(cpu, info, address, kernel_code);
}

void on_mark(unsigned cpu, void* data) {
  const auto bits = reinterpret_cast<std::uintptr_t>(data);
  const mark m{static_cast<mark_kind>(bits >> 8), static_cast<std::uint8_t>(bits)};
  switch (m.kind) {
    case mark_kind::region_begin: return model->begin(cpu, m.number);
    case mark_kind::region_end: return model->end(cpu, m.number);
    case mark_kind::program_begin: return model->begin_program(cpu);
    case mark_kind::program_end: return model->end_all(cpu);
    case mark_kind::timed_out: return model->timed_out(cpu);
    case mark_kind::clock_read: return;   // on_translate() has seen it
    case mark_kind::kernel_address:
      if (m.number < kernel_functions) about_to_tell[cpu].store(static_cast<std::uint8_t>(m.number + 1));
  }
}

void on_idle(qemu_plugin_id_t, unsigned cpu) { model->idle(cpu); }
void on_resume(qemu_plugin_id_t, unsigned cpu) { model->resume(cpu); }

// ---------------------------------------------------------------- translation

bool is_system_call(const std::uint8_t* code, std::size_t bytes) { return bytes == 2 && code[0] == 0x0f && code[1] == 0x05; }

std::optional<mark> mark_in(const qemu_plugin_insn* instruction) {
  const auto* code = static_cast<const std::uint8_t*>(qemu_plugin_insn_data(instruction));
  return mark_of(code, qemu_plugin_insn_size(instruction));
}

bool reads_clock(const qemu_plugin_tb* block, std::size_t k) {
  const auto before = k > 0 ? mark_in(qemu_plugin_tb_get_insn(block, k - 1)) : std::nullopt;
  return before && before->kind == mark_kind::clock_read;
}

void watch_instruction(qemu_plugin_insn* instruction) {
  const auto* code = static_cast<const std::uint8_t*>(qemu_plugin_insn_data(instruction));
  const std::size_t bytes = qemu_plugin_insn_size(instruction);
  if (const auto m = mark_in(instruction)) {
    const auto bits = static_cast<std::uintptr_t>(m->kind) << 8 | m->number;
    qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_mark, QEMU_PLUGIN_CB_NO_REGS, reinterpret_cast<void*>(bits));
    return;
  }
  if (is_system_call(code, bytes)) qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_system_call, QEMU_PLUGIN_CB_NO_REGS, nullptr);
  void* const address = reinterpret_cast<void*>(static_cast<std::uintptr_t>(qemu_plugin_insn_vaddr(instruction)));
  qemu_plugin_register_vcpu_mem_cb(instruction, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, address);
}

// rep movsq
bool copies(const std::uint8_t* code, std::size_t bytes) { return bytes == 3 && code[0] == 0xf3 && code[1] == 0x48 && code[2] == 0xa5; }

// Most of the kernel's accesses are not watched; of what copies, those that copy pages are picked when they happen, for
// the kernel runs before its functions' addresses are known.
void watch_kernel_instruction(qemu_plugin_insn* instruction) {
  const auto* code = static_cast<const std::uint8_t*>(qemu_plugin_insn_data(instruction));
  if (copies(code, qemu_plugin_insn_size(instruction)))
    qemu_plugin_register_vcpu_mem_cb(instruction, on_kernel_copy, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, packed(qemu_plugin_insn_vaddr(instruction), 0));
}

// Addresses in the upper half are the kernel's: it is charged by the block, and by the pages it copies.
void on_translate(qemu_plugin_id_t, qemu_plugin_tb* block) {
  const std::size_t instructions = qemu_plugin_tb_n_insns(block);
  const std::uint64_t address = qemu_plugin_tb_vaddr(block);
  if (address >> 63 != 0) {
    qemu_plugin_register_vcpu_tb_exec_cb(block, on_kernel_block, QEMU_PLUGIN_CB_NO_REGS, packed(address, instructions));
    for (std::size_t k = 0; k < instructions; k++) watch_kernel_instruction(qemu_plugin_tb_get_insn(block, k));
    return;
  }
  qemu_plugin_register_vcpu_tb_exec_cb(block, on_user_block, QEMU_PLUGIN_CB_NO_REGS, packed(address, instructions));
  for (std::size_t k = 0; k < instructions; k++)
    if (!reads_clock(block, k)) watch_instruction(qemu_plugin_tb_get_insn(block, k));
}

// ---------------------------------------------------------------- beginning

std::string read_all(int descriptor) {
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = ::pread(descriptor, buffer, sizeof buffer, static_cast<off_t>(text.size()))) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  return text;
}

void write_line(int descriptor, std::string line) {
  line += '\n';
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t n = ::write(descriptor, line.data() + done, line.size() - done);
    if (n < 0 && errno != EINTR) return;   // the command is gone, and this process soon will be
    if (n > 0) done += static_cast<std::size_t>(n);
  }
}

int descriptor_argument(int count, char** arguments, const char* name) {
  const std::string prefix = std::string(name) + "=";
  for (int i = 0; i < count; i++) {
    const std::string argument = arguments[i];
    int value = 0;
    if (argument.starts_with(prefix) && std::from_chars(argument.data() + prefix.size(), argument.data() + argument.size(), value).ec == std::errc()) return value;
  }
  throw std::runtime_error("expected the argument " + prefix + "FILE-DESCRIPTOR");
}

void* clock_memory(int descriptor) {
  void* const at = ::mmap(nullptr, clock_memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (at == MAP_FAILED) throw std::runtime_error(std::string("the memory of the clocks: ") + std::strerror(errno));
  return at;
}

void set_up(int count, char** arguments) {
  const int config = descriptor_argument(count, arguments, "config"), report = descriptor_argument(count, arguments, "report");
  const auto finished = [report](const region_report& r) { write_line(report, to_text(r)); };
  const int clock = descriptor_argument(count, arguments, "clock");
  model = new machine_model(config_from_text(read_all(config)), finished, clock_memory(clock));
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] int qemu_plugin_version = 1;

[[gnu::visibility("default")]] int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t*, int count, char** arguments) {
  try {
    set_up(count, arguments);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "weir's plugin: %s\n", e.what());
    return 1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
  qemu_plugin_register_vcpu_idle_cb(id, on_idle);
  qemu_plugin_register_vcpu_resume_cb(id, on_resume);
  return 0;
}

}  // extern "C"
