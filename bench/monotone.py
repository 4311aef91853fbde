#!/usr/bin/env python3
"""Do more RAM, a later deadline or a longer time limit ever give a worse answer?

usage: monotone.py POET [--networks A,B] [--devices m4,a72] [--budgets 20] [--limits 0.5,1,4,10,30] [--gap PART] [--json FILE]

For the ten built-in networks on each device: RAM budgets from 1.05 times the floor of whole operators to what keeping everything
takes, in equal ratios, without a deadline; at the middle one also deadlines of 1.1, 1.3 and 2 times the step without limits.
Each of these requests is solved with every time limit (in seconds).

Prints a line for each request: with every limit the energy and the seconds to the first plan with addresses, as --progress-out
tells of it, at most once a second. Then what is worse by more than the gap (default 0.01) of the overhead, the energy above a
step that keeps everything:
- a larger budget, a later deadline or a longer limit that needs more energy, or has no plan,
- a longer limit that proves a lower bound, or finds its first schedule later (`seconds_to_incumbent`, by more than 25% and
  0.2 s: times vary),
and how many there are of each; how many requests have no plan; and the largest time to the first plan with addresses. Exit
code 1 if anything is worse. --json FILE keeps every answer, and a repeated call goes on from there.
"""
import argparse
import collections
import sys

from answers import Answers, NETWORKS, energy, has_plan, loses

FACTORS = [1.1, 1.3, 2, None]
ABOVE_FLOOR = 1.05
LATER, LATER_SECONDS = 1.25, 0.2
KINDS = ["larger budget, more energy", "later deadline, more energy", "longer limit, more energy", "longer limit, lower bound",
         "longer limit, later first schedule"]


def command(network, device, ram, factor=None):
    deadline = ["--runtime-budget", factor] if factor else []
    return ["--model", network, "--platform", device, "--beyond-device-ram", "--ram-budget", ram, *deadline]


def budgets(answers, network, device, count):
    """Bytes, in equal ratios; a budget of one byte shows the floor and the peak."""
    shown = answers.ask([*command(network, device, 1), "--split", "off"], 0.01)
    if "keep_all_peak_ram_bytes" not in shown:
        raise SystemExit(f"{network} on {device}: {shown.get('error', shown['status'])}")
    least, most = ABOVE_FLOOR * shown["explanation"]["floor_ram_bytes"], shown["keep_all_peak_ram_bytes"]
    # Where one op needs almost all of it, everything can be kept in the least of these.
    least = min(least, most)
    return [int(least * (most / least) ** (i / max(count - 1, 1))) for i in range(count - 1)] + [most]


def worse_later(answers, gap):
    """Pairs of a label and a later one whose answer is worse, of (label, answer) that should only get better."""
    best_label, best = answers[0]
    for label, answer in answers[1:]:
        if loses(answer, best, gap):
            yield best_label, best, label, answer
        if has_plan(answer) and not (has_plan(best) and best["energy_joules"] <= answer["energy_joules"]):
            best_label, best = label, answer


def lower_bounds(answers, gap):
    """The same for bounds. Without a plan the overhead is that of the bound; a proof that there is none is above all bounds."""
    best_label, best = answers[0]
    for label, answer in answers[1:]:
        bound, before = answer.get("bound_joules"), best.get("bound_joules")
        if answer["status"] != "infeasible" and before is not None:
            baseline = best["baseline_joules"]
            most = answer["energy_joules"] if has_plan(answer) else before
            if bound is None or before - bound > max(gap * (most - baseline), 1e-9 * baseline):
                yield best_label, best, label, answer
        if bound is not None and (before is None or bound > before):
            best_label, best = label, answer


def later_schedules(answers):
    """The same for the seconds to the first schedule."""
    found = [(label, answer) for label, answer in answers if has_plan(answer)]
    for i, (label, answer) in enumerate(found[1:], 1):
        best_label, best = min(found[:i], key=lambda one: one[1]["seconds_to_incumbent"])
        before = best["seconds_to_incumbent"]
        if answer["seconds_to_incumbent"] > max(LATER * before, before + LATER_SECONDS):
            yield best_label, best, label, answer


def bound(answer):
    return "none" if answer.get("bound_joules") is None else f"{answer['bound_joules']:.6g} J"


def parts(answer):
    return f"parts of {answer['part_bytes']} B" if answer.get("part_bytes") else "whole operators"


