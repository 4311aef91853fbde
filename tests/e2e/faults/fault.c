/* Preloaded into a program, fails one call of it: the n-th of a kind, counted from the start of main in each
 * process. POET_FAULT=KIND:N:ERRNO[:always] says which; "always" fails every one from there on. ERRNO 0 is no
 * failure: a read or write transfers half of what it was asked to (one byte of two or more). "kill" in place
 * of ERRNO: the process is killed there, in the middle of a transfer. POET_FAULT_NOTE names a file that gets
 * a byte per call that failed, or was to, from which the driver knows whether there was an n-th. KIND:places
 * fails none and writes to that file, a line each, the n of every call that comes from where none came
 * before, of each stack of callers the first, and a hash of that stack, which is the same wherever the
 * libraries lie.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MALLOC, OPEN, READ, WRITE, SYNC, RENAME, FORK, MMAP, THREAD, SPACE, FOLDER, KINDS };
static const char* const kinds[KINDS] = {"malloc", "open", "read",   "write", "sync",  "rename",
                                         "fork",   "mmap", "thread", "space", "folder"};
static int wanted = -1, failure, kills, always, places, note = -1;
static long at;
static atomic_long count;

/* Stacks of callers, by hash: those that were met. A child knows what its parent knew when it was forked. */
enum { DEEPEST = 96, SLOTS = 1 << 18 };
static _Atomic unsigned long met[SLOTS];
static _Thread_local int within; /* backtrace() may call what is counted */

static unsigned long hash_of_callers(void) {
  void* callers[DEEPEST];
  const int depth = backtrace(callers, DEEPEST);
  unsigned long hash = 14695981039346656037UL; /* FNV-1a, by places in their library */
  for (int i = 0; i < depth; ++i) {
    struct dl_find_object in = {.dlfo_map_start = NULL};
    _dl_find_object(callers[i], &in);
    hash = (hash ^ (unsigned long)((char*)callers[i] - (char*)in.dlfo_map_start)) * 1099511628211UL;
  }
  hash ^= hash >> 32;
  return hash == 0 ? 1 : hash;
}
static int is_new(unsigned long hash) {
  for (unsigned long slot = hash % SLOTS, tried = 0; tried < SLOTS; slot = (slot + 1) % SLOTS, ++tried) {
    unsigned long there = 0;
    if (atomic_compare_exchange_strong(&met[slot], &there, hash)) return 1;
    if (there == hash) return 0;
  }
  return 0;
}

static void note_place(long n) {
  within = 1;
  char line[48];
  const unsigned long callers = hash_of_callers();
  if (is_new(callers))
    syscall(SYS_write, note, line, snprintf(line, sizeof line, "%ld %016lx\n", n, callers));
  within = 0;
}

static void read_request(void) {
  const char* request = getenv("POET_FAULT");
  if (request == NULL) return;
  const char* colon = strchr(request, ':');
  if (colon == NULL) return;
  for (int kind = 0; kind < KINDS; ++kind)
    if (strlen(kinds[kind]) == (size_t)(colon - request) &&
        strncmp(kinds[kind], request, strlen(kinds[kind])) == 0) {
      char* rest;
      at = strtol(colon + 1, &rest, 10);
      kills = strcmp(rest, ":kill") == 0;
      failure = kills ? 0 : *rest == ':' ? (int)strtol(rest + 1, &rest, 10) : EIO;
      always = !kills && *rest == ':';
      places = strcmp(colon + 1, "places") == 0;
      const char* file = getenv("POET_FAULT_NOTE");
      /* A number that programs do not close by habit. */
      if (file != NULL) {
        const int opened =
            (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        note = fcntl(opened, F_DUPFD_CLOEXEC, 1000);
        if (note < 0) note = fcntl(opened, F_DUPFD_CLOEXEC, 200); /* few files may be open */
        syscall(SYS_close, opened);
      }
      if (places) {
        void* here;
        backtrace(&here, 1); /* loads what it needs, before anything is counted */
      }
      wanted = kind;
      unsetenv("LD_PRELOAD"); /* programs that it starts have none */
    }
}

static int fails(int kind) {
  if (kind != wanted) return 0;
  if (within) return 0;
  const long n = atomic_fetch_add(&count, 1) + 1;
  if (places) {
    note_place(n);
    return 0;
  }
  if (n != at && !(always && n > at)) return 0;
  if (note >= 0) syscall(SYS_write, note, "x", 1);
  if (kills && kind != READ && kind != WRITE) kill(getpid(), SIGKILL);
  if (failure != 0) errno = failure;
  return 1;
}

/* oneDNN 2.6 does not look whether it was given memory, and calls code that it could not map. That cannot be
 * mended here: what it asks for itself is counted, and does not fail. */
static int fails_for(int kind, const void* caller) {
  Dl_info from;
  if (!fails(kind)) return 0;
  return dladdr(caller, &from) == 0 || strstr(from.dli_fname, "libdnnl") == NULL;
}
#define CALLER __builtin_return_address(0)

#define REAL(type, name, ...)       \
  static type (*real)(__VA_ARGS__); \
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, name)

