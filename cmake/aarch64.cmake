# Cross compilation for AArch64 with Debian's compiler; what it builds runs in QEMU's user-mode emulator. Libraries lie
# in build-aarch64/root/, where ./dev aarch64 unpacks them: installing them beside this machine's own would force those
# to the same versions.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc-12)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++-12)

get_filename_component(aarch64_root ${CMAKE_CURRENT_LIST_DIR}/../build-aarch64/root ABSOLUTE)
set(aarch64_libraries ${aarch64_root}/usr/lib/aarch64-linux-gnu)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH ${aarch64_root})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${aarch64_root})
set(ENV{PKG_CONFIG_LIBDIR} ${aarch64_libraries}/pkgconfig)
set(CMAKE_C_FLAGS_INIT "-isystem ${aarch64_root}/usr/include/aarch64-linux-gnu")
set(CMAKE_CXX_FLAGS_INIT ${CMAKE_C_FLAGS_INIT})
set(CMAKE_EXE_LINKER_FLAGS_INIT -Wl,-rpath-link,${aarch64_libraries})
set(CMAKE_SHARED_LINKER_FLAGS_INIT -Wl,-rpath-link,${aarch64_libraries})

# The C and C++ libraries come with the compiler.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH=${aarch64_libraries})
