// Workers on this machine.

#include <algorithm>
#include <utility>

#include "poet/study/worker.h"
#include "poet/study/workers.h"

namespace poet {
namespace {

constexpr double kWaitSeconds = 0.05;

class ProcessPool final : public WorkerPool {
 public:
  ProcessPool(std::size_t workers, WorkOnItem work) : work_(std::move(work)), slots_(workers) {
    for (WorkerSlot& slot : slots_) slot.worker = start_worker(work_);
  }

  [[nodiscard]] std::size_t size() const override { return slots_.size(); }

  bool run(const std::vector<std::string>& items, const std::function<void(const WorkAnswer&)>& answered,
           const std::function<bool()>& keep_going) override {
    std::size_t next = 0;
    std::size_t open = items.size();
    while (open > 0) {
      if (!keep_going()) return false;
      for (WorkerSlot& slot : slots_) {
        if (slot.item || next == items.size()) continue;
        if (news_of(*slot.worker)) slot.worker = start_worker(work_);  // killed while idle
        slot.item = next++;
        (void)slot.worker->send(items[*slot.item]);  // to one that is gone: its death is the next news
      }
      wait();
      for (WorkerSlot& slot : slots_) {
        if (!slot.item) continue;
        std::optional<WorkerNews> news = news_of(*slot.worker);
        if (!news) continue;
        const WorkAnswer answer{*std::exchange(slot.item, std::nullopt), std::move(news->text),
                                std::move(news->death)};
        if (!answer.death.empty()) slot.worker = start_worker(work_);
        --open;
        answered(answer);
      }
    }
    return true;
  }

 private:
  struct WorkerSlot {
    std::unique_ptr<Child> worker;
    std::optional<std::size_t> item;
  };

  void wait() const {
    std::vector<const Child*> busy;
    for (const WorkerSlot& slot : slots_) {
      if (slot.item) busy.push_back(slot.worker.get());
    }
    wait_for_news(busy, kWaitSeconds);
  }

  WorkOnItem work_;
  std::vector<WorkerSlot> slots_;
};

}  // namespace

std::unique_ptr<WorkerPool> process_pool(std::size_t workers, WorkOnItem work) {
  return std::make_unique<ProcessPool>(std::max<std::size_t>(workers, 1), std::move(work));
}

}  // namespace poet
