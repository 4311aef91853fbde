// The OpenAPI description: every route, every field, and nothing that is not there.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "apps/server/jobs/fields.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/server.h"

namespace poet::server {
namespace {

using testing::StartsWith;
using ApiJson = nlohmann::ordered_json;

TEST(ServerDescription, HasEveryRouteAndNoOther) {
  const test::ScratchFolder folder;
  test::QuietServer server(folder.path());
  const ApiJson json = server.answer(test::http_request("GET /api/v1/openapi.json"))->json();
  std::set<std::string> described, there;
  for (const auto& [path, methods] : json["paths"].items())
    for (const auto& [method, operation] : methods.items()) described.insert(method + " " + path);
  for (const Route& route : server.routes) {
    std::string method = route.method;
    for (char& c : method) c = static_cast<char>(std::tolower(c));
    if (*route.summary != '\0') there.insert(method + " " + route.pattern);
    EXPECT_EQ(*route.summary == '\0', route.pattern.rfind("/api/", 0) != 0 && route.pattern != "/solve")
        << route.pattern << ": all but the page's own files is described";
  }
  EXPECT_EQ(described, there);
  EXPECT_TRUE(there.contains("get /solve") && there.contains("post /api/v1/jobs") &&
              there.contains("get /api/v1/openapi.json"));
}

/// Calls `see` with every object in a document.
void each_object(const ApiJson& json, const std::function<void(const ApiJson&)>& see) {
  if (json.is_object()) see(json);
  if (json.is_structured())
    for (const ApiJson& each : json) each_object(each, see);
}

TEST(ServerDescription, IsSoundInItself) {
  const test::ScratchFolder folder;
  test::QuietServer server(folder.path());
  const ApiJson json = server.answer(test::http_request("GET /api/v1/openapi.json"))->json();
  EXPECT_THAT(json["openapi"].get<std::string>(), StartsWith("3."));
  EXPECT_TRUE(json["info"]["title"].is_string() && json["info"]["version"].is_string());
  each_object(json, [&](const ApiJson& each) {
    if (each.contains("$ref")) {
      const std::string target = each["$ref"];
      ASSERT_EQ(target.front(), '#') << target;
      EXPECT_TRUE(json.contains(ApiJson::json_pointer(target.substr(1)))) << target;
    }
    const ApiJson none = ApiJson::array(), some = ApiJson::array({0, 0});
    if (!each.value("required", none).is_boolean()) {
      for (const ApiJson& name : each.value("required", none))
        EXPECT_TRUE(each["properties"].contains(name.get<std::string>())) << each.dump();
    }
    EXPECT_FALSE(each.value("enum", some).empty()) << each.dump();
    EXPECT_GT(each.value("oneOf", some).size(), 1U) << each.dump();
    EXPECT_TRUE(each.value("type", none) != "array" || each.contains("items")) << each.dump();
  });
  for (const auto& [path, methods] : json["paths"].items())
    for (const auto& [method, operation] : methods.items()) {
      std::set<std::string> in_path, declared;
      for (std::size_t at = 0; (at = path.find('{', at)) != std::string::npos; ++at)
        in_path.insert(path.substr(at + 1, path.find('}', at) - at - 1));
      for (const ApiJson& each : operation.value("parameters", ApiJson::array())) {
        EXPECT_TRUE(each["schema"].is_object() && each["required"].is_boolean());
        if (each["in"] == "path") declared.insert(each["name"].get<std::string>());
      }
      EXPECT_EQ(in_path, declared) << path;
      EXPECT_FALSE(operation["responses"].empty()) << path;
      EXPECT_EQ(operation.contains("requestBody"), method == "post") << path;
    }
}

TEST(ServerDescription, OfAJobHasTheFieldsThatRequestsMayHave) {
  const test::ScratchFolder folder;
  test::QuietServer server(folder.path());
  const ApiJson schemas =
      server.answer(test::http_request("GET /api/v1/openapi.json"))->json()["components"]["schemas"];
  for (const std::string& kind : job_kinds()) {
    const ApiJson& properties = schemas[kind]["properties"];
    EXPECT_EQ(properties["kind"]["enum"], ApiJson::array({kind}));
    for (const Field& field : fields())
      EXPECT_EQ(properties.contains(field.name), belongs_to(field, kind)) << field.name;
  }
  EXPECT_EQ(schemas["JobRequest"]["oneOf"].size(), job_kinds().size());
  EXPECT_TRUE(schemas["solve"]["required"].is_array());
  EXPECT_EQ(schemas["explain"]["required"], ApiJson::array({"kind"}));
  // A job has what its schema says.
  const ApiJson job =
      server.answer(test::job_request(R"({"model":"linear","device":"m0","ram_budget":"24KiB"})"))->json();
  for (const auto& [name, value] : job.items())
    EXPECT_TRUE(schemas["Job"]["properties"].contains(name)) << name;
  for (const auto& [name, schema] : schemas["Job"]["properties"].items())
    EXPECT_TRUE(job.contains(name)) << name;
}

}  // namespace
}  // namespace poet::server
