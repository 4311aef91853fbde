// A program of somebody else's that uses the installed library.

#include <cstdio>

#include "poet/base/error.h"

int main() {
  try {
    throw poet::InputError("m4.json", "must be > 0");
  } catch (const poet::InputError& error) {
    std::puts(error.what());
  }
}
