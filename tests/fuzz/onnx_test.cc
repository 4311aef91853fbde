// ONNX models with something wrong: one line of diagnostic, or a sound graph that can be differentiated and
// priced. Never anything else, and never out of proportion to the file.
//
// POET_FUZZ_MODELS is how many random models are tried, POET_FUZZ_SEED (1) where they begin: model i of a
// seed is always the same. An offending model is written into the build folder; POET_FUZZ_FILE=FILE tries one
// again.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <iostream>
#include <optional>
#include <random>
#include <set>
#include <sstream>

#include "poet/autodiff/differentiate.h"
#include "poet/base/error.h"
#include "poet/cost/device.h"
#include "poet/cost/tabulate.h"
#include "poet/frontend/onnx/import.h"
#include "poet/frontend/onnx/read/read_model.h"
#include "tests/support/effort.h"
#include "tests/support/onnx_mutations.h"
#include "tests/support/onnx_seeds.h"
#include "tests/support/paths.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace poet {
namespace {

using test::OnnxSeed;

constexpr double kSlowSeconds = 1;  // of processor time, told
constexpr int kHangSeconds = 600;   // of processor time: it never ends
constexpr rlim_t kMostMemory = 4ULL << 30U;

struct Settings {
  bool allow_opaque = false;
  bool squared_error = false;
  std::optional<std::int64_t> batch_size;
};

std::string text_of(const Settings& settings) {
  return fmt::format("{}{}{}", settings.allow_opaque ? "opaque, " : "", settings.squared_error ? "mse, " : "",
                     settings.batch_size ? fmt::format("batch {}", *settings.batch_size) : "batch as it is");
}

// ---- what is written when the process dies
// ---------------------------------------------------------------------------------------

const std::string* now_tried = nullptr;
pid_t guarded = 0;  // children that libonnx crashes in are none of ours
const char* const kCrashFile = POET_FUZZ_OUTPUT "/fuzz_onnx_crash.onnx";

/// Nothing but system calls: it runs in a dying process.
void save_what_was_tried() {
  if (now_tried == nullptr || getpid() != guarded) return;
  std::FILE* const file = std::fopen(kCrashFile, "wb");
  if (file == nullptr) return;
  (void)std::fwrite(now_tried->data(), 1, now_tried->size(), file);
  (void)std::fclose(file);
  std::fprintf(stderr, "the model was written to %s\n", kCrashFile);
  now_tried = nullptr;
}

void on_signal(int signal) {
  save_what_was_tried();
  if (signal == SIGPROF) std::fprintf(stderr, "one model took %d seconds\n", kHangSeconds);
  (void)std::signal(signal, SIG_DFL);
  (void)std::raise(signal);
}

/// Deep recursion needs another stack to die on.
void guard_process() {
  guarded = getpid();
  static std::vector<char> stack(std::size_t{1} << 16U);
  stack_t other{};
  other.ss_sp = stack.data();
  other.ss_size = stack.size();
  (void)sigaltstack(&other, nullptr);
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK;
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_set_death_callback(save_what_was_tried);
  for (const int signal : {SIGPROF}) (void)sigaction(signal, &action, nullptr);
#else
  for (const int signal : {SIGPROF, SIGSEGV, SIGABRT, SIGFPE, SIGBUS})
    (void)sigaction(signal, &action, nullptr);
  const rlimit memory{kMostMemory, kMostMemory};
  (void)setrlimit(RLIMIT_AS, &memory);
#endif
}

void start_clock(int seconds) {
  const itimerval timer{{0, 0}, {seconds, 0}};
  (void)setitimer(ITIMER_PROF, &timer, nullptr);
}

// ---- one input
// -------------------------------------------------------------------------------------------------------------------

struct Verdict {
  bool accepted = false;
  bool trained = false;
  std::string wrong;
};

/// Whether it is one line; what is wrong otherwise.
std::string diagnostic_of(const InputError& error) {
  const std::string text = error.what();
  if (text.empty() || text.find('\n') != std::string::npos) return "a diagnostic is not one line: " + text;
  return "";
}

std::size_t size_of(const Graph& graph) {
  std::size_t size = graph.ops.size() + graph.values.size();
  for (const Op& op : graph.ops) size += op.inputs.size() + op.outputs.size();
  return size;
}

Verdict judge(const std::string& bytes, const Settings& settings) {
  static const DeviceProfile device = find_device("a72");
  constexpr std::size_t kMostPerNode = 20'000;  // copies by Expand, mostly
  Verdict verdict;
  const char* stage = "import";
  try {
    ImportOptions options;
    options.allow_opaque = settings.allow_opaque;
    options.batch_size = settings.batch_size;
    if (settings.squared_error) options.loss = Loss::mean_squared_error;
    const onnx::Model model = onnx::parse_model(bytes, "m.onnx");
    const Graph forward = import_model(model, options).forward;
    verdict.accepted = true;
    stage = "verify";
    verify(forward);
    if (size_of(forward) > kMostPerNode * (model.nodes.size() + 1))
      verdict.wrong = fmt::format("{} nodes become a graph of {}", model.nodes.size(), size_of(forward));
    stage = "tabulate the forward graph";
    (void)tabulate(forward, device);
    stage = "differentiate";
    const Graph training = differentiate(forward);
    stage = "verify the training graph";
    verify(training);
    stage = "tabulate the training graph";
    (void)tabulate(training, device);
    verdict.trained = true;
  } catch (const InputError& error) {
    verdict.wrong = diagnostic_of(error);
    if (std::string(stage).starts_with("verify")) verdict.wrong = fmt::format("{}: {}", stage, error.what());
  } catch (const std::exception& error) {
    verdict.wrong = fmt::format("{} throws: {}", stage, error.what());
  }
  return verdict;
}

class Judge {
 public:
  /// `what`: how it came to be, for people.
  void operator()(const std::string& bytes, const Settings& settings, const std::string& what) {
    now_tried = &bytes;
    start_clock(kHangSeconds);
    const std::clock_t begin = std::clock();
    const Verdict verdict = judge(bytes, settings);
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    start_clock(0);
    now_tried = nullptr;
    ++tried_;
    accepted_ += verdict.accepted ? 1 : 0;
    trained_ += verdict.trained ? 1 : 0;
    if (seconds > kSlowSeconds) {
      std::cout << fmt::format("slow: {:.1f} s, {} ({}), {}\n", seconds, what, text_of(settings),
                               written(bytes, fmt::format("slow_{}", tried_)));
    }
    if (verdict.wrong.empty() || !seen_.insert(verdict.wrong).second) return;
    ADD_FAILURE() << verdict.wrong << "\n  " << what << " (" << text_of(settings) << ")\n  "
                  << written(bytes, std::to_string(tried_));
  }