def first_schedule(answer):
    return f"{answer['seconds_to_incumbent']:.2f} s"


def violations(of, rams, limits, gap):
    """(kind, request, what it is worse by), of a network on a device; `of` is (RAM, factor, limit) -> answer."""
    middle = rams[len(rams) // 2]
    for limit in limits:
        within = f"{limit:g} s"
        yield from told(KINDS[0], within, worse_later([(f"{ram:,} B", of[ram, None, limit]) for ram in rams], gap), energy)
        later = [(allowed(factor), of[middle, factor, limit]) for factor in FACTORS]
        yield from told(KINDS[1], f"{middle:,} B, {within}", worse_later(later, gap), energy)
    for ram, factor in dict.fromkeys((ram, factor) for ram, factor, _ in of):
        longer = [(f"{limit:g} s", of[ram, factor, limit]) for limit in limits]
        request = f"{ram:,} B, {allowed(factor)}"
        yield from told(KINDS[2], request, worse_later(longer, gap), energy)
        yield from told(KINDS[3], request, lower_bounds(longer, gap), bound)
        yield from told(KINDS[4], request, later_schedules(longer), first_schedule)


def allowed(factor):
    return f"{factor:g} x" if factor else "no deadline"


def told(kind, where, pairs, figure):
    for label, answer, later_label, later in pairs:
        # Bounds and energies of other parts are those of another graph.
        note = "" if parts(answer) == parts(later) else f" ({parts(answer)}; {parts(later)})"
        yield kind, where, f"{label}: {figure(answer)}, {later_label}: {figure(later)}{note}"


def cell(answer):
    return f"{energy(answer)}, {answer['first_plan_seconds']:.2f} s" if has_plan(answer) else answer["status"]


def on_device(answers, network, device, options):
    """(RAM, factor, limit) -> answer, and the budgets; prints the lines."""
    rams = budgets(answers, network, device, options.budgets)
    of = {}
    for ram in rams:
        for factor in FACTORS if ram == rams[len(rams) // 2] else [None]:
            for limit in options.limits:
                of[ram, factor, limit] = answers.ask(command(network, device, ram, factor), limit)
            cells = [network, device, f"{ram:,}", allowed(factor), *(cell(of[ram, factor, limit]) for limit in options.limits)]
            print("| " + " | ".join(cells) + " |", flush=True)
    return of, rams


def summary(of_all, worse):
    kinds = collections.Counter(kind for _, kind, *_ in worse)
    print()
    for where, kind, request, figures in worse:
        print(f"{kind}: {where}, {request}: {figures}")
    print(f"{len(worse)} worse: " + "; ".join(f"{kinds[kind]} {kind}" for kind in KINDS))
    planned = {request: answer for request, answer in of_all.items() if has_plan(answer)}
    print(f"{len(of_all) - len(planned)} of {len(of_all)} answers have no plan")
    if planned:
        (where, ram, factor, limit), last = max(planned.items(), key=lambda one: one[1]["first_plan_seconds"])
        print(f"largest time to the first plan with addresses: {last['first_plan_seconds']:.2f} s of {limit:g} s, "
              f"{where}, {ram:,} B, {allowed(factor)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("poet")
    parser.add_argument("--networks", type=lambda text: text.split(","), default=NETWORKS)
    parser.add_argument("--devices", type=lambda text: text.split(","), default=["m4", "a72"])
    parser.add_argument("--budgets", type=int, default=20)
    parser.add_argument("--limits", type=lambda text: sorted(map(float, text.split(","))), default=[0.5, 1, 4, 10, 30])
    parser.add_argument("--gap", type=float, default=0.01)
    parser.add_argument("--json")
    options = parser.parse_args()
    answers = Answers(options.poet, options.json)
    headings = ["network", "device", "RAM, B", "deadline", *(f"{limit:g} s: energy, first plan" for limit in options.limits)]
    print("| " + " | ".join(headings) + " |\n" + "|" + "---|" * len(headings), flush=True)
    of_all, worse = {}, []
    for network in options.networks:
        for device in options.devices:
            of, rams = on_device(answers, network, device, options)
            where = f"{network} on {device}"
            of_all.update({(where, *request): answer for request, answer in of.items()})
            worse += [(where, *one) for one in violations(of, rams, options.limits, options.gap)]
    summary(of_all, worse)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
