#include "apps/shared/errors.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <system_error>

#include "apps/shared/command.h"
#include "apps/shared/option_names.h"
#include "apps/shared/output.h"
#include "apps/shared/terminal.h"
#include "poet/base/error.h"

namespace poet::cli {
namespace {

bool as_json = false;

struct Failure {
  const char* kind;
  std::string field, rule;  // empty: the message says it
  std::string message;
};

nlohmann::ordered_json failure_json(const Failure& failure) {
  const auto text = [](const std::string& known) {
    return known.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(known);
  };
  return {{"format", 1},
          {"error",
           {{"kind", failure.kind},
            {"field", text(failure.field)},
            {"rule", text(failure.rule)},
            {"message", failure.message}}}};
}

int failed(int exit_code, const Failure& failure) {
  print_diagnostic(failure.message);
  if (!as_json) return exit_code;
  try {
    print_answer(failure_json(failure));
  } catch (const std::exception&) {  // nobody reads; the line on stderr has said it
  }
  return exit_code;
}

/// What escapes where nothing may. The JSON library is the one that is known for it: its values take memory
/// to go away, in their destructors.
[[noreturn]] void end_in_words() {
  const char* what = "of an unknown kind";
  try {
    if (const std::exception_ptr escaped = std::current_exception()) std::rethrow_exception(escaped);
  } catch (const std::bad_alloc&) {
    what = "out of memory";
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {
  }
  std::fprintf(stderr, "poet: internal error: %s\n", what);
  _exit(kInternalError);
}

}  // namespace

void print_diagnostic(std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  std::fputs(message_text(styled(Style::bad, "poet:", stderr) + " " + message, stderr).c_str(), stderr);
}

void set_up_signals() {
  std::set_terminate(end_in_words);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGCHLD, SIG_DFL);
}

void report_errors_as_json(int argc, const char* const* argv) {
  as_json = std::any_of(argv, argv + argc, [](const char* word) { return std::strcmp(word, "--json") == 0; });
}

int exit_code_of(const std::function<int()>& work) {
  try {
    return work();
  } catch (const InputError& error) {
    const InputError said = with_option_names(error);
    return failed(kBadInput, {"input", std::string(said.place()), std::string(said.rule()), said.what()});
  } catch (const SaidElsewhere& failure) {
    return failure.exit_code;
  } catch (const std::bad_alloc&) {
    return failed(kInternalError, {"internal", "", "", "internal error: out of memory"});
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::resource_unavailable_try_again)
      return failed(kInternalError, {"internal", "", "", std::string("internal error: ") + error.what()});
    return failed(kBadInput,
                  {"input", "", "", std::string("a thread cannot be started: ") + error.code().message()});
  } catch (const std::exception& error) {
    return failed(kInternalError, {"internal", "", "", std::string("internal error: ") + error.what()});
  } catch (...) {
    return failed(kInternalError, {"internal", "", "", "internal error: of an unknown kind"});
  }
}

}  // namespace poet::cli