/* Libraries that are being loaded are not what is tested: counting begins with main. */
static int (*the_main)(int, char**, char**);
static int counted_main(int argc, char** argv, char** environment) {
  read_request();
  return the_main(argc, argv, environment);
}
int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void* stack_end) {
  REAL(int, "__libc_start_main", int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void),
       void (*)(void), void*);
  the_main = main;
  return real(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);
void* malloc(size_t size) { return fails_for(MALLOC, CALLER) ? NULL : __libc_malloc(size); }
void* calloc(size_t n, size_t size) { return fails_for(MALLOC, CALLER) ? NULL : __libc_calloc(n, size); }
void* realloc(void* old, size_t size) { return fails_for(MALLOC, CALLER) ? NULL : __libc_realloc(old, size); }
void* memalign(size_t alignment, size_t size) {
  return fails_for(MALLOC, CALLER) ? NULL : __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  return fails_for(MALLOC, CALLER) ? NULL : __libc_memalign(alignment, size);
}
int posix_memalign(void** result, size_t alignment, size_t size) {
  void* got = fails_for(MALLOC, CALLER) ? NULL : __libc_memalign(alignment, size);
  if (got == NULL) return ENOMEM;
  *result = got;
  return 0;
}

static int mode_of(int flags, va_list more) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(more, int) : 0;
}
#define OPENS(name)                                               \
  int name(const char* file, int flags, ...) {                    \
    va_list more;                                                 \
    va_start(more, flags);                                        \
    const int mode = mode_of(flags, more);                        \
    va_end(more);                                                 \
    if (fails(OPEN)) return -1;                                   \
    return (int)syscall(SYS_openat, AT_FDCWD, file, flags, mode); \
  }
OPENS(open)
OPENS(open64)
FILE* fopen(const char* file, const char* mode) {
  REAL(FILE*, "fopen", const char*, const char*);
  return fails(OPEN) ? NULL : real(file, mode);
}
FILE* fopen64(const char* file, const char* mode) {
  REAL(FILE*, "fopen64", const char*, const char*);
  return fails(OPEN) ? NULL : real(file, mode);
}
int mkostemp(char* file, int flags) {
  REAL(int, "mkostemp", char*, int);
  return fails(OPEN) ? -1 : real(file, flags);
}

/* Half of it, where there is half. */
static size_t short_of(size_t size) { return size > 1 ? size / 2 : size; }
#define TRANSFERS(kind, result, name, parameters, whole, half, nothing) \
  result name parameters {                                              \
    if (!fails(kind)) return whole;                                     \
    if (failure != 0) return nothing;                                   \
    const result done = half;                                           \
    if (kills) kill(getpid(), SIGKILL);                                 \
    return done;                                                        \
  }
TRANSFERS(READ, ssize_t, read, (int d, void* p, size_t n), syscall(SYS_read, d, p, n),
          syscall(SYS_read, d, p, short_of(n)), -1)
