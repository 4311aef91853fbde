// Other programs, run and waited for.

#include "poet/base/process/program.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "poet/base/error.h"
#include "tests/support/background.h"
#include "tests/support/program.h"

namespace poet {
namespace {

TEST(RunProgram, FilesFolderAndVariablesAreItsOwn) {
  const test::TemporaryFolder folder;
  folder.write("in", "three words here");
  ProgramCall call;
  call.arguments = {"sh", "-c", "cat; echo; pwd; echo $A; echo \"$1\"; echo oops >&2; exit 3", "sh", "a 'b'"};
  call.folder = folder.file(".");
  call.input = "in";
  call.output = "out";
  call.messages = "messages";
  call.environment = {{"A=1 2"}};
  folder.write("out", "a longer text of before, which is replaced as a whole");
  const ChildEnd end = run_program(call);
  EXPECT_EQ(end.how, ChildEnd::How::finished);
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_EQ(test::file_text(folder.file("messages")), "oops\n");
  const std::string here = std::filesystem::canonical(folder.file(".")).string();
  EXPECT_EQ(test::file_text(folder.file("out")), "three words here\n" + here + "\n1 2\na 'b'\n");
}

TEST(RunProgram, SignalsAreExitCodes) {
  EXPECT_EQ(run_program({{"sh", "-c", "kill -TERM $$"}, {}, {}, {}, {}, {}}).exit_code, 128 + 15);
  EXPECT_EQ(run_program({{"true"}, {}, {}, {}, {}, {}}).exit_code, 0);
}

TEST(RunProgram, WhatCannotBeStartedIsAnError) {
  const auto message = [](const ProgramCall& call) -> std::string {
    try {
      (void)run_program(call);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message({{"/usr/bin/no-such-program"}, {}, {}, {}, {}, {}}),
            "/usr/bin/no-such-program: cannot be run: No such file or directory");
  EXPECT_EQ(message({{"true"}, "/nonexistent", {}, {}, {}, {}}),
            "true: cannot be run: No such file or directory");
  EXPECT_EQ(message({{"/etc/passwd"}, {}, {}, {}, {}, {}}), "/etc/passwd: cannot be run: Permission denied");
}

TEST(RunProgram, ItsWholeGroupIsStopped) {
  const test::TemporaryFolder folder;
  ProgramCall call;
  call.arguments = {"sh", "-c", "sleep 600 & echo $! > id; wait"};
  call.folder = folder.file(".");
  const auto helper_is_there = [&] { return test::file_text(folder.file("id")).ends_with('\n'); };
  const ChildEnd end = run_program(call, 600, [&] { return !helper_is_there(); });
  EXPECT_EQ(end.how, ChildEnd::How::stopped);
  const pid_t helper = std::stoi(test::file_text(folder.file("id")));
  EXPECT_TRUE(test::wait_until([helper] { return test::is_gone(helper); }));
}

TEST(RunProgram, TheClockStopsIt) {
  EXPECT_EQ(run_program({{"sleep", "600"}, {}, {}, {}, {}, {}}, 0.1).how, ChildEnd::How::stopped);
}

}  // namespace
}  // namespace poet
