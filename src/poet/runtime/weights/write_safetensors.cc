#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/base/folder.h"
#include "poet/base/write_file.h"
#include "poet/graph/parts.h"
#include "poet/runtime/weights/safetensors_header.h"

namespace poet::runtime {
namespace {

namespace fs = std::filesystem;

// Keeps the order in which it is filled, as the format's own writer does.
using OrderedJson = nlohmann::ordered_json;

[[noreturn]] void fail(const fs::path& file, const std::string& reason) {
  throw InputError(file.string(), "cannot be written: " + reason);
}

/// The reference implementation sorts element types by size, and those of one size in an order of its own,
/// the last first.
int rank(DType dtype) {
  constexpr DType kOrder[] = {DType::int64, DType::float32, DType::int32, DType::uint8};
  return static_cast<int>(std::find(std::begin(kOrder), std::end(kOrder), dtype) - std::begin(kOrder));
}

std::vector<const TensorEntry*> in_file_order(const std::vector<TensorEntry>& tensors) {
  std::vector<const TensorEntry*> order;
  for (const TensorEntry& tensor : tensors) order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](const TensorEntry* a, const TensorEntry* b) {
    return std::pair(rank(a->dtype), a->name) < std::pair(rank(b->dtype), b->name);
  });
  return order;
}

void check_names(const fs::path& file, const std::vector<const TensorEntry*>& tensors) {
  std::set<std::string> names = {"__metadata__"};  // which the format takes for something else
  for (const TensorEntry* tensor : tensors)
    if (!names.insert(tensor->name).second)
      fail(file, "two tensors cannot be called " + quoted_name(tensor->name));
}

std::string header_of(const fs::path& file, const std::vector<const TensorEntry*>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  OrderedJson header = OrderedJson::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::int64_t end = 0;
  for (const TensorEntry* tensor : tensors) {
    const std::int64_t begin = end;
    end += byte_count(tensor->shape, tensor->dtype).value();
    header[tensor->name] = {
        {"dtype", safetensors_type(tensor->dtype)}, {"shape", tensor->shape}, {"data_offsets", {begin, end}}};
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const OrderedJson::exception&) {
    fail(file, "names and metadata must be UTF-8");
  }
  // So that whoever maps the file finds the data aligned.
  text.append((8 - text.size() % 8) % 8, ' ');
  if (static_cast<std::int64_t>(text.size()) > kMostHeaderBytes)
    fail(file,
         fmt::format("the header would have {} bytes, and {} are the most",
                     format_count(static_cast<std::int64_t>(text.size())), format_count(kMostHeaderBytes)));
  return text;
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

/// FILE.NUMBER.tmp, as drafts of FILE are called.
bool is_draft(const fs::path& candidate, const fs::path& file) {
  const std::string begin = file.filename().string() + ".";
  const std::string name = candidate.filename().string();
  if (!name.starts_with(begin) || !name.ends_with(".tmp") || name.size() < begin.size() + 5) return false;
  return std::all_of(name.begin() + static_cast<std::ptrdiff_t>(begin.size()), name.end() - 4,
                     [](char c) { return c >= '0' && c <= '9'; });
}

/// Removes the drafts of `file` that no process has locked: those who wrote them were killed.
void remove_abandoned_drafts(const fs::path& file) {
  for (const fs::path& draft : entries_of(folder_of(file))) {
    std::error_code ignored;
    if (!is_draft(draft, file) || !fs::is_regular_file(fs::symlink_status(draft, ignored))) continue;
    const Descriptor opened(::open(draft.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
    if (opened.valid() && ::flock(opened.get(), LOCK_EX | LOCK_NB) == 0) ::unlink(draft.c_str());
  }
}

/// A file beside the one that it is to become; removed unless it does.
class Draft {
 public:
  explicit Draft(fs::path target) : target_(std::move(target)), draft_(target_) {
    remove_abandoned_drafts(target_);
    draft_ += fmt::format(".{}.tmp", getpid());
    do {
      descriptor_ =
          Descriptor(::open(draft_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666));
      if (!descriptor_.valid()) fail(target_, error_text(errno));
      // As long as this process lives nobody takes it for abandoned. Where files cannot be locked nobody
      // does.
      (void)::flock(descriptor_.get(), LOCK_EX | LOCK_NB);
    } while (!still_named(descriptor_.get(), draft_));
  }
  ~Draft() {
    if (!draft_.empty()) ::unlink(draft_.c_str());
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  Draft(Draft&&) = delete;
  Draft& operator=(Draft&&) = delete;

  void append(std::span<const std::byte> bytes) {
    put(0, bytes);
    size_ += static_cast<std::int64_t>(bytes.size());
  }

  /// A tensor behind what there is, from the values that make it up.
  void append(const TensorEntry& tensor) {
    const std::int64_t size = size_of(tensor.dtype).value();
    const std::int64_t bytes = byte_count(tensor.shape, tensor.dtype).value();
    if (tensor.data != nullptr) put(0, {tensor.data, static_cast<std::size_t>(bytes)});
    std::vector<std::byte> column;  // of a transposed matrix
    for (const TensorEntry::Slice& from : tensor.parts) {
      for_each_run_in_file(*from.value,
                           [&](std::int64_t first, std::int64_t at, std::int64_t count, std::int64_t step) {
                             const std::byte* run = from.data + at * size;
                             if (step != 1) {
                               column.resize(static_cast<std::size_t>(count * size));
                               for (std::int64_t i = 0; i < count; ++i)
                                 std::copy_n(run + i * step * size, size, column.data() + i * size);
                               run = column.data();
                             }
                             put(first * size, {run, static_cast<std::size_t>(count * size)});
                           });
    }
    size_ += bytes;
  }

  /// On storage before it takes the place of what was there, and its name on storage before this returns.
  void publish() {
    if (::fsync(descriptor_.get()) != 0) fail(target_, error_text(errno));
    if (::rename(draft_.c_str(), target_.c_str()) != 0) fail(target_, error_text(errno));
    draft_.clear();
    const Descriptor opened(::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // Some file systems cannot flush folders: then the name lasts as well as they let it.
    if (opened.valid() && ::fsync(opened.get()) != 0 && errno == EIO) fail(target_, error_text(EIO));
  }

 private:
  void put(std::int64_t offset, std::span<const std::byte> bytes) {
    const IoOutcome outcome = write_at(descriptor_.get(), size_ + offset, bytes);
    if (outcome.done < bytes.size()) fail(target_, explain(outcome, bytes.size()));
  }

  fs::path target_;
  fs::path draft_;
  Descriptor descriptor_;
  std::int64_t size_ = 0;
};

/// Where the bytes go: behind the link, if `file` is one.
fs::path target_of(const fs::path& file) {
  std::error_code ignored;
  const fs::file_status status = fs::status(file, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) fail(file, "it is not a regular file");
  return behind_links(file);
}

}  // namespace

void write_safetensors(const fs::path& file, const std::vector<TensorEntry>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  const std::vector<const TensorEntry*> order = in_file_order(tensors);
  check_names(file, order);
  const std::string header = header_of(file, order, metadata);
  std::array<std::byte, 8> length{};
  for (std::size_t i = 0; i < length.size(); ++i) length[i] = static_cast<std::byte>(header.size() >> 8 * i);

  Draft draft(target_of(file));
  draft.append(length);
  draft.append(std::as_bytes(std::span(header)));
  for (const TensorEntry* tensor : order) draft.append(*tensor);
  draft.publish();
}

}  // namespace poet::runtime