  [[nodiscard]] std::size_t tried() const { return tried_; }
  [[nodiscard]] std::size_t accepted() const { return accepted_; }

  void report(const std::string& title) const {
    std::cout << fmt::format("{}: {} models, {} refused, {} imported, {} of them trained\n", title, tried_,
                             tried_ - accepted_, accepted_, trained_);
  }

 private:
  static std::string written(const std::string& bytes, const std::string& name) {
    const std::string file = fmt::format("{}/fuzz_onnx_{}.onnx", POET_FUZZ_OUTPUT, name);
    std::ofstream(file, std::ios::binary) << bytes;
    return "the model was written to " + file;
  }

  std::size_t tried_ = 0;
  std::size_t accepted_ = 0;
  std::size_t trained_ = 0;
  std::set<std::string> seen_;
};

std::vector<OnnxSeed> shared_seeds() {
  std::vector<OnnxSeed> seeds;
  std::error_code absent;
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(test::shared() / "models", absent)) {
    if (entry.path().extension() == ".onnx") files.insert(entry.path());
  }
  for (const std::filesystem::path& file : files) {
    std::ifstream stream(file, std::ios::binary);
    OnnxSeed seed{file.filename().string(), {}};
    if (seed.model.ParseFromIstream(&stream)) seeds.push_back(std::move(seed));
  }
  return seeds;
}

