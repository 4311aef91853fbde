"""pack(): the same answers as `poet pack`, and what it refuses."""

import os
import tempfile
import threading
import unittest

import numpy as np
import poet

from support import main, program

FIVE = [(0, 3, 4), (3, 9, 4), (0, 9, 4), (9, 21, 4), (0, 21, 4)]
# 8 are alive at most, and 9 are needed: what has to be searched for.
HARD = [(0, 2, 4), (1, 4, 4), (2, 5, 2), (2, 6, 2), (4, 6, 2), (5, 7, 3), (6, 7, 4)]


def overlaps(buffers, offsets):
    for a in range(len(buffers)):
        for b in range(a):
            together = buffers[a][0] < buffers[b][1] and buffers[b][0] < buffers[a][1]
            if together and offsets[a] < offsets[b] + buffers[b][2] and offsets[b] < offsets[a] + buffers[a][2]:
                return True
    return False


class Packing(unittest.TestCase):
    def test_finds_the_least_arena(self):
        for buffers, least in ((FIVE, 12), (HARD, 9)):
            found = poet.pack(buffers)
            self.assertEqual((found.status, found.height, found.lower_bound), ("optimal", least, least))
            self.assertFalse(overlaps(buffers, found.offsets))
        self.assertTrue(poet.pack([]))

    def test_decides_a_capacity(self):
        self.assertTrue(poet.pack(HARD, capacity="9B"))
        none = poet.pack(HARD, capacity=8)
        self.assertFalse(none)
        self.assertEqual((none.status, none.offsets, none.height, none.lower_bound), ("infeasible", [], None, 9))

    def test_takes_all_forms_of_a_buffer(self):
        first = poet.pack([poet.Buffer(*buffer) for buffer in HARD])
        self.assertEqual(first, poet.pack(HARD))
        self.assertEqual(first, poet.pack([{"lower": lower, "upper": upper, "size": size} for lower, upper, size in HARD]))
        self.assertEqual(first, poet.pack([tuple(np.int64(number) for number in buffer) for buffer in HARD]))

    def test_reads_the_table_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "b.csv")
            with open(file, "w", encoding="utf-8") as stream:
                stream.write("id,lower,upper,size\n" + "".join(f"{lower},{lower},{upper},{size}\n" for lower, upper, size in HARD))
            said = program("pack", file)
            self.assertEqual([buffer["offset"] for buffer in said["buffers"]], poet.pack(file).offsets)
            self.assertEqual(said["height_bytes"], poet.pack(file).height)

    def test_keeps_alignments_offsets_and_gaps(self):
        found = poet.pack([poet.Buffer(0, 4, 3, alignment=8), poet.Buffer(0, 4, 3, alignment=8), poet.Buffer(0, 4, 2, offset=3)])
        self.assertEqual((sorted(found.offsets), found.height), ([0, 3, 8], 11))
        self.assertEqual(poet.pack([poet.Buffer(0, 9, 4, gaps=[(2, 5)]), (3, 5, 4)]).height, 4)

    def test_chooses_banks(self):
        buffers = [(0, 1, 6), (0, 1, 5), (0, 1, 4), (0, 1, 3)]
        found = poet.pack(buffers, banks={"a": 10, "b": 8})
        self.assertEqual((found.status, found.banks, found.heights), ("feasible", ["a", "b", "a", "b"], {"a": 10, "b": 8}))
        self.assertEqual(poet.pack(buffers, banks={"a": "1KiB", "b": 0}).heights, {"a": 18, "b": 0})
        self.assertEqual(poet.pack(buffers, banks={"a": 10, "b": 7}).status, "infeasible")

    def test_lets_other_threads_run(self):
        ran = threading.Event()
        threading.Timer(0, ran.set).start()
        poet.pack([(7 * i + lower, 7 * i + upper, size) for i in range(12) for lower, upper, size in HARD] + [(0, 84, 1)], capacity=9, time_limit=0.5)
        self.assertTrue(ran.is_set())

    def test_says_what_is_wrong(self):
        for arguments, options, error, said in (
            ([[(0, 3, 4), (3, 3, 4)]], {}, poet.InputError, "buffers[1]: the lifetime from 3 to 3 must not be empty"),
            ([[(0, 3, 1.5)]], {}, TypeError, "buffers[0].size: must be a whole number, not float"),
            ([[(0, 3)]], {}, TypeError, "buffers[0]: must be a Buffer"),
            ([[{"lower": 0, "upper": 1}]], {}, TypeError, "buffers[0]: lacks 'size'"),
            ([[{"lower": 0, "upper": 1, "size": 1, "align": 4}]], {}, TypeError, "buffers[0]: 'align' is no field"),
            ([[(0, 3, 2**70)]], {}, poet.InputError, "buffers[0].size:"),
            ([FIVE], {"capacity": 9, "banks": {"a": 9}}, poet.InputError, "capacity: excludes banks"),
            ([FIVE], {"capacity": "9XB"}, poet.InputError, "capacity"),
            ([FIVE], {"banks": {"a": -1}}, poet.InputError, "banks['a']: -1 must be at least 0"),
            ([FIVE], {"banks": {"a": "1XB"}}, poet.InputError, "banks['a']: \"1XB\" is not an amount of bytes"),
            ([FIVE], {"banks": {"a": None}}, TypeError, "banks['a']: must be a whole number, not NoneType"),
            ([FIVE], {"banks": {1: 5, "1": 6}}, TypeError, "banks: a name must be a string, not int"),
            ([FIVE], {"banks": {"": 5}}, poet.InputError, "banks: a name must not be empty"),
            ([[poet.Buffer(0, 9, 4, bank=7)]], {"banks": {"a": 9}}, TypeError, "buffers[0].bank: a name must be a string, not int"),
            ([[poet.Buffer(0, 9, 4, gaps=[(1, 2), (3,)])]], {}, TypeError, "buffers[0].gaps[1]: must be a period (begin, end)"),
            ([[poet.Buffer(0, 9, 4, gaps=[3])]], {}, TypeError, "buffers[0].gaps[0]: must be a period (begin, end)"),
            ([[poet.Buffer(0, 9, 4, gaps=None)]], {}, TypeError, "buffers[0].gaps: must be periods (begin, end), not NoneType"),
            ([[poet.Buffer(0, 9, 4, gaps=[(1, 2.5)])]], {}, TypeError, "buffers[0].gaps[0]: must be a whole number, not float"),
            ([[poet.Buffer(0, 9, 4, offset=0), poet.Buffer(0, 9, 4, offset=2)]], {}, poet.InputError, "buffers[1]: its fixed offset 2 overlaps that of buffers[0]"),
            ([[poet.Buffer(0, 9, 4, offset=0, id=0), (0, 9, 4), poet.Buffer(0, 9, 4, offset=2)]], {}, poet.InputError, 'overlaps that of "0" (buffers[0])'),
            ([[poet.Buffer(0, 1, 1, bank="c")]], {"banks": {"a": 9}}, poet.InputError, 'buffers[0]: there is no bank "c"'),
        ):
            with self.subTest(said), self.assertRaises(error) as caught:
                poet.pack(*arguments, **options)
            self.assertIn(said, str(caught.exception))


if __name__ == "__main__":
    main()
