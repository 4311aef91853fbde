"""Power that goes at a random place of what a run of firmware writes. Where is counted, not timed: each time it is the same place."""
import random

from firmware_support import *

GONE = 99
MARK = struct.pack("<2I", 0x2E776F70, 0x7265776F)  # what is behind it in a board's program says for how long
COUNTED = {  # the section of power.c, what is wrapped
    "host": ("POWER_OF_HOST", "pwrite"),
    "lm3s6965evb": ("POWER_OF_CARD", "poet_spi_start"),
    "mps2-an386": ("POWER_OF_FILE", "poet_storage_start_write"),
}


def with_power(plan_file, steps, board):
    section, wrapped = COUNTED[board]
    folder = firmware(plan_file, f"power_{board}_{steps}", steps, board, ["build/compiled"])
    source = contents(os.path.join(os.path.dirname(os.path.abspath(__file__)), "power.c"))
    store(f"{folder}/power.c", f"#define {section}\n".encode() + source)
    with open(f"{folder}/board/board.mk", "a") as board_mk:
        board_mk.write(f"override LINK_FLAGS += -Wl,--wrap={wrapped}\n")
    made(folder, *(SANITIZED if board == "host" else ("STACK_CHECK=no", "STATED_BYTES=$(WINDOW_BYTES)")))
    return folder


def runner(folder, board):
    """A function that runs it until so many units are written, or to its end: exit code, text."""
    if board == "host":
        def run_for(units):
            surroundings = {**os.environ, "POET_POWER": str(units)} if units else None
            done = subprocess.run([f"{folder}/build/firmware", f"{folder}/card.img"], capture_output=True, text=True, env=surroundings)
            return done.returncode, done.stdout + done.stderr
        return run_for
    command, program = command_of(folder, "STACK_CHECK=no", "STATED_BYTES=$(WINDOW_BYTES)"), contents(f"{folder}/build/firmware.elf")
    at = program.index(MARK) + len(MARK)
    assert program.count(MARK) == 1

    def emulate_for(units):
        store(f"{folder}/build/firmware.elf", program[:at] + struct.pack("<I", units or 0xFFFFFFFF) + program[at + 4:])
        return emulate(folder, command, code=None)
    return emulate_for


def cuts(plan_file, steps, least, board="host"):
    """Each run goes on after the last complete step; the end is that of a run whose power stayed. Where that has come before there
    were `least` cuts, it begins again."""
    folder = with_power(plan_file, steps, board)
    card, run_for = f"{folder}/card.img", runner(folder, board)
    fresh = contents(card)
    code, text = run_for(None)
    whole, wanted = losses(text), contents(card)
    assert code == 0 and len(whole) == steps, text
    if board == "host":
        a_step = int(re.search(r"(\d+) blocks written", text).group(1)) // steps
    else:  # all pages
        places = Places(folder, fresh)
        a_step = (places.program - places.record) // 2 * (BLOCK if board == "lm3s6965evb" else 1)
    chance, made_cuts, rounds, ended = random.Random(7), 0, 0, True
    while made_cuts < least or not ended:
        if ended:
            store(card, fresh)
            rounds += 1
        code, text = run_for(chance.randint(1, 3 * a_step))
        ended = code == 0
        made_cuts += not ended
        assert code in (0, GONE), text
        for number, bits in re.findall(r"^step (\d+) loss \S+ (0x\w+)$", text, re.M):
            assert whole[int(number) - 1] == bits, f"step {number}: {bits}"
        if ended:
            assert contents(card) == wanted, "the card is not that of a run whose power stayed"
    as_poet_run_does(plan_file, folder, steps)
    print(f"{board}: power gone {made_cuts} times in {rounds} runs of {steps} steps, which write {a_step} units each", flush=True)
    return folder
