// From a client's JSON to an order: equal requests are one order, and what is wrong is named by its JSON
// pointer.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/server/jobs/fields.h"
#include "poet/cost/json_reader.h"
#include "tests/support/server_requests.h"

namespace poet::server {
namespace {

using test::kUploaded;
using test::read_order;
using test::refusal_of;
using testing::HasSubstr;
using RequestJson = nlohmann::ordered_json;

constexpr const char* kLinear = R"({"model":"linear","device":"m0","ram_budget":24576})";

/// The same with another field, or with a field's value replaced.
std::string with(const std::string& name, const RequestJson& value) {
  RequestJson json = RequestJson::parse(kLinear);
  json[name] = value;
  return json.dump();
}

TEST(ServerRequest, OfEqualMeaningIsOneOrder) {
  const Order order = read_order(kLinear);
  EXPECT_EQ(order.kind, "solve");
  EXPECT_EQ(order.id.size(), 32U);
  for (const char* same : {
           R"({"ram_budget":24576,"device":"m0","model":"linear"})",
           R"({"kind":"solve","model":"linear","device":"m0","ram_budget":24576})",
           R"({"model":"linear","device":"m0","ram_budget":"24KiB"})",
           R"({"model":"linear","device":"m0","ram_budget":"24 kib"})",
           R"({"model":"linear","device":"m0","ram_budget":"24.576KB"})",
           R"({"model":"linear","device":"m0","ram_budget":24576.0})",
           R"({"model":"linear","device":"m0","ram_budget":2.4576e4})",
           R"({"model":"linear","device":"m0","ram_budget":24576,"time_limit":"1min"})",
           R"({"model":"linear","device":"m0","ram_budget":24576,"time_limit":60.0})",
           R"({"model":"linear","device":"m0","ram_budget":24576,"deadline":null})",
           "\n{\t\"model\" : \"lin\\u0065ar\", \"device\":\"m0\", \"ram_budget\":24576 }\n",
       }) {
    EXPECT_EQ(read_order(same).id, order.id) << same << "\n" << read_order(same).request;
    EXPECT_EQ(read_order(same).request, order.request);
  }
  EXPECT_EQ(read_order(with("gap", "5%")).id, read_order(with("gap", 0.05)).id);
  EXPECT_EQ(read_order(with("deadline", "50ms")).id, read_order(with("deadline", 0.05)).id);
  EXPECT_EQ(read_order(with("runtime_budget", 2)).id, read_order(with("runtime_budget", 2.0)).id);
  EXPECT_EQ(read_order(with("split", "64KiB")).id, read_order(with("split", 65536)).id);
}

TEST(ServerRequest, OfAnotherMeaningIsAnotherOrder) {
  std::vector<std::string> ids = {read_order(kLinear).id};
  for (const auto& [name, value] :
       std::initializer_list<std::pair<const char*, RequestJson>>{{"ram_budget", 24577},
                                                                  {"device", "m4"},
                                                                  {"model", "bert_tiny"},
                                                                  {"kind", "explain"},
                                                                  {"kind", "compare"},
                                                                  {"batch_size", 2},
                                                                  {"paging", false},
                                                                  {"remat", false},
                                                                  {"schedule", true},
                                                                  {"runtime_budget", 1.5},
                                                                  {"deadline", 1.5},
                                                                  {"time_limit", 59},
                                                                  {"threads", 1},
                                                                  {"split", "off"},
                                                                  {"split", "auto"}})
    ids.push_back(read_order(with(name, value)).id);
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
}

TEST(ServerRequest, HasItsDeviceAsANameOrAProfileOfSortedFields) {
  const RequestJson profile =
      RequestJson::parse(read_text_file(test::repository() / "data" / "devices" / "m0.json"));
  std::vector<std::pair<std::string, RequestJson>> members;
  for (const auto& [name, value] : profile.items()) members.emplace_back(name, value);
  RequestJson turned;
  for (auto each = members.rbegin(); each != members.rend(); ++each) turned[each->first] = each->second;
  EXPECT_EQ(read_order(with("device", profile)).id, read_order(with("device", turned)).id);
  RequestJson wrong = profile;
  wrong["name"] = 5;
  EXPECT_THAT(refusal_of(with("device", wrong)), HasSubstr("/device/name: "));
  EXPECT_THAT(refusal_of(with("device", RequestJson::object())), HasSubstr("/device"));
  EXPECT_THAT(refusal_of(with("device", "m5")), HasSubstr("/device: \"m5\" is not one of m0, m4"));
  EXPECT_THAT(refusal_of(with("device", "m0.json")), HasSubstr("/device: "));
  EXPECT_THAT(refusal_of(with("device", 7)), HasSubstr("/device: "));
}

TEST(ServerRequest, ThatIsWrongNamesTheField) {
  const std::string long_name(1000, 'x');
  for (const auto& [name, value] :
       std::initializer_list<std::pair<const char*, RequestJson>>{{"model", "lenet"},
                                                                  {"model", long_name},
                                                                  {"model", 5},
                                                                  {"device", nullptr},
                                                                  {"ram_budget", -1},
                                                                  {"ram_budget", "much"},
                                                                  {"ram_budget", "-5"},
                                                                  {"ram_budget", true},
                                                                  {"ram_budget", 1e300},
                                                                  {"ram_budget", std::int64_t{1} << 60},
                                                                  {"ram_budget", nullptr},
                                                                  {"ram_budget", RequestJson::array()},
                                                                  {"runtime_budget", 0},
                                                                  {"runtime_budget", "2"},
                                                                  {"deadline", 0},
                                                                  {"deadline", "soon"},
                                                                  {"max_bytes_written", "12XB"},
                                                                  {"batch_size", 0},
                                                                  {"batch_size", 1.5},
                                                                  {"batch_size", 65537},
                                                                  {"sequence_length", -3},
                                                                  {"optimizer", "rmsprop"},
                                                                  {"trainable", "a b"},
                                                                  {"trainable", ""},
                                                                  {"trainable", "--no-paging"},
                                                                  {"trainable", "a\nb"},
                                                                  {"loss", "hinge"},
                                                                  {"allow_opaque", "yes"},
                                                                  {"persistent", "counted"},
                                                                  {"split", "half"},
                                                                  {"split", false},
                                                                  {"semantics", "theirs"},
                                                                  {"paging", 1},
                                                                  {"order", "worst"},
                                                                  {"on_time", "150%"},
                                                                  {"on_time", 2},
                                                                  {"gap", -0.5},
                                                                  {"time_limit", 101},
                                                                  {"time_limit", "1h"},
                                                                  {"time_limit", 0},
                                                                  {"threads", 3},
                                                                  {"threads", 0},
                                                                  {"solver", "gurobi"},
                                                                  {"formulation", "loose"},
                                                                  {"schedule", "no"},
                                                                  {"methods", RequestJson::array({"chen"})},
                                                                  {"plan", kUploaded},
                                                                  {"colour", "red"},
                                                                  {"kind", "reproduce"},
                                                                  {"kind", 1}})
    EXPECT_EQ(refusal_of(with(name, value)).find("/" + std::string(name) + ": "), 0U)
        << name << " " << value.dump().substr(0, 40) << ": " << refusal_of(with(name, value));
  EXPECT_THAT(refusal_of(with("a/b~c", 1)), HasSubstr("/a~1b~0c: "));
}

TEST(ServerRequest, NamesOneNetworkAndWhatItCosts) {
  EXPECT_THAT(refusal_of(R"({"device":"m0","ram_budget":1})"), HasSubstr("one of model, onnx and instance"));
  EXPECT_THAT(refusal_of(with("onnx", kUploaded)), HasSubstr("one of model, onnx and instance"));
  EXPECT_THAT(refusal_of(R"({"model":"linear","ram_budget":1})"), HasSubstr("/device: is missing"));
  EXPECT_THAT(refusal_of(R"({"model":"linear","device":"m0"})"), HasSubstr("/ram_budget: is missing"));
  EXPECT_THAT(refusal_of(R"({"kind":"import"})"), HasSubstr("must have onnx"));
  EXPECT_THAT(refusal_of(R"({"kind":"import","model":"linear"})"), HasSubstr("/model: "));
  const std::string instance = R"({"instance":")" + kUploaded + R"(","ram_budget":1)";
  EXPECT_EQ(read_order(instance + "}").kind, "solve");
  EXPECT_THAT(refusal_of(instance + R"(,"device":"m0"})"), HasSubstr("/device: must be absent"));
}

TEST(ServerRequest, ThatIsNoObjectIsRefusedWithoutAField) {
  for (const char* text : {"", "{", "[]", "5", "null", "\"solve\"", "{\"a\":1e999}", "\xff\xfe{}", "{} {}"})
    EXPECT_EQ(refusal_of(text).find(": "), 0U) << text << " " << refusal_of(text);
  EXPECT_FALSE(refusal_of(std::string(5000, '[')).empty());
}

TEST(ServerRequest, NamesUploadsByTheirIds) {
  const std::string unknown = digest("another file");
  EXPECT_EQ(read_order(R"({"kind":"import","onnx":")" + kUploaded + "\"}").kind, "import");
  EXPECT_EQ(read_order(R"({"kind":"verify","plan":")" + kUploaded + "\"}").kind, "verify");
  for (const std::string& id : {unknown, std::string("../jobs.sqlite"), std::string("/etc/passwd"),
                                std::string(), kUploaded + "\n", kUploaded.substr(1), std::string(64, 'A')}) {
    const std::string text = RequestJson(id).dump();
    EXPECT_THAT(refusal_of(R"({"kind":"import","onnx":)" + text + "}"), HasSubstr("/onnx: "));
    EXPECT_THAT(refusal_of(R"({"kind":"verify","plan":)" + text + "}"), HasSubstr("/plan: "));
    EXPECT_THAT(refusal_of(R"({"ram_budget":1,"instance":)" + text + "}"), HasSubstr("/instance: "));
  }
  EXPECT_THAT(refusal_of(R"({"kind":"verify"})"), HasSubstr("plan"));
  EXPECT_THAT(refusal_of(R"({"kind":"verify","plan":")" + kUploaded + R"(","steps":1})"),
              HasSubstr("/steps: "));
}

