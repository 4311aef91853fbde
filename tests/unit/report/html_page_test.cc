#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "poet/base/error.h"
#include "poet/report/html.h"
#include "poet/report/picture_json.h"
#include "poet/report/study_page.h"
#include "tests/support/program.h"
#include "tests/support/small_pictures.h"

namespace poet {
namespace {

using Json = nlohmann::ordered_json;

Picture chain_picture(const std::string& title) {
  return test::picture_of_schedule(test::chain(), test::chain_recomputing(), test::ram(30), title);
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::string between(const std::string& text, const std::string& open, const std::string& close) {
  const std::size_t from = text.find(open);
  if (from == std::string::npos) return {};
  return text.substr(from + open.size(), text.find(close, from) - from - open.size());
}

class HtmlPage : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("POET_DATA_DIR");
    try {
      page_ = html_page({chain_picture("a chain")});
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("install npm"), std::string::npos);
      GTEST_SKIP() << error.what();
    }
  }
  void TearDown() override { unsetenv("POET_DATA_DIR"); }

  std::string page_;
};

TEST_F(HtmlPage, LoadsNothing) {
  EXPECT_NE(page_.find("default-src 'none'"), std::string::npos);
  for (const char* reference : {"<link", "@import", "import(", " src=\"http", " href=\"http", " src='http"})
    EXPECT_EQ(page_.find(reference), std::string::npos) << reference;
  for (const char* placeholder : {"{{report.css}}", "{{echarts.min.js}}", "{{page.js}}", "{{pictures}}"})
    EXPECT_EQ(page_.find(placeholder), std::string::npos) << placeholder;
}

TEST_F(HtmlPage, KeepsTheLicencesOfWhatItContains) {
  EXPECT_NE(page_.find("Licensed to the Apache Software Foundation"), std::string::npos);
  EXPECT_NE(page_.find("This product includes software developed at"), std::string::npos);
  EXPECT_NE(page_.find("Copyright 2010-2016 Mike Bostock"), std::string::npos);
  EXPECT_NE(page_.find("Copyright (c) 2017, Baidu Inc."), std::string::npos);
}

TEST_F(HtmlPage, HoldsThePicturesInOrder) {
  const std::string page = html_page({chain_picture("one"), chain_picture("two")});
  const Json json = Json::parse(between(page, "id=\"pictures\">", "</script>"));
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0], picture_json(chain_picture("one")));
  EXPECT_EQ(json[1]["title"], "two");
  EXPECT_EQ(between(page, "<title>", "</title>"), "one, two · poet");
}

// Names come from models and files of others.
TEST_F(HtmlPage, NamesStayText) {
  const std::string hostile = "</script><img src=x onerror=alert(1)><!--<script>";
  Graph graph;
  test::add_node(graph, hostile, {}, 10);
  Plan plan;
  plan.steps = {{StepKind::compute, OpId(0), ValueId()}};
  const std::string page = html_page({test::picture_of_plan(
      test::instance_of(std::move(graph)), plan, test::ram(10), "</title>{{pictures}}" + hostile)});
  EXPECT_EQ(page.find("<img src=x"), std::string::npos);
  EXPECT_EQ(count_of(page, "</script>"), count_of(page_, "</script>"));
  EXPECT_EQ(count_of(page, "<!--"), count_of(page_, "<!--"));
  EXPECT_EQ(count_of(page, "</title>"), 1u);
  const Json json = Json::parse(between(page, "id=\"pictures\">", "</script>"));
  EXPECT_EQ(json[0]["ops"][0][0], hostile);
  EXPECT_EQ(json[0]["title"], "</title>{{pictures}}" + hostile);
}

TEST_F(HtmlPage, TextThatIsNotUtf8IsReplaced) {
  EXPECT_NE(html_page({chain_picture("\xff\xfe")}).find("\xef\xbf\xbd"), std::string::npos);
}

// Two plans of one graph.
TEST_F(HtmlPage, AStudyKeepsWhatPlansShareOnce) {
  StudyPage page({.title = "</title><b>",
                  .command = "poet",
                  .version = "1",
                  .written = "",
                  .csv_name = "a.csv",
                  .methods = {},
                  .notes = {},
                  .units = {}});
  for (const char* title : {"one", "two"}) {
    page.add("{}", "a chart");
    page.add_plan(chain_picture(title));
  }
  page.add("{}", "another");
  const std::string html = page.html("a,b\n");
  EXPECT_EQ(between(html, "<title>", "</title>"), "&lt;/title&gt;&lt;b&gt; · poet");
  const Json json = Json::parse(between(html, "id=\"study\">", "</script>"));
  EXPECT_EQ(json["graphs"].size(), 1u);
  ASSERT_EQ(json["plans"].size(), 2u);
  EXPECT_NE(json["plans"]["0"][1], json["plans"]["1"][1]);
  EXPECT_FALSE(json["plans"].contains("2"));
  EXPECT_EQ(page.html("a,b\n"), html);
}

TEST_F(HtmlPage, SaysWhichFileIsMissing) {
  const test::TemporaryFolder folder;
  setenv("POET_DATA_DIR", folder.file("").c_str(), 1);
  try {
    (void)html_page({chain_picture("a chain")});
    FAIL() << "a page without its template";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("report.html: cannot be read"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace poet
