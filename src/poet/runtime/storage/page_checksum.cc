#include "poet/runtime/storage/page_checksum.h"

// The library as a header: compiled in, so that nothing is linked and any architecture can be built for.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace poet::runtime {

struct PageChecksum::State {
  XXH3_state_t xxh3;
};

PageChecksum::PageChecksum() : state_(std::make_unique<State>()) { start(); }
PageChecksum::~PageChecksum() = default;

void PageChecksum::start() { XXH3_64bits_reset(&state_->xxh3); }

void PageChecksum::add(std::span<const std::byte> bytes) {
  if (!bytes.empty()) XXH3_64bits_update(&state_->xxh3, bytes.data(), bytes.size());
}

std::uint64_t PageChecksum::value() const { return XXH3_64bits_digest(&state_->xxh3); }

}  // namespace poet::runtime
