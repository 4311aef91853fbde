#include "poet/report/bundle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

#include "poet/base/error.h"

namespace poet {
namespace {

namespace fs = std::filesystem;

const std::regex kImport(R"re((^|\n)import (\{[^}]*\}) from "\./([^"]+)";)re");
const std::regex kExport(R"re((^|\n)export (?=(?:async )?(?:const|function\*?|class) (\w+)))re");

class Bundle {
 public:
  /// Adds a module behind what it imports, unless it is there already.
  void add(const fs::path& folder, const std::string& name) {
    if (!added_.insert(name).second) return;
    const std::string text = page_text(folder / name);
    for (std::sregex_iterator found(text.begin(), text.end(), kImport), end; found != end; ++found)
      add(folder, (*found)[3]);
    std::vector<std::string> exported;
    for (std::sregex_iterator found(text.begin(), text.end(), kExport), end; found != end; ++found)
      exported.push_back((*found)[2]);
    // A name that is imported is a constant, as it is in a module.
    std::string body = std::regex_replace(text, kImport, "$1const $2 = modules[\"$3\"];");
    body = std::regex_replace(body, kExport, "$1");
    script_ += fmt::format("modules[\"{}\"] = (() => {{\n{}return {{ {} }};\n}})();\n", name, body,
                           fmt::join(exported, ", "));
  }

  [[nodiscard]] const std::string& script() const { return script_; }

 private:
  std::set<std::string> added_;
  std::string script_ = "const modules = {};\n";
};

}  // namespace

std::string page_text(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (!(text << stream.rdbuf())) throw InputError(file.string(), "cannot be read");
  return std::move(text).str();
}

std::string bundle(const fs::path& module) {
  Bundle all;
  all.add(module.parent_path(), module.filename().string());
  return all.script();
}

}  // namespace poet
