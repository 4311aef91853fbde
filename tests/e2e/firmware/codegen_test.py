#!/usr/bin/env python3
"""What poet codegen states and writes: RAM to the byte, flash, folders that appear as a whole or not at all, one line for what it refuses.

usage: codegen_test.py POET WORK_FOLDER folders|memory

folders: what is refused, what is left of a folder then, clang and its sanitizers on the host's firmware.
memory: RAM, stack and flash as stated next to what the compiler and the linker make. Exit 77 where there is no arm-none-eabi-gcc.
"""
import contextlib
import signal
import time

from firmware_support import *

BOARDS = ["lm3s6965evb", "microbit", "mps2-an386", "nrf52840"]
SLACK = 512  # bytes of flash that may be stated and not needed: alignment


def codegen(plan_file, folder, *options):
    return json.loads(run(poet, "codegen", plan_file, "-o", folder, "--samples", "16", "--json", *options))


def content(folder):
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            found[os.path.relpath(path, folder)] = open(path, "rb").read()
    return found


# ---- folders


def on_folders():
    few_pages = f"{work}/linear.plan"  # a copy: others read the one that is kept
    shutil.copy(linear(), few_pages)
    refusals(few_pages)
    several_plans(plan("linear", "100KB,28KB"))
    weights_of_onnx(plan("linear", "400KB", split="off"))
    read_and_continued(few_pages)
    replaced(few_pages)
    interrupted(few_pages)
    by_clang()


def refused(words, *options):
    """One line with these words; nothing is written."""
    before = sorted(os.listdir(work))
    text = run(poet, "codegen", *options, code=2)
    assert text.count("\n") == 1 and text.startswith("poet: "), text
    for word in words:
        assert word in text, f"{word!r} is missing: {text}"
    assert sorted(os.listdir(work)) == before, f"{options} left {set(os.listdir(work)) - set(before)}"


def refusals(few_pages):
    out = f"{work}/none"
    refused(["no such file"], f"{work}/none.plan", "-o", out)
    refused(["is no plan file"], __file__, "-o", out)
    refused(["--board", *BOARDS, "host"], few_pages, "-o", out, "--board", "arduino")
    refused(["none.safetensors"], few_pages, "-o", out, "--weights", f"{work}/none.safetensors")
    refused(["linear.plan", "header"], few_pages, "-o", out, "--weights", few_pages)
    refused(["does not exist"], few_pages, "-o", out, "--data", f"{work}/none")
    refused(["--steps"], few_pages, "-o", out, "--steps", "4294967296")
    refused(["is not a folder"], few_pages, "-o", f"{work}/none/none")
    refused(["is not a folder"], few_pages, "-o", few_pages)
    refused(["has files in it"], few_pages, "-o", work)

    done = subprocess.run([poet, "codegen", plan("linear", "32KiB"), "-o", out, "--board", "microbit"], capture_output=True, text=True)
    assert done.returncode == 2 and not os.path.exists(out), done
    (budget, more), = re.findall(r"solve with --ram-budget (\d+) (.+)$", done.stderr.strip())
    fits = solved("--model", "linear", "--platform", "m4", "--ram-budget", budget, "--gap", "100%", "--time-limit", "5", *more.split())
    stated = codegen(fits, f"{work}/fits", "--board", "microbit")["ram"]
    assert stated["total_bytes"] <= stated["board_bytes"], stated

    refused(["outside the plan's RAM budget"], plan("linear", "300KB", "--persistent", "excluded"), "-o", out)
    refused(["--ram-budget", "100 KB and 28 KB"], plan("linear", "100KB,28KB"), "-o", out, "--ram-budget", "20KB")
    refused(["-o", "empty"], few_pages, "-o", "")
    refused(["--ram", "host", "no limit"], few_pages, "-o", out, "--ram", "32KiB")
    refused(["less than 4 GiB"], few_pages, "-o", out, "--board", "mps2-an386", "--samples", "2000000")
    schedule = plan_cache.made(poet, "schedule.json", ["solve", "--model", "linear", "--platform", "m4", "--semantics", "staged",
                                                       "--ram-budget", "200KB", "--time-limit", "30", "--quiet", "--schedule-out"])
    refused(["is a schedule"], schedule, "-o", out)
    published = solved("--model", "linear", "--platform", "m4", "--semantics", "published", "--ram-budget", "200KB", "--time-limit", "30")
    refused(["published", "rules"], published, "-o", out)
    print("refusals: one line each, nothing written")


