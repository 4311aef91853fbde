#include "poet/firmware/draft.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <system_error>

#include "poet/base/error.h"
#include "poet/base/folder.h"
#include "poet/base/open_beneath.h"

namespace poet::firmware {
namespace {

namespace fs = std::filesystem;

constexpr const char* kList = "files.txt";
constexpr const char* kHeading = "Written by poet codegen, which replaces these files and no others:";

using Names = std::set<std::string>;

/// Within the folder, by a plain path: the list may have been edited.
bool is_inside(const fs::path& name) {
  return !name.empty() && name.is_relative() && name == name.lexically_normal() && *name.begin() != "..";
}

/// Whether the folder is ours, and what we have written there.
bool read_list(const fs::path& folder, Names& names) {
  std::ifstream in(folder / kList);
  std::string line;
  if (!std::getline(in, line) || line != kHeading) return false;
  while (std::getline(in, line))
    if (is_inside(line)) names.insert(line);
  if (in.bad()) throw InputError((folder / kList).string(), "cannot be read");
  return true;
}

/// Written in `draft` first, which is nobody else's: a name that is known beforehand may be a link.
void write_list(const fs::path& folder, const Names& names, const fs::path& draft) {
  const fs::path next = draft / fmt::format("{}.new", kList);
  std::ofstream out(next, std::ios::trunc);
  out << kHeading << '\n';
  for (const std::string& name : names) out << name << '\n';
  out.close();
  if (!out) throw InputError(next.string(), "cannot be written");
  fs::rename(next, folder / kList);
}

Names files_in(const fs::path& folder) {
  Names names;
  for (const fs::path& file : files_below(folder))
    names.insert(file.lexically_relative(folder).generic_string());
  return names;
}

/// "" is the folder itself.
Descriptor folder_in(const fs::path& folder, const fs::path& name) {
  return open_beneath(folder, name.empty() ? "." : name, O_PATH | O_DIRECTORY);
}

/// Removes a file, and the folders that are empty then. What lies behind a link is not ours.
void remove_from(const fs::path& folder, const fs::path& name) {
  const Descriptor around = folder_in(folder, name.parent_path());
  if (!around.valid()) return;
  (void)::unlinkat(around.get(), name.filename().c_str(), 0);
  for (fs::path parent = name.parent_path(); !parent.empty(); parent = parent.parent_path()) {
    const Descriptor above = folder_in(folder, parent.parent_path());
    if (!above.valid() || ::unlinkat(above.get(), parent.filename().c_str(), AT_REMOVEDIR) != 0) break;
  }
}

/// Moves a file to where it belongs. A folder on its way that is a link would have it written elsewhere.
void move_into(const fs::path& draft, const fs::path& folder, const fs::path& name) {
  const auto must = [&](bool well, const fs::path& what) {
    if (!well) throw InputError((folder / what).string(), "cannot be written: " + rule_beneath(errno));
  };
  fs::path made;
  Descriptor around = folder_in(folder, made);
  must(around.valid(), made);
  for (const fs::path& part : name.parent_path()) {
    made /= part;
    must(::mkdirat(around.get(), part.c_str(), 0777) == 0 || errno == EEXIST, made);
    around = folder_in(folder, made);
    must(around.valid(), made);
  }
  must(::renameat(AT_FDCWD, (draft / name).c_str(), around.get(), name.filename().c_str()) == 0, name);
}

constexpr const char* kHidden = ".poet-codegen-";  // and the process

/// Drafts of processes that were killed.
void remove_abandoned(const fs::path& folder) {
  for (const fs::path& draft : entries_of(folder)) {
    const std::string name = draft.filename().string();
    if (!name.starts_with(kHidden)) continue;
    const int process = std::atoi(name.c_str() + std::strlen(kHidden));
    if (process > 0 && kill(process, 0) != 0 && errno == ESRCH) remove_folder(draft);
  }
}

}  // namespace

Draft::Draft(const fs::path& folder) {
  if (folder.empty()) throw InputError("-o", "is empty: name a folder");
  std::error_code error;
  folder_ = fs::weakly_canonical(fs::absolute(folder), error);
  if (folder_.filename().empty()) folder_ = folder_.parent_path();  // "firmware/"
  const std::string hidden = fmt::format("{}{}", kHidden, getpid());
  if (!fs::exists(folder_, error)) {
    is_new_ = true;
    if (!fs::is_directory(folder_.parent_path(), error))
      throw InputError(folder_.parent_path().string(), "is not a folder");
    draft_ = folder_.parent_path() / hidden;
  } else {
    if (!fs::is_directory(folder_, error)) throw InputError(folder.string(), "is not a folder");
    Names ours;
    if (!fs::is_empty(folder_, error) && !error && !read_list(folder_, ours))
      throw InputError(folder.string(),
                       "has files in it and no firmware of poet codegen's: name another folder");
    draft_ = folder_ / hidden;
  }
  if (!error) remove_abandoned(draft_.parent_path());
  if (!error) remove_folder(draft_);  // of an earlier process of this number
  if (!error && !fs::create_directory(draft_, error) && !error)
    error = std::make_error_code(std::errc::file_exists);
  if (error) throw InputError(folder.string(), "cannot be written: " + error.message());
}

Draft::~Draft() { remove_folder(draft_); }

void Draft::commit() {
  try {
    const Names written = files_in(draft_);
    if (is_new_) {
      write_list(draft_, written, draft_);
      return fs::rename(draft_, folder_);
    }
    Names earlier;
    if (!fs::is_empty(folder_) && fs::exists(folder_ / kList) && !read_list(folder_, earlier))
      throw InputError((folder_ / kList).string(), "cannot be read");
    Names both = earlier;  // whatever happens in between, what we have written is on the list
    both.insert(written.begin(), written.end());
    write_list(folder_, both, draft_);
    const fs::path build = folder_ / "build";
    remove_folder(build);  // of another plan, perhaps of another board
    if (fs::exists(build)) throw InputError(build.string(), "cannot be removed");
    for (const std::string& name : written) move_into(draft_, folder_, name);
    for (const std::string& name : earlier)
      if (!written.contains(name)) remove_from(folder_, name);
    write_list(folder_, written, draft_);
  } catch (const fs::filesystem_error& e) {
    throw InputError(folder_.string(), std::string("cannot be written: ") + e.code().message());
  }
}

}  // namespace poet::firmware