TRANSFERS(READ, ssize_t, pread, (int d, void* p, size_t n, off_t o), syscall(SYS_pread64, d, p, n, o),
          syscall(SYS_pread64, d, p, short_of(n), o), -1)
TRANSFERS(READ, ssize_t, pread64, (int d, void* p, size_t n, off_t o), syscall(SYS_pread64, d, p, n, o),
          syscall(SYS_pread64, d, p, short_of(n), o), -1)
TRANSFERS(WRITE, ssize_t, write, (int d, const void* p, size_t n), syscall(SYS_write, d, p, n),
          syscall(SYS_write, d, p, short_of(n)), -1)
TRANSFERS(WRITE, ssize_t, pwrite, (int d, const void* p, size_t n, off_t o),
          syscall(SYS_pwrite64, d, p, n, o), syscall(SYS_pwrite64, d, p, short_of(n), o), -1)
TRANSFERS(WRITE, ssize_t, pwrite64, (int d, const void* p, size_t n, off_t o),
          syscall(SYS_pwrite64, d, p, n, o), syscall(SYS_pwrite64, d, p, short_of(n), o), -1)
TRANSFERS(WRITE, ssize_t, writev, (int d, const struct iovec* v, int n), syscall(SYS_writev, d, v, n),
          syscall(SYS_write, d, v->iov_base, short_of(v->iov_len)), -1)
size_t fwrite(const void* p, size_t size, size_t n, FILE* file) {
  REAL(size_t, "fwrite", const void*, size_t, size_t, FILE*);
  /* Standard error says what has failed; and a short one is what the C library deals with itself. */
  if (file != stderr && failure != 0 && fails(WRITE)) return 0;
  return real(p, size, n, file);
}

int fsync(int d) { return fails(SYNC) ? -1 : (int)syscall(SYS_fsync, d); }
int fdatasync(int d) { return fails(SYNC) ? -1 : (int)syscall(SYS_fdatasync, d); }
int rename(const char* from, const char* to) {
  return fails(RENAME) ? -1 : (int)syscall(SYS_rename, from, to);
}
int mkdir(const char* file, mode_t mode) { return fails(FOLDER) ? -1 : (int)syscall(SYS_mkdir, file, mode); }
char* mkdtemp(char* name) {
  REAL(char*, "mkdtemp", char*);
  return fails(FOLDER) ? NULL : real(name);
}
int ftruncate(int d, off_t size) { return fails(SPACE) ? -1 : (int)syscall(SYS_ftruncate, d, size); }
int ftruncate64(int d, off_t size) { return fails(SPACE) ? -1 : (int)syscall(SYS_ftruncate, d, size); }
int fallocate(int d, int mode, off_t from, off_t size) {
  return fails(SPACE) ? -1 : (int)syscall(SYS_fallocate, d, mode, from, size);
}
int fallocate64(int d, int mode, off_t from, off_t size) { return fallocate(d, mode, from, size); }

pid_t fork(void) {
  REAL(pid_t, "fork", void);
  return fails(FORK) ? -1 : real();
}
int posix_spawnp(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const argv[], char* const environment[]) {
  REAL(int, "posix_spawnp", pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
       char* const[], char* const[]);
  return fails(FORK) ? failure : real(child, file, actions, attributes, argv, environment);
}
void* mmap(void* where, size_t size, int rights, int flags, int d, off_t offset) {
  if (fails_for(MMAP, CALLER)) return MAP_FAILED;
  return (void*)syscall(SYS_mmap, where, size, rights, flags, d, offset);
}
void* mmap64(void* where, size_t size, int rights, int flags, int d, off_t offset) {
  if (fails_for(MMAP, CALLER)) return MAP_FAILED;
  return (void*)syscall(SYS_mmap, where, size, rights, flags, d, offset);
}
int mprotect(void* where, size_t size, int rights) {
  return fails_for(MMAP, CALLER) ? -1 : (int)syscall(SYS_mprotect, where, size, rights);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*),
                   void* argument) {
  REAL(int, "pthread_create", pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  return fails(THREAD) ? failure : real(thread, attributes, work, argument);
}