def several_plans(several):
    """The largest plan that fits the board, or the largest within a budget; the card is read by whichever it was."""
    folder = f"{work}/several"

    def planned(*options):
        ram = codegen(several, folder, *options)["ram"]
        return ram["arena_bytes"] + ram["resident_bytes"]

    largest, small = planned("--board", "mps2-an386"), planned("--board", "microbit")
    assert small < 30000 < largest, (small, largest)
    assert planned("--board", "mps2-an386", "--ram-budget", "30KB") == small
    assert run(poet, "card", several, f"{folder}/card.img") == "no step yet\n"
    print("several plans: chosen by board and budget")


def weights_of_onnx(whole):
    """What a file of weights starts a card with does not depend on its format."""
    onnx, checkpoint, folder = f"{work}/weights.onnx", f"{work}/weights.safetensors", f"{work}/weights"
    run(poet, "run", whole, "--kernels", "reference", "--steps", "2", "--samples", "16", "--quiet", "--onnx-out", onnx, "--checkpoint",
        checkpoint)
    cards = []
    for weights in (onnx, checkpoint):
        codegen(whole, folder, "--weights", weights)
        cards.append(contents(f"{folder}/card.img"))
    codegen(whole, folder)
    assert cards[0] == cards[1] != contents(f"{folder}/card.img")
    print("weights: the same from an ONNX file as from a checkpoint")


def read_and_continued(few_pages):
    """Steps are counted on; what is read is not written over; README.md names the seed."""
    folder = f"{work}/continued"
    codegen(few_pages, folder, "--steps", "2", "--seed", "7")
    assert "(seed 7)" in open(f"{folder}/README.md").read()
    card, program = f"{folder}/card.img", f"{folder}/build/firmware"
    made(folder)
    assert run(program, card).count("loss") == 2
    assert "nothing to do after step 2" in run(program, card)
    assert run(poet, "card", few_pages, card, "--steps", "5").startswith("step 2, loss ")
    assert run(program, card).count("loss") == 3
    answer = json.loads(run(poet, "card", few_pages, card, "--json"))
    assert answer["step"] == 5 and answer["seed"] == 7 and answer["loss"] > 0, answer
    for read in (card, few_pages):
        before = contents(read)
        assert "is what is read" in run(poet, "card", few_pages, card, "--checkpoint", read, code=2)
        assert contents(read) == before
    print("card: trained on, read, not written over")


def replaced(few_pages):
    """Another board into the same folder: its files instead of the first one's, the user's own untouched; refused: all as it was."""
    folder = f"{work}/replaced"
    os.makedirs(folder)  # empty ones are taken
    codegen(few_pages, folder, "--board", "lm3s6965evb")
    assert os.path.exists(f"{folder}/board/sd_card.c")
    for name in ("notes.txt", "board/my_driver.txt"):
        open(f"{folder}/{name}", "w").write("mine")
    os.makedirs(f"{folder}/build")
    open(f"{folder}/build/old.o", "w").write("of the other board")
    codegen(few_pages, folder + "/", "--board", "host")
    now = content(folder)
    assert now["notes.txt"] == now["board/my_driver.txt"] == b"mine"
    assert "board/sd_card.c" not in now and "build/old.o" not in now, sorted(now)
    fresh = f"{work}/fresh"
    codegen(few_pages, fresh, "--board", "host")
    theirs = content(fresh)
    assert {name for name in now if now[name] == theirs.get(name)} == theirs.keys(), now.keys() ^ theirs.keys()
    assert sorted(theirs["files.txt"].decode().splitlines()[1:]) == sorted(theirs.keys() - {"files.txt"})

    open(f"{folder}/files.txt", "a").write("../fresh/plan.c\n/etc/passwd\n")  # what is elsewhere is not ours
    codegen(few_pages, folder)
    assert content(fresh) == theirs and os.path.exists("/etc/passwd")

    before = content(folder)
    run(poet, "codegen", few_pages, "-o", folder, "--data", f"{work}/none", code=2)
    assert content(folder) == before
    os.chmod(folder, 0o555)
    if os.geteuid() != 0:
        run(poet, "codegen", few_pages, "-o", folder, code=2)
        assert content(folder) == before
    os.chmod(folder, 0o755)
    print("folders: ours are replaced, others stay")


