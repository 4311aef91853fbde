// poet reproduce on studies of a few points: report, figures, results, and going on where it stopped.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "poet/report/gnuplot.h"
#include "poet/report/page_template.h"
#include "tests/support/background.h"
#include "tests/support/program.h"

namespace poet::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kMethods =
    R"(["checkpoint-all", "chen-sqrt", "dtr", "capuchin", "pofo", "poet-no-paging",
 "poet-no-remat", "poet"])";

/// A data folder with studies that take seconds.
class ReproduceTest : public testing::Test {
 protected:
  ReproduceTest() : data_(folder_.file("data")), out_(folder_.file("out")) {
    fs::create_directories(data_ / "reproduction" / "quick");
    for (const char* shared : {"devices", "published", "report"})
      fs::create_directory_symlink(repository() / "data" / shared, data_ / shared);
    const std::string published =
        R"("platforms": ["a72"], "semantics": "published", "ram": [0.5, 1.0], "time_limit": "1s", "methods": )";
    const std::string device =
        R"("semantics": "device", "persistent": "excluded", "ram": [0.6], "time_limit": "1s", "methods": )";
    study("figure2", R"("networks": [{"instance": "eight_layers.json"}], "ram": ["10KiB"], "time_limit": "1s",
      "methods": ["poet-no-paging", "poet-no-remat", "poet"])");
    fs::copy(repository() / "data" / "reproduction" / "eight_layers.json", data_ / "reproduction" / "quick");
    study("figure3_published", R"("networks": ["vgg16_cifar"], )" + published + kMethods);
    study("figure3_published_bert", R"("networks": ["linear"], )" + published + kMethods);
    study("figure3_corrected", R"("networks": ["vgg16_cifar"], "platforms": ["a72"], )" + device + kMethods);
    study("figure3_corrected_resnet", R"("networks": ["linear"], "platforms": ["m4"], )" + device + kMethods);
    study("figure3_corrected_bert", R"("networks": ["linear"], "platforms": ["a72"], )" + device + kMethods);
    study("figure4_published",
          R"("networks": ["vgg16_cifar"], "deadlines": [1.0, 1.2], )" + published + kMethods);
    study("figure4_corrected",
          R"("networks": ["vgg16_cifar"], "platforms": ["a72"], "deadlines": [1.2], )" + device + kMethods);
    study("figure5_published", R"("networks": ["resnet18_cifar"], )" + published + kMethods);
    study("figure5_corrected", R"("networks": ["resnet18_cifar"], "platforms": ["a72"], )" + device +
                                   R"(["capuchin", "dtr", "poet"])");
    study("table3", R"("networks": ["resnet18_cifar"], "platforms": ["jetsontx2"], )" + device +
                        R"(["pofo", "pofo-blocking", "poet"])");
    for (const std::string persistent : {"resident", "auto"}) {
      const std::string fields = R"("platforms": ["m4"], "semantics": "device", "split": "auto",
        "time_limit": "0.5s", "methods": ["poet"], "persistent": ")" +
                                 persistent + "\", ";
      study("less_ram_" + persistent, fields + R"("networks": ["linear"], "ram": ["5%", "70%", "100%"])");
      study("less_ram_" + persistent + "_large",
            fields + R"("networks": ["resnet14_cifar"], "ram": ["100%"])");
    }
    study("batch", R"("networks": ["vgg16_cifar"], "platforms": ["a72"], "batch_sizes": [1, 2], )" + device +
                       R"(["dtr", "poet"])");
  }

  void study(const std::string& name, const std::string& fields) const {
    std::ofstream(data_ / "reproduction" / "quick" / (name + ".json"))
        << R"({"format": 1, )" << fields << "}\n";
  }

  [[nodiscard]] ProgramRun reproduce(const std::string& more = "") const {
    return run_command({"/bin/sh", "-c",
                        // The report says when it was made; reports of two runs are compared.
                        "SOURCE_DATE_EPOCH=1000000000 POET_DATA_DIR='" + data_.string() + "' '" +
                            std::string(POET_TEST_PROGRAM) + "' reproduce --quick -o '" + out_.string() +
                            "' " + more});
  }

