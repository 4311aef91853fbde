#pragma once

#include <gtest/gtest.h>

#include <string>

#include "poet/base/error.h"

namespace poet::test {

/// The message of the InputError that `action` throws; a test failure and an empty string when it throws
/// none. Checks too that the message is one line.
template <class Action>
std::string input_error(const Action& action) {
  try {
    action();
  } catch (const InputError& error) {
    std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  ADD_FAILURE() << "no InputError";
  return {};
}

}  // namespace poet::test
