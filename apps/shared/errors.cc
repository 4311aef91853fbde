#include "apps/shared/errors.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

#include "apps/shared/command.h"
#include "apps/shared/option_names.h"
#include "poet/base/error.h"

namespace poet::cli {

void print_diagnostic(std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  std::fputs(("poet: " + message + "\n").c_str(), stderr);
}

void set_up_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGCHLD, SIG_DFL);
}

int exit_code_of(const std::function<int()>& work) {
  try {
    return work();
  } catch (const InputError& error) {
    print_diagnostic(with_option_names(error));
    return kBadInput;
  } catch (const SaidElsewhere& failure) {
    return failure.exit_code;
  } catch (const std::bad_alloc&) {
    print_diagnostic("internal error: out of memory");
  } catch (const std::exception& error) {
    print_diagnostic(std::string("internal error: ") + error.what());
  } catch (...) {
    print_diagnostic("internal error: of an unknown kind");
  }
  return kInternalError;
}

}  // namespace poet::cli
