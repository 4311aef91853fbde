#include <coin/CbcModel.hpp>