def interrupted(few_pages):
    """Ctrl-C while the card is written: no folder; in an existing one everything as it was."""
    for folder in (f"{work}/interrupted", f"{work}/replaced"):
        existed = os.path.exists(folder)
        before = content(folder)
        beside = sorted(os.listdir(work))
        occupied = bytes_in_work()
        for written in (0, 1, 64 << 20):
            child = subprocess.Popen([poet, "codegen", few_pages, "-o", folder, "--samples", "2000000"], stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True)
            while bytes_in_work() < occupied + written:
                assert child.poll() is None, child.communicate()
                time.sleep(0.01)
            child.send_signal(signal.SIGINT)
            text = "".join(child.communicate(timeout=600))
            assert child.returncode in (130, -signal.SIGINT), (child.returncode, text)
            assert os.path.exists(folder) == existed and content(folder) == before
            assert sorted(os.listdir(work)) == beside
    print("Ctrl-C: nothing is left")


def bytes_in_work():
    """On the disk."""
    total = 0
    for at, _, names in os.walk(work):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                total += os.stat(os.path.join(at, name)).st_blocks * 512
    return total


def by_clang():
    if not shutil.which("clang"):
        print("no clang: left out")
        return
    folder = f"{work}/clang"
    for name, plan_file in (("linear", linear()), ("resnet14_cifar", resnet14("--optimizer", "adam"))):
        if name != "linear" and not ALL:
            continue
        codegen(plan_file, folder, "--steps", "2")
        sanitized = made(folder, "CC=clang", *SANITIZED)
        assert not sanitized, sanitized
        first = run(f"{folder}/build/firmware", f"{folder}/card.img")
        codegen(plan_file, folder, "--steps", "2")
        assert not made(folder, "CC=clang")
        assert run(f"{folder}/build/firmware", f"{folder}/card.img") == first
        assert first.count("loss") == 2, first
    print("clang: no warning, nothing found, the same bits")


# ---- memory


def on_memory():
    """The sample: each board, each processor."""
    if not compiles_for_arm():
        print("skipped: needs gcc-arm-none-eabi, libnewlib-arm-none-eabi (headers)")
        sys.exit(77)
    resnet = resnet14("--optimizer", "adam")
    for board in BOARDS:
        for name, plan_file in (("linear", linear()), ("resnet14_cifar", resnet)):
            in_sample = (name == "linear") == (board in ("microbit", "nrf52840"))
            if in_sample or ALL and (board, name) != ("microbit", "resnet14_cifar"):
                as_stated(name, plan_file, board)
    as_stated("linear", linear(), "lm3s6965evb", "CORE=m0", processor="cortex-m0")
    too_deep(linear())
    on_the_card("resnet14_cifar", resnet)
    if ALL:
        on_the_card("resnet18_cifar", plan("resnet18_cifar", "56KiB", split="16KiB", seconds=10))


def symbols(elf):
    text = run("arm-none-eabi-nm", elf)
    return {name: int(at, 16) for at, _, name in (line.split() for line in text.splitlines() if len(line.split()) == 3)}


