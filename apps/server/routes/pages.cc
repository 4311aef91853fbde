// The page and its files: read once, so that no path of a client reaches the file system.

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "apps/server/jobs/digest.h"
#include "apps/server/jobs/program_output.h"
#include "apps/server/routes/services.h"
#include "poet/base/data_dir.h"
#include "poet/base/folder.h"
#include "poet/report/page_template.h"

namespace poet::server {
namespace {

namespace fs = std::filesystem;

const char* type_of(const fs::path& file) {
  const std::string extension = file.extension();
  if (extension == ".html") return "text/html; charset=utf-8";
  if (extension == ".css") return "text/css; charset=utf-8";
  if (extension == ".js") return "text/javascript; charset=utf-8";
  if (extension == ".svg") return "image/svg+xml";
  if (extension == ".txt") return "text/plain; charset=utf-8";
  return "application/octet-stream";
}

void add_file(std::vector<Route>& routes, const std::string& path, const fs::path& file) {
  const auto bytes = std::make_shared<const std::string>(contents(file));
  const std::string tag = "\"" + digest(*bytes).substr(0, 16) + "\"";
  const char* type = type_of(file);
  routes.push_back({.method = "GET",
                    .pattern = path,
                    .summary = "",
                    .handler =
                        [bytes, tag, type](const Call& call) {
                          Reply reply;
                          reply.type = type;
                          reply.fields = {{"ETag", tag}, {"Cache-Control", "no-cache"}};
                          if (call.field("If-None-Match") == tag)
                            reply.status = 304;
                          else
                            reply.body = *bytes;
                          return reply;
                        },
                    .is_public = true});
}

}  // namespace

void add_page_routes(std::vector<Route>& routes) {
  std::error_code error;
  for (const auto& [folder, below] :
       {std::pair(data_dir() / "studio", "/"), std::pair(data_dir() / "report", "/report/")})
    for (const fs::path& file : entries_of(folder)) {
      const std::string name = file.filename();
      if (!fs::is_regular_file(file, error) || type_of(file) == type_of("")) continue;
      add_file(routes, below + (name == "index.html" ? "" : name), file);
    }
  for (const char* name : {"echarts.min.js", "echarts.txt", "dagre.min.js", "dagre.txt"})
    if (const std::optional<fs::path> library = web_library(name))
      add_file(routes, std::string("/") + name, *library);
}

}  // namespace poet::server
