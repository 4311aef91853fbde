#include "poet/report/packed.h"

#ifdef POET_ZLIB
#include <zlib.h>
#endif

#include "poet/base/base64.h"
#include "poet/base/error.h"

namespace poet {

#ifdef POET_ZLIB

std::string packed(const std::string& text) {
  uLongf size = compressBound(text.size());
  std::string out(size, '\0');
  const int code = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                             reinterpret_cast<const Bytef*>(text.data()), text.size(), Z_BEST_COMPRESSION);
  ensure(code == Z_OK, "zlib compresses what there is memory for");
  out.resize(size);
  return base64(out);
}

#else

std::string packed(const std::string&) {
  throw InputError("web page", "cannot be compressed: this program was built without zlib");
}

#endif

}  // namespace poet
