#!/usr/bin/env python3
"""Losses, optimisers, schedules and mixed precision of firmware: what it trains is what poet run trains with the same options, to the bit.

usage: firmware_training_test.py POET WORK_FOLDER host|boards

host: as a program with AddressSanitizer and UndefinedBehaviorSanitizer. boards: a few of them for Cortex-M under QEMU, with floating
point in hardware and in software. Exit 77 where a compiler or the emulator is missing.
"""
from firmware_support import *

RATE = ["--learning-rate", "0.037"]
# What is said to solve, then what is said to codegen and to run.
TRAININGS = {
    "warm-up, steps": (["--optimizer", "sgd"],
                       [*RATE, "--lr-warmup", "3", "--lr-schedule", "step", "--lr-step-size", "2", "--lr-gamma", "0.3", "--weight-decay", "0.01"]),
    "cosine, nesterov": (["--optimizer", "momentum"],
                         [*RATE, "--nesterov", "--momentum", "0.8", "--weight-decay", "0.02", "--lr-schedule", "cosine", "--lr-length", "9",
                          "--lr-least", "0.1", "--lr-warmup", "2"]),
    "adamw, smoothed": (["--optimizer", "adamw", "--label-smoothing", "0.1"], ["--weight-decay", "0.3", "--lr-schedule", "cosine", "--lr-length", "20"]),
    "mixed precision": (["--optimizer", "adam", "--precision", "bf16-mixed"], []),
    "clipped sums": (["--optimizer", "sgd", "--accumulate", "2", "--clip-norm", "0.5"],
                     ["--lr-schedule", "step", "--lr-step-size", "2", "--weight-decay", "0.05"]),
}
MORE_TRAININGS = {
    "rate": ([], ["--learning-rate", "0.25"]),
    "adam": (["--optimizer", "adam"], ["--beta1", "0.8", "--beta2", "0.99", "--eps", "1e-6", "--weight-decay", "0.1"]),
    "accumulated": (["--optimizer", "adam", "--accumulate", "3"], ["--lr-warmup", "2"]),
    "clipped": (["--optimizer", "momentum", "--clip-norm", "0.05"], RATE),
}
LOSSES = {
    "mse": ([], []),
    "l1": (["--optimizer", "momentum"], RATE),
    "huber": (["--huber-delta", "0.3"], RATE),
    "bce-with-logits": (["--optimizer", "adam"], []),
}
STEPS = 12


def plan_of(name):
    """For all boards. Gradients that are clipped do not come in parts."""
    solve, _ = {**TRAININGS, **MORE_TRAININGS}[name]
    return plan("linear", "250000" if name.startswith("clipped") else "27KiB", *solve)


def same_as_on_the_host(name, plan_file, options, execute, board="host", make=None):
    folder = firmware(plan_file, name.replace(" ", "_"), STEPS, board, make, options)
    assert len(losses(execute(folder))) == STEPS
    as_poet_run_does(plan_file, folder, STEPS, options)
    print(f"{board}, {name}: {STEPS} steps", flush=True)


def in_mixed_precision(model, file, execute, board="host", make=None):
    """Convolutions, or a transformer whose tables stay on the card."""
    folder = firmware(file, f"{model}_{board}", 1, board, make)
    assert len(losses(execute(folder))) == 1
    as_poet_run_does(file, folder, 1)
    print(f"{board}, {model} in mixed precision", flush=True)


def network_without_loss():
    """linear as an ONNX file, whose output other losses compare with numbers."""
    file = f"{work}/linear.onnx"
    run(poet, "run", plan("linear", "400KB", split="off"), "--steps", "1", "--quiet", "--onnx-out", file)
    return file


def plan_with_loss(onnx, loss, solve):
    """The sample's pages nothing: losses are the same."""
    paged = cases(("--ram-budget", "400KB", "--split", "off"), ("--ram-budget", "40KiB", "--split", "4KiB", "--gap", "100%"))
    return solved("--onnx", onnx, "--loss", loss, "--platform", "m4", "--time-limit", "30", "--beyond-device-ram", *paged, *solve)


def on_host():
    execute = lambda folder: run(f"{folder}/build/firmware", f"{folder}/card.img")
    for name, (_, options) in (TRAININGS | MORE_TRAININGS if ALL else TRAININGS).items():
        same_as_on_the_host(name, plan_of(name), options, execute)
    onnx = network_without_loss()
    for loss, (solve, options) in LOSSES.items():
        same_as_on_the_host(loss, plan_with_loss(onnx, loss, solve), options, execute)
    tables = plan("bert_tiny", "200000", "--sequence-length", "16", "--precision", "bf16-mixed", split="16KiB", seconds=5)
    in_mixed_precision("bert_tiny", tables, execute)
    if ALL:  # else on a board
        in_mixed_precision("resnet14_cifar", mixed_resnet14(), execute)
    goes_on(execute)
    refusals()


def mixed_resnet14():
    return resnet14("--precision", "bf16-mixed", ram="60KiB")


def goes_on(execute):
    """Stopped between two updates of accumulated gradients, within a warm-up: the end is that of a run in one go."""
    options = ["--lr-warmup", "2", "--learning-rate", "0.01"]
    file = plan_of("accumulated")
    folder = firmware(file, "stopped", 4, options=options)
    execute(folder)
    as_poet_run_does(file, folder, 4, options)
    run(poet, "card", file, f"{folder}/card.img", "--steps", "11")
    assert len(losses(execute(folder))) == 7
    as_poet_run_does(file, folder, 11, options)
    answer = json.loads(run(poet, "card", file, f"{folder}/card.img", "--json"))
    assert "learning_rate=0.01" in answer["optimizer"] and answer["schedule"] == "constant warmup=2", answer
    before = contents(f"{folder}/card.img")
    run(poet, "codegen", file, "-o", folder, "--steps", "11", "--samples", SAMPLES)
    made(folder, *SANITIZED)
    store(f"{folder}/card.img", before)
    assert "another plan" in run(f"{folder}/build/firmware", f"{folder}/card.img", code=WRONG_PLAN)  # of another rate
    print("stopped between updates: goes on, and not at another rate")


def refusals():
    for words, options in ((["--momentum", "none"], ["--momentum", "0.5"]), (["--lr-schedule", "--lr-step-size"], ["--lr-schedule", "step"]),
                           (["--learning-rate", "> 0"], ["--learning-rate", "0"]), (["--nesterov", "momentum"], ["--nesterov"]),
                           (["--lr-length", "at most"], ["--lr-schedule", "cosine", "--lr-length", "4294967296"])):
        text = run(poet, "codegen", linear(), "-o", f"{work}/none", *options, code=2)
        assert text.count("\n") == 1 and all(word in text for word in words), text
        assert not os.path.exists(f"{work}/none")
    print("refusals: one line each")


def on_boards():
    needs_emulator()
    execute = lambda folder: emulate(folder, command_of(folder))
    names = cases((("mps2-an386", ("clipped sums",)), ("microbit", ("mixed precision",))),
                  (("mps2-an386", ("cosine, nesterov", "clipped sums")), ("microbit", ("warm-up, steps", "adamw, smoothed", "mixed precision"))))
    for board, some in names:
        for name in some:
            same_as_on_the_host(name, plan_of(name), TRAININGS[name][1], execute, board)
    in_mixed_precision("resnet14_cifar", mixed_resnet14(), execute, "mps2-an386")
    if ALL:
        file = plan_with_loss(network_without_loss(), "bce-with-logits", [])
        same_as_on_the_host("bce-with-logits", file, RATE, execute, "lm3s6965evb")


(on_host if part == "host" else on_boards)()
print("passed")