def in_flash(elf):
    text = run("arm-none-eabi-size", "-A", elf)
    sizes = dict(re.findall(r"^(\.\S+)\s+(\d+)", text, re.M))
    return sum(int(sizes.get(name, 0)) for name in (".text", ".ARM.exidx", ".data"))


def as_stated(name, plan_file, board, *make, processor=None):
    folder = f"{work}/{board}"
    stated = codegen(plan_file, folder, "--board", board)
    ram, flash = stated["ram"], stated["flash"]
    text = made(folder, *make)
    assert re.fullmatch(r"stack [\d,]+ of [\d,]+ bytes\n", text), text
    deepest, reserved = (int(n.replace(",", "")) for n in re.findall(r"[\d,]+", text))
    elf = f"{folder}/build/firmware.elf"
    at = symbols(elf)
    takes = at["poet_end"] - at["poet_window"]
    parts = re.search(r'compiler": "(.*)"', open(table()).read()).group(1)
    exact = parts == run("arm-none-eabi-gcc", "--version").splitlines()[0]
    if processor is None:
        assert at["poet_stack_top"] - at["poet_window"] == reserved == ram["stack_bytes"], (reserved, ram)
        assert sum(ram[f"{name}_bytes"] for name in ("arena", "resident", "buffer", "stack")) == ram["total_bytes"]
        assert takes == ram["total_bytes"] if exact else takes <= ram["total_bytes"], (takes, ram)
        code = in_flash(elf)
        most = flash["total_bytes_at_most"]
        assert code <= most and (most <= code + SLACK or not exact), (code, flash)
        says = open(f"{folder}/README.md").read()
        for size in (ram["total_bytes"], ram["stack_bytes"], most):
            assert f"{size:,}" in says, size
        if "make run          #" in says:
            command, = re.findall(r"^qemu-system-arm .*$", says, re.M)
            assert command in run("make", "-n", "-C", folder, "run"), command
    assert deepest == reserved if exact else deepest <= reserved, text
    print(f"{name} on {board} {' '.join(make)}: RAM {takes}, stack {deepest}, flash {in_flash(elf)}, as stated")


def table():
    return os.path.join(os.path.dirname(__file__), "../../../data/firmware_memory.json")


def too_deep(plan_file):
    """A stack that is smaller than the deepest chain of calls: make fails, and names the chain and what to type."""
    folder = f"{work}/deep"
    stated = codegen(plan_file, folder, "--board", "mps2-an386")["ram"]["stack_bytes"]
    text = made(folder, f"STACK_BYTES={stated - 8}", code=2)
    assert "too few" in text and "poet_train" in text and f"make STACK_BYTES={stated}" in text, text
    recursive = open(f"{folder}/kernels/poet_math.c").read().replace(
        "float poet_exp(float x) {", "float poet_exp(float x) {\n  if (x > 100.0F) return 1.0F + poet_exp(x - 1.0F) * poet_exp(x - 2.0F);", 1)
    assert "poet_exp(x - 1.0F)" in recursive
    open(f"{folder}/kernels/poet_math.c", "w").write(recursive)
    text = made(folder, code=2)
    assert "calls itself" in text, text
    print("stack: too small and recursive ones are refused")


def on_the_card(name, plan_file):
    """A program that is larger than the flash is on the card, and not in flash as well."""
    folder = f"{work}/on_card"
    flash = codegen(plan_file, folder, "--board", "lm3s6965evb")["flash"]
    assert flash["program_on_card"] and flash["program_bytes"] == 0
    assert not os.path.exists(f"{folder}/program.bin")
    made(folder)
    assert in_flash(f"{folder}/build/firmware.elf") <= flash["total_bytes_at_most"] <= flash["board_bytes"], flash
    print(f"{name} on lm3s6965evb: {in_flash(f'{folder}/build/firmware.elf')} bytes of flash, the program on the card")
    shutil.rmtree(folder)  # resnet18_cifar's card has 128 MiB


shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
(on_folders if part == "folders" else on_memory)()
print("passed")
