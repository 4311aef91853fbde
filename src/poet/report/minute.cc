#include "poet/report/minute.h"

#include <fmt/format.h>

#include <cstdlib>

namespace poet {

std::string minute_text(std::time_t seconds) {
  if (const char* epoch = std::getenv("SOURCE_DATE_EPOCH"); epoch != nullptr && *epoch != '\0')
    seconds = static_cast<std::time_t>(std::strtoll(epoch, nullptr, 10));
  std::tm utc{};
  if (gmtime_r(&seconds, &utc) == nullptr) return {};
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min);
}

}  // namespace poet