TEST(ServerRequest, HasBoundedListsAndTexts) {
  RequestJson shapes;
  for (int i = 0; i < 1025; ++i) shapes["input" + std::to_string(i)] = {1};
  EXPECT_EQ(refusal_of(with("input_shapes", shapes)).find("/input_shapes: "), 0U);
  EXPECT_EQ(refusal_of(with("input_shapes", {{"x", std::vector<int>(10'000, 1)}})).find("/input_shapes/x: "),
            0U);
  RequestJson values;
  for (int i = 0; i < 1025; ++i) values["input" + std::to_string(i)] = 1;
  EXPECT_EQ(refusal_of(with("input_values", values)).find("/input_values: "), 0U);
  EXPECT_EQ(refusal_of(with("input_values", {{"x=1", 1}})).find("/input_values: "), 0U);
  EXPECT_EQ(refusal_of(with("input_values", {{"x", "1"}})).find("/input_values/x: "), 0U);
  RequestJson compare = RequestJson::parse(with("methods", {"chen", "keep-all", "chen"}));
  compare["kind"] = "compare";
  EXPECT_EQ(refusal_of(compare.dump()).find("/methods/2: "), 0U) << "each lengthens the job's time";
  for (const char* field : {"ram_budget", "deadline", "gap", "split", "time_limit"})
    EXPECT_LT(refusal_of(with(field, std::string(100'000, '9') + "x")).size(), 500U) << field;
}

TEST(ServerRequest, HasFieldsThatTheDescriptionHasToo) {
  for (const Field& field : fields()) {
    EXPECT_NE(std::string(field.description), "") << field.name;
    EXPECT_TRUE(std::any_of(job_kinds().begin(), job_kinds().end(), [&](const std::string& kind) {
      return belongs_to(field, kind);
    })) << field.name;
    EXPECT_EQ(field.kind == FieldKind::choice, !field.choices.empty()) << field.name;
  }
}

}  // namespace
}  // namespace poet::server
