// What manual pages and completions are made from, and the text of pages.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/cli/shell/completion.h"
#include "apps/cli/shell/manual.h"
#include "apps/shared/parser.h"

namespace poet::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A program with a command that has one option of each sort.
class ShellDocuments : public testing::Test {
 protected:
  ShellDocuments() {
    const Parser command = program.command("boil", "heat \\ water");
    command.option("POT", pot, "what in", "").required();
    command.option("-t,--to", to, "a temperature", "hot|warm|DEGREES").required();
    command.option("--lid", lid, "whose", "NAME").one_of({"glass", "steel"});
    const Parser other = command.group("Other");
    other.option("--add", add, "may be repeated", "NAME");
    other.flag("--salt", salt, ".with salt");
    command.footer("Before.\nExamples:\n  poet boil -t hot\n\nExit code: 0");
  }

  [[nodiscard]] CommandDescription boil() const { return program.description().commands.at(0); }

  std::string pot, to, lid;
  std::vector<std::string> add;
  bool salt = false;
  CommandLine program{"kitchen", "kitchen: where one cooks", "1.0"};
};

TEST_F(ShellDocuments, DescriptionIsWhatWasDeclared) {
  const CommandDescription all = program.description();
  EXPECT_EQ(all.name, "kitchen");
  ASSERT_EQ(all.commands.size(), 1U);
  const CommandDescription& command = all.commands[0];
  EXPECT_EQ(command.summary, "heat \\ water");
  ASSERT_EQ(command.arguments.size(), 1U);
  EXPECT_THAT(command.arguments[0].names, ElementsAre("POT"));
  EXPECT_TRUE(command.arguments[0].required);
  ASSERT_EQ(command.groups.size(), 2U);
  EXPECT_EQ(command.groups[0].title, "Options");
  const std::vector<OptionDescription>& own = command.groups[0].options;
  ASSERT_EQ(own.size(), 4U);  // with --help and --color
  EXPECT_THAT(own[0].names, ElementsAre("-h", "--help"));
  EXPECT_FALSE(own[0].takes_value);
  EXPECT_THAT(own[1].names, ElementsAre("--color"));
  EXPECT_THAT(own[1].choices, IsEmpty());  // its type has them
  EXPECT_EQ(own[1].type, "auto|always|never");
  EXPECT_THAT(own[2].names, ElementsAre("-t", "--to"));
  EXPECT_EQ(own[2].type, "hot|warm|DEGREES");
  EXPECT_TRUE(own[2].required && own[2].takes_value && !own[2].repeated);
  EXPECT_EQ(own[3].type, "NAME");
  EXPECT_THAT(own[3].choices, ElementsAre("glass", "steel"));
  EXPECT_EQ(command.groups[1].title, "Other");
  EXPECT_TRUE(command.groups[1].options.at(0).repeated);
  EXPECT_FALSE(command.groups[1].options.at(1).takes_value);
}

OfferedValues offered(const std::string& type) {
  return offered_values({{"--o"}, type, "", {}, true, false, false, false}, {{"vgg"}, {"m0", "m4"}, {}});
}

TEST_F(ShellDocuments, TypesSayWhatIsOffered) {
  EXPECT_THAT(offered("hot|warm|DEGREES").words, ElementsAre("hot", "warm"));
  EXPECT_THAT(offered("NETWORK").words, ElementsAre("vgg"));
  const OfferedValues device = offered("DEVICE|FILE.json");
  EXPECT_THAT(device.words, ElementsAre("m0", "m4"));
  EXPECT_TRUE(device.files && !device.folders);
  EXPECT_EQ(device.ending, ".json");
  EXPECT_TRUE(offered("PLAN").files);
  EXPECT_EQ(offered("PLAN").ending, "");
  EXPECT_TRUE(offered("FOLDER|off").folders);
  EXPECT_THAT(offered("FOLDER|off").words, ElementsAre("off"));
  const OfferedValues none = offered("BYTES");
  EXPECT_THAT(none.words, IsEmpty());
  EXPECT_FALSE(none.files || none.folders);
  // Choices that are checked, and an argument that its name describes.
  EXPECT_THAT(offered_values(boil().groups[0].options[3], {}).words, ElementsAre("glass", "steel"));
  EXPECT_TRUE(offered_values({{"FILE.onnx"}, "", "", {}, true, true, true, false}, {}).files);
}

TEST_F(ShellDocuments, ManualHasAllOfACommand) {
  const std::string page = command_manual(program.description(), boil(), "1.0");
  EXPECT_THAT(page, testing::StartsWith(".TH KITCHEN\\-BOIL 1 \"\" \"poet 1.0\""));
  EXPECT_THAT(page, HasSubstr("kitchen\\-boil \\- heat \\e water\n"));
  EXPECT_THAT(page, HasSubstr("\\fBkitchen boil\\fR [\\fIOPTION\\fR ...] \\fIPOT\\fR\n"));
  EXPECT_THAT(page, HasSubstr("\\fB\\-t\\fR, \\fB\\-\\-to\\fR \\fIhot|warm|DEGREES\\fR\na temperature\n"));
  EXPECT_THAT(page, HasSubstr(".SH \"OTHER\"\n"));
  EXPECT_THAT(page, HasSubstr("\n\\&.with salt\n")) << "no text is an instruction";
  EXPECT_THAT(page, HasSubstr("Before.\n.PP\nExamples:\n.PP\n.nf\n.RS 4\npoet boil \\-t hot\n.RE\n.fi\n"));
  EXPECT_THAT(page, Not(HasSubstr("\n\n")));
}

TEST_F(ShellDocuments, ManualOfTheProgramListsCommands) {
  const std::string page = program_manual(program.description(), "1.0");
  EXPECT_THAT(page, HasSubstr("kitchen \\- where one cooks\n"));
  EXPECT_THAT(page, HasSubstr(".TP\n\\fBboil\\fR\nheat \\e water\n"));
  EXPECT_THAT(page, HasSubstr("\\fBkitchen\\-boil\\fR(1)\n"));
}

TEST_F(ShellDocuments, TextInScriptsIsQuoted) {
  (void)program.command("rinse", "what's 'quoted': [all] of it");
  const CommandDescription all = program.description();
  EXPECT_THAT(zsh_completion(all, {}), HasSubstr(R"('rinse:what'\''s '\''quoted'\''\: [all] of it')"));
  EXPECT_THAT(fish_completion(all, {}), HasSubstr(R"(-a rinse -d 'what\'s \'quoted\': [all] of it')"));
}

}  // namespace
}  // namespace poet::cli