  TemporaryFolder folder_;
  fs::path data_, out_;
};

TEST_F(ReproduceTest, WritesReportFiguresAndResults) {
  const ProgramRun run = reproduce();
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const char* claim :
       {"Memory of training", "Figure 2", "Figure 3", "Figure 4", "Figure 5", "DTR on ResNet-18", "Table 3",
        "Batch sizes", "Beyond the paper", "Of the paper's 9 claims"})
    EXPECT_THAT(run.out, HasSubstr(claim));
  // Of eight layers one is recomputed and one paged.
  EXPECT_THAT(run.out, HasSubstr("626 uJ (1"));
  // Few budgets do not decide what is "up to" something.
  EXPECT_THAT(run.out, testing::ContainsRegex("are undecided, with so few budgets"));
  EXPECT_THAT(run.out, Not(HasSubstr("failed")));
  const std::string report = file_text((out_ / "report.html").string());
  EXPECT_THAT(report, HasSubstr("Table 1"));
  EXPECT_THAT(report, HasSubstr("Griewank"));
  EXPECT_THAT(report, HasSubstr("Capuchin 73% to 141%"));
  EXPECT_THAT(report, HasSubstr("285,873 kB"));
  // Table 3 is judged on plans within POFO's time: points that only its results tell.
  EXPECT_THAT(file_text((out_ / "results.csv").string()),
              testing::ContainsRegex("resnet18_cifar,network,jetsontx2[^\n]* B,[0-9.]+ s,poet,"));
  EXPECT_THAT(report, HasSubstr("</html>"));
  EXPECT_THAT(report, testing::ContainsRegex("Of the paper's [0-9]+ claims [0-9]+ hold"));
  EXPECT_LT(report.find("Of the paper's"), report.find("Griewank"));  // the verdict comes first
  EXPECT_THAT(file_text((out_ / "figure3_published.csv").string()),
              testing::StartsWith("panel,curve,RAM budget (MB),energy overhead (%)\n"));
  EXPECT_THAT(report, HasSubstr("<a href=\"figure3_published.csv\">"));
  EXPECT_THAT(file_text((out_ / "results.csv").string()), HasSubstr("pareto_energy_ram"));
  if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed: no figures";
  EXPECT_THAT(report, HasSubstr(has_web_libraries() ? "data-figure=\"figure3_published\"" : "<svg"));
  for (const char* figure : {"figure3_published", "figure3_published_linear", "figure3_corrected",
                             "figure3_corrected_linear", "figure4_published", "figure4_corrected",
                             "figure5_published", "figure5_corrected", "table3", "less_ram_m4"}) {
    EXPECT_TRUE(fs::exists(out_ / (std::string(figure) + ".svg"))) << figure;
    EXPECT_TRUE(fs::exists(out_ / (std::string(figure) + ".png"))) << figure;
  }

  EXPECT_THAT(report, HasSubstr("parameters in RAM or on storage"));
  EXPECT_THAT(report, HasSubstr("Bytes between RAM and storage per step"));
  EXPECT_THAT(report, HasSubstr("Least RAM of a plan here"));

  // Again: everything is there, and the report comes out the same.
  const ProgramRun again = reproduce();
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(again.out, run.out);
  EXPECT_TRUE(file_text((out_ / "report.html").string()) == report);  // not printed: 12,000 lines each
}

TEST_F(ReproduceTest, SaysWhatIsWrong) {
  const ProgramRun none = run_command({POET_TEST_PROGRAM, "reproduce"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("-o: is needed"));

  std::ofstream(folder_.file("file")) << "x";
  const ProgramRun file = run_command({POET_TEST_PROGRAM, "reproduce", "-o", folder_.file("file")});
  EXPECT_EQ(file.exit_code, 2);
  EXPECT_THAT(file.err, HasSubstr("is not a folder"));

  study("batch", R"("networks": ["nothing"])");
  const ProgramRun spec = reproduce();
  EXPECT_EQ(spec.exit_code, 2);
  EXPECT_THAT(spec.err, HasSubstr("batch.json"));
  EXPECT_FALSE(fs::exists(out_ / "report.html"));
}

}  // namespace
}  // namespace poet::test
