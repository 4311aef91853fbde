#include "poet/study/worker.h"

namespace poet {

std::unique_ptr<Child> start_worker(const WorkOnItem& work) {
  return std::make_unique<Child>([&work](Parent& parent) {
    while (const std::optional<std::string> item = parent.receive()) parent.send(work(*item));
    return 0;
  });
}

std::optional<WorkerNews> news_of(Child& worker) {
  if (std::optional<std::string> text = worker.receive(0)) return WorkerNews{std::move(*text), ""};
  if (worker.open()) return std::nullopt;
  return WorkerNews{"", to_string(worker.kill())};
}

}  // namespace poet
