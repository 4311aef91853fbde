// Workers as the ranks of an MPI job. Rank 0 hands out; each other rank passes an item on to a worker process
// of its own and the answer back, so that solvers are started, crash and are ended outside MPI's processes.
// Nobody waits inside MPI, whose waiting takes a whole core: everybody asks, and sleeps in between.

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "poet/base/error.h"
#include "poet/study/worker.h"
#include "poet/study/workers.h"
#ifdef POET_HAS_MPI
#include <mpi.h>
#include <unistd.h>
#endif

namespace poet {

int mpi_processes() {
  // Open MPI; MPICH, its relatives, and Slurm's srun.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* text = std::getenv(name);
    if (text == nullptr) continue;
    int size = 0;
    const char* end = text + std::strlen(text);
    if (std::from_chars(text, end, size).ptr == end && size >= 1) return size;
  }
  return 1;
}

#ifndef POET_HAS_MPI

bool has_mpi() { return false; }

std::unique_ptr<WorkerPool> mpi_pool(const WorkOnItem&) {
  throw InternalError("a build without MPI has no ranks");
}

#else

namespace {

constexpr int kItem = 1;    // to a rank: work on this
constexpr int kQuit = 2;    // to a rank: drop what you do, there will be no more
constexpr int kAnswer = 3;  // to rank 0: text
constexpr int kDeath = 4;   // to rank 0: how the worker died
constexpr int kSleepMilliseconds = 2;
constexpr int kCallsOfKeepGoing = 25;  // sleeps between two of them

void sleep_shortly() {
  const timespec time{0, kSleepMilliseconds * 1'000'000L};
  nanosleep(&time, nullptr);
}

void send(int rank, int tag, const std::string& text) {
  MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, rank, tag, MPI_COMM_WORLD);
}

struct Message {
  int rank = 0;
  int tag = 0;
  std::string text;
};

/// What has arrived from anybody, if anything.
std::optional<Message> receive() {
  int there = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
  if (there == 0) return std::nullopt;
  int size = 0;
  MPI_Get_count(&status, MPI_CHAR, &size);
  Message message{status.MPI_SOURCE, status.MPI_TAG, std::string(static_cast<std::size_t>(size), '\0')};
  MPI_Recv(message.text.data(), size, MPI_CHAR, message.rank, message.tag, MPI_COMM_WORLD, &status);
  return message;
}

class MpiPool final : public WorkerPool {
 public:
  explicit MpiPool(int ranks) : working_on_(static_cast<std::size_t>(ranks)) {}
  ~MpiPool() override {
    for (std::size_t rank = 1; rank < working_on_.size(); ++rank) send(static_cast<int>(rank), kQuit, "");
    // What comes from ranks that have not seen that yet must not stay under way.
    for (std::size_t left = size(); left > 0;) {
      const std::optional<Message> message = receive();
      if (!message) sleep_shortly();
      if (message && message->tag == kQuit) --left;
    }
    MPI_Finalize();
  }

  [[nodiscard]] std::size_t size() const override { return working_on_.size() - 1; }

  bool run(const std::vector<std::string>& items, const std::function<void(const WorkAnswer&)>& answered,
           const std::function<bool()>& keep_going) override {
    std::size_t next = 0;
    std::size_t open = items.size();
    int sleeps = 0;
    while (open > 0) {
      if (sleeps++ % kCallsOfKeepGoing == 0 && !keep_going()) return false;
      for (std::size_t rank = 1; rank < working_on_.size(); ++rank) {
        if (working_on_[rank] || next == items.size()) continue;
        send(static_cast<int>(rank), kItem, items[next]);
        working_on_[rank] = next++;
      }
      std::optional<Message> message = receive();
      if (!message) {
        sleep_shortly();
        continue;
      }
      std::optional<std::size_t>& item = working_on_[static_cast<std::size_t>(message->rank)];
      ensure(item.has_value(), "a rank answers what it was asked");
      WorkAnswer answer{*std::exchange(item, std::nullopt), "", ""};
      (message->tag == kDeath ? answer.death : answer.text) = std::move(message->text);
      --open;
      answered(answer);
    }
    return true;
  }

 private:
  std::vector<std::optional<std::size_t>> working_on_;  // by rank; 0 never works
};

/// The life of a rank that works.
void serve(const WorkOnItem& work, std::unique_ptr<Child> worker) {
  bool busy = false;
  for (;;) {
    const std::optional<Message> message = receive();
    if (message && message->tag == kQuit) break;
    if (message && message->tag == kItem) {
      if (news_of(*worker)) worker = start_worker(work);  // killed while idle
      (void)worker->send(message->text);
      busy = true;
    }
    std::optional<WorkerNews> news = busy ? news_of(*worker) : std::nullopt;
    if (news) {
      busy = false;
      const bool died = !news->death.empty();
      if (died) worker = start_worker(work);
      send(0, died ? kDeath : kAnswer, died ? news->death : news->text);
    } else if (!message) {
      if (busy)
        wait_for_news({worker.get()}, 1e-3 * kSleepMilliseconds);
      else
        sleep_shortly();
    }
  }
  worker.reset();
  send(0, kQuit, "");
  MPI_Finalize();
}

}  // namespace

bool has_mpi() { return true; }

std::unique_ptr<WorkerPool> mpi_pool(const WorkOnItem& work) {
  // Before MPI starts threads. Rank 0, which nobody knows yet, does without.
  auto worker = start_worker(work);
  MPI_Init(nullptr, nullptr);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 2) {
    MPI_Finalize();
    throw InternalError("an MPI job of one rank has nobody to work");
  }
  if (rank == 0) return std::make_unique<MpiPool>(ranks);
  serve(work, std::move(worker));
  return nullptr;
}

#endif

}  // namespace poet
