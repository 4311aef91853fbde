#!/usr/bin/env python3
"""What storage does to firmware: it is damaged, exchanged, cut, does not read or write what it should, or power goes. A run then ends
as if nothing had been, or stops and says why; it never goes on with other numbers.

usage: firmware_faults_test.py POET WORK_FOLDER host|boards

host: single bits of the card flipped at random places (POET_FLIPS of them).
boards: under QEMU, without power at random places (POET_CUTS times on each board); cards that are missing, damaged or too small; a host
that does not read or write; RAM overrun. Exit 77 where a compiler or the emulator is missing.
"""
import random
import subprocess

from firmware_support import *
from power import cuts

FLIPS = int(os.environ.get("POET_FLIPS", cases(48, 96)))
CUTS = int(os.environ.get("POET_CUTS", cases(2, 10)))
STOPS = (WRONG_CARD, WRONG_PLAN, NO_RECORD, DAMAGED, STALE)


def with_program_on_card(folder, *make):
    text = open(f"{folder}/plan.c").read()
    changed = text.replace("extern const uint8_t poet_code[];", "").replace("    poet_code,", "    0,")
    assert changed != text
    open(f"{folder}/plan.c", "w").write(changed)
    made(folder, *make)


# ---- bits flipped


def flips(plan_file, on_card, count=FLIPS // 2):
    """Between two steps. Each is harmless, and then the end is the same in every bit, or it is found and named."""
    folder = firmware(plan_file, "flips", 4)
    if on_card:
        with_program_on_card(folder, *SANITIZED)
    program, card = f"{folder}/build/firmware", f"{folder}/card.img"
    run(program, card)
    middle = bytes(with_steps(contents(card), 7))
    store(card, middle)
    whole = losses(run(program, card))
    wanted = contents(card)
    state = run(poet, "card", plan_file, card, "--checkpoint", f"{folder}/wanted")
    places = Places(folder, middle)
    rows = "poet_table_rows rows[]" in open(f"{folder}/plan.c").read()
    chance = random.Random(11 + on_card)
    harmless, found = {}, {}
    turns = places.regions() + [region for region in places.regions() if region[0] == "samples"]
    damaged_samples = 0
    pages = next(region for region in places.regions() if region[0] == "pages")
    for i in range(4 * count):  # many pages are not read again: until one is found
        if i >= count and (rows or "pages" in found):
            break
        name, first, end = turns[i % len(turns)] if i < count else pages
        image = bytearray(middle)
        at = chance.randrange(first * BLOCK, end * BLOCK)
        if name == "header" and i // len(turns) % 2 == 0:
            at = chance.randrange(28)  # else slack, almost always
        if name == "samples":  # one after the other: few of them are read in the steps that are left
            at = (first + damaged_samples % int(SAMPLES) * places.sample_blocks) * BLOCK + chance.randrange(BLOCK)
            damaged_samples += 1
        image[at] ^= 1 << chance.randrange(8)
        store(card, image)
        done = subprocess.run([program, card], capture_output=True, text=True)
        what = f"{name}, byte {at} ({at // BLOCK}): exit {done.returncode}\n{done.stdout}{done.stderr}"
        if done.returncode == 0:
            harmless[name] = harmless.get(name, 0) + 1
            got = contents(card)
            assert losses(done.stdout)[-len(whole):] == whole, what
            if got != wanted:  # the bit lies in blocks that nothing reads
                assert got[:at] == wanted[:at] and got[at + 1:] == wanted[at + 1:], what
                read = subprocess.run([poet, "card", plan_file, card, "--checkpoint", f"{folder}/got"], capture_output=True, text=True)
                if read.returncode == 2:  # what only poet reads, or a row of a table that no sample names
                    assert ("its header is damaged" if name == "header" else "is damaged on it") in read.stderr, what
                    assert name == "header" or (name == "pages" and rows), what
                    continue
                assert read.returncode == 0 and read.stdout == state, what
                assert tensors(f"{folder}/got") == tensors(f"{folder}/wanted"), what
        else:
            found[name] = found.get(name, 0) + 1
            assert done.returncode in STOPS and "poet: " in done.stdout, what
            assert name in ("header", "records") or " is damaged on the storage" in done.stdout, what
            image = bytearray(contents(card))  # nothing has been written that the damage has spoilt
            image[at] ^= image[at] ^ middle[at]
            store(card, image)
            assert losses(run(program, card))[-1] == whole[-1] and contents(card) == wanted, what
    print(f"{'by rows' if rows else 'whole pages'}, program {'on the card' if on_card else 'in flash'}: flips found {found}, harmless {harmless}")
    assert "header" in found and (rows or "pages" in found)
    assert "samples" in found or damaged_samples < int(SAMPLES)
    assert ("program" in found) == on_card


def program_damaged(plan_file, most):
    """Blocks of a program on the card, which cut instructions anywhere: found, and nothing is written after it."""
    folder = firmware(plan_file, "program", 2, make=())
    with_program_on_card(folder)
    program, card = f"{folder}/build/firmware", f"{folder}/card.img"
    run(program, card)
    middle = with_steps(contents(card), 3)  # an odd one: pages of the step before lie first
    store(card, middle)
    run(program, card)
    wanted = contents(card)
    places = Places(folder, middle)
    blocks = range(places.program, places.names)
    blocks = blocks[::1 + (len(blocks) - 1) // most]
    for block in blocks:
        image = bytearray(middle)
        image[block * BLOCK + 100] ^= 1
        store(card, image)
        run(program, card, code=DAMAGED)
        image = bytearray(contents(card))
        image[block * BLOCK + 100] ^= 1
        store(card, image)
        run(program, card)
        assert contents(card) == wanted, f"block {block}"
    print(f"{len(blocks)} of {places.names - places.program} blocks of a program damaged, one at a time")


def record_lost(plan_file):
    """The later record of a plan with tables by index: the rows of the table are those after it, and that is said."""
    folder = firmware(plan_file, "lost", 3)
    program, card = f"{folder}/build/firmware", f"{folder}/card.img"
    run(program, card)
    image = with_steps(contents(card), 4)
    places = Places(folder, image)
    image[(places.record + places.record_blocks) * BLOCK + 8] ^= 1  # of step 3
    store(card, image)
    assert "embeddings" in run(program, card, code=STALE)
    assert "of a later step than its record" in run(poet, "card", plan_file, card, "--checkpoint", f"{folder}/none", code=2)
    assert not os.path.exists(f"{folder}/none")


def of_another_seed(plan_file):
    """The order of samples would be another one: a card and firmware that were not made together."""
    one, other = (firmware(plan_file, f"seed_{s}", 2, options=["--seed", s]) for s in "01")
    run(f"{one}/build/firmware", f"{other}/card.img", code=WRONG_PLAN)
    run(f"{other}/build/firmware", f"{other}/card.img")
    run(poet, "card", plan_file, f"{other}/card.img", "--checkpoint", f"{other}/learnt")


def names_damaged(plan_file):
    """A page whose name is damaged as well is called by its block."""
    folder = firmware(plan_file, "names", 2)
    program, card = f"{folder}/build/firmware", f"{folder}/card.img"
    run(program, card)
    image = with_steps(contents(card), 4)
    places = Places(folder, image)
    name, (block, _) = next((n, p) for n, p in places.named_pages(image).items() if n.startswith("fc") and p[1] % 2 == 0)
    image[block * BLOCK + 3] ^= 1
    store(card, image)
    assert f"{name} is damaged" in run(program, card, code=DAMAGED)
    for k in range(places.names, places.samples):
        image[k * BLOCK + 9] ^= 32
    store(card, image)
    assert f"the page at block {block} is damaged" in run(program, card, code=DAMAGED)


def no_room(plan_file):
    """For the card's image, on the machine that makes it."""
    done = subprocess.run(["bash", "-c", f"trap '' XFSZ; ulimit -f 200; exec '{poet}' codegen '{plan_file}' -o '{work}/no_room'"],
                          capture_output=True, text=True)
    assert done.returncode == 2 and "cannot be written" in done.stderr, (done.returncode, done.stderr)


# ---- under QEMU


def cards(plan_file, other_plan):
    folder = firmware(plan_file, "cards", 2, "lm3s6965evb")
    card, command = f"{folder}/card.img", command_of(folder)
    emulate(folder, command)
    whole = contents(card)
    more = with_steps(whole, 4)
    places = Places(folder, more)
    pages = places.named_pages(more)

    def expect(image, code, *words):
        store(card, image)
        text = emulate(folder, command, code)
        for word in words:
            assert word in text, text

    def flipped(*places_and_bits, image=more):
        image = bytearray(image)
        for at, bit in places_and_bits:
            image[at] ^= bit
        return image

    expect(b"\0" * len(whole), WRONG_CARD, "no poet card image")
    other = firmware(other_plan, "other", 2, "lm3s6965evb")
    expect(contents(f"{other}/card.img"), WRONG_PLAN, "for another plan")
    large = firmware(plan_file, "large", 2, "lm3s6965evb")
    run(poet, "codegen", plan_file, "-o", large, "--board", "lm3s6965evb", "--samples", "64")
    made(large)
    store(f"{large}/card.img", contents(f"{large}/card.img")[:1 << 18])
    emulate(large, command_of(large), TOO_SMALL)
    missing = [c for c in command if not c.startswith("if=sd") and c != "-drive"]
    assert "there is no storage" in emulate(folder, missing, NO_CARD)
    expect(flipped((9, 4)), DAMAGED, "header is damaged")
    name = next(n for n in pages if n.startswith("fc"))
    expect(flipped((pages[name][0] * BLOCK + 40, 2)), DAMAGED, name)
    expect(flipped(*[((places.samples + i * places.sample_blocks) * BLOCK + 5, 1) for i in range(int(SAMPLES))]), DAMAGED,
           "step 3: sample ")
    records = [((places.record + n * places.record_blocks) * BLOCK + 8, 1) for n in range(2)]
    expect(flipped(records[0]), 0, "goes on after step 1", "step 4 loss")
    expect(flipped(*records), NO_RECORD, "no record")
    with_program_on_card(folder)
    store(card, more)
    end = emulate(folder, command)
    assert len(losses(end)) == 2, end
    as_poet_run_does(plan_file, folder, 4)
    expect(flipped((places.program * BLOCK + 600, 16)), DAMAGED, "the program at block")
    print("cards missing, too small, of another plan, damaged in each region: said", flush=True)
    host_errors(folder, command, more, places)


def beyond_semihosting(plan_file):
    """A file of 4 GiB, nearly all of it a hole."""
    folder = firmware(plan_file, "beyond", 1, "mps2-an386")
    os.truncate(f"{folder}/card.img", 1 << 32)
    assert "4 GiB or more" in emulate(folder, command_of(folder), TOO_SMALL)
    os.remove(f"{folder}/card.img")


def host_errors(folder, command, image, places):
    """The host cannot read or write a sector: the guest is not told, and gets other bytes with a right checksum."""
    card = f"{folder}/card.img"
    store(card, image)
    whole = losses(emulate(folder, command))
    wanted = contents(card)
    chance, outcomes = random.Random(2), {}
    for i in range(8):
        sector = chance.randrange(places.pages, places.program)
        store(f"{folder}/errors", (f'[inject-error]\nevent = "{"write_aio" if i % 2 else "read_aio"}"\nerrno = "5"\n'
                                   f'once = "{"off" if i % 4 < 2 else "on"}"\nsector = "{sector}"\n').encode())
        store(card, image)
        code, text = emulate(folder, [c.replace("file=card.img", "file=blkdebug:errors:card.img") for c in command], code=None)
        outcomes[code] = outcomes.get(code, 0) + 1
        if code == 0:
            assert losses(text) == whole, text
            got, end = contents(card), f"sector {sector} of {'write' if i % 2 else 'read'}"
            different = {k // BLOCK for k in range(0, len(got), BLOCK) if got[k:k + BLOCK] != wanted[k:k + BLOCK]}
            assert different <= {sector}, f"{end}: {different}"  # written last, and lost: found by whoever reads it
        else:
            assert code in STOPS and "on the storage" in text, text
    assert outcomes.keys() - {0}, "no error of the host's had an effect"
    print(f"the host does not read or write a sector: exit codes {outcomes}", flush=True)


def overruns(plan_file):
    """A stack that is too small, and a kernel beyond the plan's RAM: a fault, with its pc."""
    for board, address in (("lm3s6965evb", r", memory 0x\w+"), ("microbit", "")):
        make = ["STACK_BYTES=256", "STACK_CHECK=no"]
        folder = firmware(plan_file, f"overrun_{board}", 1, board, make)
        text = emulate(folder, command_of(folder, *make), FAULT)
        assert re.search(r"fault(, the stack is too small| at pc 0x\w+)", text), text
        engine = f"{folder}/engine/poet_engine.c"
        source = open(engine).read()
        assert source.count("return poet_ram + at;") == 1
        open(engine, "w").write(source.replace("return poet_ram + at;", "return poet_ram + at + 0x10000;"))
        made(folder)
        text = emulate(folder, command_of(folder), FAULT)
        assert re.search(r"fault at pc 0x\w+" + address, text), text
    print("overruns of stack and arena fault on lm3s6965evb and microbit", flush=True)


if part == "host":
    flips(linear(), False)
    flips(linear(), True)
    flips(with_tables(), False, FLIPS // 6)
    program_damaged(linear(), 8)
    if ALL:
        program_damaged(resnet14(), 40)
    record_lost(with_tables())
    of_another_seed(linear())
    names_damaged(linear())
    no_room(linear())
else:
    needs_emulator()
    cards(linear(), plan("linear", "27KiB"))
    beyond_semihosting(linear())
    overruns(linear())
    cuts(linear(), cases(2, 8), CUTS, "lm3s6965evb")
    cuts(linear(), cases(4, 60), CUTS, "mps2-an386")
print("passed")
