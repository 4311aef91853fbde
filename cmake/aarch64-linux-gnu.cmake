# Debian's cross compiler (g++-aarch64-linux-gnu), for 64-bit ARM boards under Linux: Raspberry Pi 3 and later,
# Jetson. Programs are tried with qemu-aarch64 where there is no board.
# POET_SYSROOT: a folder with Debian's arm64 libraries, for all of poet (tools/arm64_sysroot.sh makes one); without it only
# what needs no library can be compiled, as apps/device is.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES POET_SYSROOT)
if(POET_SYSROOT)
  set(CMAKE_SYSROOT ${POET_SYSROOT})
  set(CMAKE_FIND_ROOT_PATH ${POET_SYSROOT})
  set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
  list(APPEND CMAKE_CROSSCOMPILING_EMULATOR -L ${POET_SYSROOT})
  set(ENV{PKG_CONFIG_SYSROOT_DIR} ${POET_SYSROOT})
  set(ENV{PKG_CONFIG_LIBDIR} ${POET_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${POET_SYSROOT}/usr/share/pkgconfig)
else()
  set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
endif()
