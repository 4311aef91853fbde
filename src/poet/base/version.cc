#include "poet/version.h"

#include "poet/base/this_poet.h"

namespace poet {

const char* version() { return POET_VERSION_STRING; }

std::string this_poet() { return std::string("poet ") + version(); }

}  // namespace poet
