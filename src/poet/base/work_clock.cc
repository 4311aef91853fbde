#include "poet/base/work_clock.h"

#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string_view>

namespace poet {
namespace {

bool counts_processor_time() {
  static const bool counts = [] {
    const char* clock = std::getenv("POET_CLOCK");
    return clock != nullptr && std::string_view(clock) == "processor";
  }();
  return counts;
}

double on_the_wall() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double of_processor(clockid_t clock) {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

double work_seconds() {
  if (!counts_processor_time()) return on_the_wall();
  rusage children{};
  (void)getrusage(RUSAGE_CHILDREN, &children);
  return of_processor(CLOCK_PROCESS_CPUTIME_ID) + seconds(children.ru_utime) + seconds(children.ru_stime);
}

double work_seconds_of(pid_t child) {
  if (!counts_processor_time()) return on_the_wall();
  clockid_t clock{};
  return clock_getcpuclockid(child, &clock) == 0 ? of_processor(clock) : 0;
}

}  // namespace poet