/// libonnx checks no models that are newer than itself; poet's own checks have to do then.
void hide_from_checker(::onnx::ModelProto& model) { model.set_ir_version(1000); }

struct Corpus {
  std::vector<OnnxSeed> handmade = test::handmade_seeds();
  std::vector<OnnxSeed> networks = test::network_seeds();
  std::vector<OnnxSeed> node_tests = test::node_test_seeds();
  std::vector<OnnxSeed> shared = shared_seeds();
};

const Corpus& corpus() {
  static const Corpus all = [] {
    Corpus made;
    (void)malloc_trim(0);  // the import forks, which takes as long as there is memory
    return made;
  }();
  return all;
}

class OnnxFuzz : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { guard_process(); }
  Judge judge_;
};

TEST_F(OnnxFuzz, SoundModels) {
  for (const OnnxSeed& seed : corpus().networks) judge_(seed.model.SerializeAsString(), {}, seed.name);
  for (const OnnxSeed& seed : corpus().shared) judge_(seed.model.SerializeAsString(), {}, seed.name);
  EXPECT_EQ(judge_.accepted(), judge_.tried()) << "networks are imported";
  for (const bool allow_opaque : {false, true}) {
    const Settings settings{allow_opaque, true, {}};
    for (const OnnxSeed& seed : corpus().handmade)
      judge_(seed.model.SerializeAsString(), settings, seed.name);
    for (const OnnxSeed& seed : corpus().node_tests)
      judge_(seed.model.SerializeAsString(), settings, seed.name);
  }
  judge_.report("sound models");
}

// ---- every quantity at its edges
// -------------------------------------------------------------------------------------------------

/// One of a model's quantities; of the two, the one that fits is set.
struct Quantity {
  std::function<void(std::int64_t)> set_integer;
  std::function<void(float)> set_real;
};

void add_quantities(::onnx::TensorProto& tensor, std::vector<Quantity>& all) {
  for (std::int64_t& dim : *tensor.mutable_dims()) all.push_back({[&dim](std::int64_t i) { dim = i; }, {}});
  for (std::int64_t& element : *tensor.mutable_int64_data())
    all.push_back({[&element](std::int64_t i) { element = i; }, {}});
  for (float& element : *tensor.mutable_float_data())
    all.push_back({{}, [&element](float r) { element = r; }});
}

