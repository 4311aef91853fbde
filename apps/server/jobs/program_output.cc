#include "apps/server/jobs/program_output.h"

#include <fstream>
#include <sstream>

#include "poet/base/error.h"
#include "poet/base/process/program.h"

namespace poet::server {

namespace fs = std::filesystem;

std::string contents(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return stream ? text.str() : std::string();
}

std::string program_output(const fs::path& program, const fs::path& folder,
                           const std::vector<std::string>& arguments) {
  ProgramCall call;
  call.arguments = {program.string()};
  call.arguments.insert(call.arguments.end(), arguments.begin(), arguments.end());
  call.output = folder / "output";
  call.messages = folder / "messages";
  call.limits_work = true;
  const ChildEnd end = run_program(call, 60);
  std::string output = contents(call.output);
  const std::string messages = contents(call.messages);
  std::error_code ignored;
  fs::remove(call.output, ignored);
  fs::remove(call.messages, ignored);
  if (end.how != ChildEnd::How::finished || end.exit_code != 0)
    throw InputError(program.string() + " " + arguments.front(),
                     "failed: " + without_folders(last_words(messages), {folder}));
  return output;
}

std::string without_folders(std::string text, const std::vector<fs::path>& folders) {
  for (const fs::path& folder : folders) {
    const std::string path = (folder / "").string();
    for (std::size_t at = 0; (at = text.find(path, at)) != std::string::npos;) text.erase(at, path.size());
  }
  return text;
}

std::string last_words(std::string said) {
  const std::size_t last = said.find_last_not_of('\n');
  said.resize(last == std::string::npos ? 0 : last + 1);
  said = said.substr(said.rfind('\n') + 1);
  if (said.rfind("poet: ", 0) == 0) said = said.substr(6);
  return said;
}

}  // namespace poet::server
