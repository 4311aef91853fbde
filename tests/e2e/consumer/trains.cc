// A user's program that trains by a plan, and links nothing that plans.

#include <cstdio>

#include "poet/train.h"

int main(int, char** argv) {
  poet::runtime::TrainerOptions options;
  options.hyperparameters.learning_rate = 0.1;
  poet::runtime::Trainer trainer(poet::read_plan(argv[1]), options);
  const poet::runtime::TrainResult result = trainer.train({.steps = 60});
  std::puts(result.losses.back() < result.losses.front() / 2 ? "it learns" : "it does not learn");
}
