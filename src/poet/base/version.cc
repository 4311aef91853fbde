#include "poet/version.h"

namespace poet {

const char* version() { return POET_VERSION_STRING; }

}  // namespace poet
