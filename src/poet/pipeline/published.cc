#include "poet/pipeline/published.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <tuple>

#include "poet/base/data_dir.h"
#include "poet/base/error.h"
#include "poet/base/folder.h"
#include "poet/cost/instance_json.h"

namespace poet {

namespace fs = std::filesystem;

std::vector<PublishedName> published_instances() {
  std::vector<PublishedName> names;
  for (const fs::path& file : entries_of(data_dir() / "published")) {
    const std::string stem = file.stem().string();
    const std::size_t dot = stem.find('.');
    if (file.extension() != ".json" || dot == std::string::npos) continue;
    names.push_back({stem.substr(0, dot), stem.substr(dot + 1)});
  }
  std::sort(names.begin(), names.end(), [](const PublishedName& a, const PublishedName& b) {
    return std::tie(a.model, a.platform) < std::tie(b.model, b.platform);
  });
  return names;
}

Instance read_published_instance(const PublishedName& name) {
  std::set<std::string> models;
  std::set<std::string> platforms;
  bool known = false;
  for (const PublishedName& there : published_instances()) {
    known = known || (there.model == name.model && there.platform == name.platform);
    models.insert(there.model);
    platforms.insert(there.platform);
  }
  if (!known)
    throw InputError(
        fmt::format("no published instance of {} on {}; there are {}, each on {} (device semantics take any "
                    "built-in network and device)",
                    name.model, name.platform, fmt::join(models, ", "), fmt::join(platforms, ", ")));
  return read_instance(data_dir() / "published" / (name.model + "." + name.platform + ".json"));
}

}  // namespace poet
