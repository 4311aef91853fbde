#include "apps/server/http/thread_pool.h"

#include <exception>
#include <utility>

#include "apps/server/start_threads.h"

namespace poet::server {

ThreadPool::ThreadPool(std::size_t threads, std::size_t most) : most_(most) {
  start_threads(
      threads_, threads, [this](std::size_t) { serve(); }, [this] { stop(); });
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool ThreadPool::post(std::function<void()> work) {
  {
    const std::scoped_lock lock(mutex_);
    if (waiting_.size() >= most_) return false;
    waiting_.push_back(std::move(work));
  }
  changed_.notify_one();
  return true;
}

void ThreadPool::serve() {
  while (true) {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (stopping_) return;
      work = std::move(waiting_.front());
      waiting_.pop_front();
    }
    try {
      work();
    } catch (const std::exception&) {  // no memory even to say so: whoever waits for it gives up
    }
  }
}

}  // namespace poet::server