/// Attributes, dimensions, and what constants hold. They are those of `model`, which must outlive them.
std::vector<Quantity> quantities(::onnx::ModelProto& model) {
  using Attribute = ::onnx::AttributeProto;
  std::vector<Quantity> all;
  ::onnx::GraphProto& graph = *model.mutable_graph();
  for (::onnx::NodeProto& node : *graph.mutable_node()) {
    for (Attribute& attribute : *node.mutable_attribute()) {
      if (attribute.type() == Attribute::INT)
        all.push_back({[&attribute](std::int64_t i) { attribute.set_i(i); }, {}});
      if (attribute.type() == Attribute::FLOAT)
        all.push_back({{}, [&attribute](float r) { attribute.set_f(r); }});
      if (attribute.type() == Attribute::TENSOR) add_quantities(*attribute.mutable_t(), all);
      for (std::int64_t& element : *attribute.mutable_ints())
        all.push_back({[&element](std::int64_t i) { element = i; }, {}});
    }
  }
  for (::onnx::TensorProto& tensor : *graph.mutable_initializer()) add_quantities(tensor, all);
  for (::onnx::ValueInfoProto& input : *graph.mutable_input()) {
    for (auto& dim : *input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
      all.push_back({[&dim](std::int64_t i) { dim.set_dim_value(i); }, {}});
  }
  return all;
}

TEST_F(OnnxFuzz, EveryQuantityAtItsEdges) {
  const int step = test::kSanitized ? 31 : test::cases(7, 1);
  for (const OnnxSeed& seed : corpus().handmade) {
    ::onnx::ModelProto counted = seed.model;
    const std::size_t count = quantities(counted).size();
    for (std::size_t at = 0; at < count; at += static_cast<std::size_t>(step)) {
      for (std::size_t edge = 0; edge < test::kExtremeIntegers.size(); ++edge) {
        ::onnx::ModelProto model = seed.model;
        const Quantity quantity = quantities(model)[at];
        if (quantity.set_integer) quantity.set_integer(test::kExtremeIntegers[edge]);
        if (quantity.set_real) quantity.set_real(test::kExtremeReals[edge % test::kExtremeReals.size()]);
        if (at % 2 == 0) hide_from_checker(model);
        judge_(model.SerializeAsString(), {edge % 4 == 1, true, {}},
               fmt::format("{}, quantity {}, edge {}", seed.name, at, edge));
      }
    }
  }
  judge_.report("quantities at their edges");
  EXPECT_GT(judge_.accepted(), judge_.tried() / 50);
  EXPECT_LT(judge_.accepted(), judge_.tried());
}

// ---- at random
// -------------------------------------------------------------------------------------------------------------------

TEST_F(OnnxFuzz, DamagedModels) {
  std::vector<const std::vector<OnnxSeed>*> pools;
  for (const std::vector<OnnxSeed>* pool :
       {&corpus().handmade, &corpus().node_tests, &corpus().networks, &corpus().shared}) {
    if (!pool->empty()) pools.push_back(pool);
  }
  const long seed = test::from_environment("POET_FUZZ_SEED", 1);
  const long models = test::from_environment("POET_FUZZ_MODELS", test::effort(50'000, 10));
  for (long input = 0; input < models; ++input) {
    std::seed_seq start = {static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(input)};
    std::mt19937_64 random(start);
    const auto pick = [&]() -> const OnnxSeed& {
      // Small models fail as large ones do, and faster.
      const std::vector<OnnxSeed>& pool = *pools[random() % (random() % 8 == 0 ? pools.size() : 2)];
      return pool[random() % pool.size()];
    };
    const OnnxSeed& from = pick();
    ::onnx::ModelProto model = from.model;
    std::string what = fmt::format("seed {}, input {}: {}", seed, input, from.name);
    const std::uint64_t changes = random() % 4;
    for (std::uint64_t i = 0; i < changes; ++i) what += "; " + test::mutate(model, pick().model, random);
    if (random() % 2 == 0) hide_from_checker(model);
    std::string bytes = model.SerializeAsString();
    if (changes == 0 || random() % 8 == 0) {
      test::damage(bytes, random);
      what += "; bytes";
    }
    Settings settings{random() % 2 == 0, random() % 4 != 0, {}};
    if (random() % 4 == 0)
      settings.batch_size = test::kExtremeIntegers[random() % test::kExtremeIntegers.size()];
    judge_(bytes, settings, what);
  }
  judge_.report("damaged models");
  EXPECT_GT(judge_.accepted(), judge_.tried() / 50) << "hardly anything gets past the reader";
  EXPECT_LT(judge_.accepted(), judge_.tried());
}

TEST_F(OnnxFuzz, OneFileAgain) {
  const char* const file = std::getenv("POET_FUZZ_FILE");
  if (file == nullptr) GTEST_SKIP() << "POET_FUZZ_FILE names no file";
  std::ostringstream bytes;
  bytes << std::ifstream(file, std::ios::binary).rdbuf();
  for (const bool allow_opaque : {false, true}) {
    for (const bool squared_error : {false, true}) {
      const Settings as_it_is{allow_opaque, squared_error, {}};
      judge_(bytes.str(), as_it_is, file);
      for (const std::int64_t batch_size : test::kExtremeIntegers)
        judge_(bytes.str(), {allow_opaque, squared_error, batch_size}, file);
    }
  }
  judge_.report(file);
}

}  // namespace
}  // namespace poet
