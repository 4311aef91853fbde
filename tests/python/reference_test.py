"""The reference from the docstrings: it is built without a warning, and has everything that is public with all arguments."""

import html
import importlib
import importlib.util
import inspect
import os
import re
import subprocess
import sys
import tempfile
import unittest

import poet
import poet.published

from support import ROOT, main

sys.path.insert(0, os.path.join(ROOT, "docs", "reference"))
import plain_text


class Reference(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            environment = os.environ | {"PYTHONPATH": os.path.dirname(os.path.dirname(poet.__file__))}
            done = subprocess.run([os.path.join(ROOT, "tools", "reference_docs.sh"), folder], env=environment, capture_output=True, text=True)
            if done.returncode == 77:
                raise unittest.SkipTest(done.stdout.strip().removeprefix("skipped: "))
            assert done.returncode == 0, done.stdout + done.stderr
            cls.pages = {}
            for name in ("poet", "torch", "published"):
                with open(os.path.join(folder, f"{name}.html"), encoding="utf-8") as stream:
                    cls.pages[name] = stream.read()

    def signature(self, page, name):
        """What the page says the thing is called with, tags taken out; all overloads together."""
        heads = re.findall(rf'<dt[^>]*id="{re.escape(name)}">(.*?)<dd>', self.pages[page], re.S)
        self.assertTrue(heads, name)
        return html.unescape(re.sub("<[^>]+>", "", heads[0]))

    def test_has_all_that_is_public_with_its_arguments(self):
        for name in poet.__all__:
            thing = getattr(poet, name)
            if inspect.ismodule(thing):
                continue
            self.signature("poet", f"poet.{name}")
            members = {name: thing}
            if inspect.isclass(thing):
                members = {f"{name}.{key}": value for key, value in vars(thing).items() if not key.startswith("_") and inspect.isroutine(value)}
                members[name] = thing.__init__ if "__init__" in vars(thing) and name not in ("Page", "Plan", "Result", "Schedule") else None
            for full, member in members.items():
                function = getattr(member, "__func__", member)
                if not inspect.isfunction(function):
                    continue
                said = self.signature("poet", f"poet.{full}")
                for argument in inspect.signature(function).parameters:
                    if argument not in ("self", "options", "args"):
                        with self.subTest(name=full, argument=argument):
                            self.assertRegex(said, rf"\b{argument}\b")

    def test_has_the_reference_and_pytorch_with_or_without_it(self):
        for argument in inspect.signature(poet.published.solve).parameters:
            self.assertIn(argument, self.signature("published", "poet.published.solve"))
        with open(os.path.join(ROOT, "python", "poet", "torch", "__init__.py"), encoding="utf-8") as stream:
            names = re.findall(r'"(\w+)"', re.search(r"__all__ = \[(.*?)\]", stream.read(), re.S)[1])
        for name in names:
            self.signature("torch", f"poet.torch.{name}")
        for argument in ("module", "loss_fn", "ram_budget", "tolerance"):
            self.assertIn(argument, self.signature("torch", "poet.torch.compile_step"))

    def test_links_what_is_mentioned_and_shows_no_markup(self):
        self.assertRegex(self.pages["poet"], '<a class="reference internal" href="#poet.read_plans"[^>]*><code[^>]*><span class="pre">read_plans[(][)]<')
        text = html.unescape(re.sub("<[^>]+>", "", re.sub(r"<(script|style|pre).*?</\1>", "", self.pages["poet"], flags=re.S)))
        for markup in ("`", "\\ ", ":py:", "::", "~typing", "Alias for field", "core: "):
            self.assertNotIn(markup, text)


class PlainText(unittest.TestCase):
    def test_paragraphs(self):
        for said, markup in (
            ("One\ntwo `x*y` a*b name_ and solve().", ["One two ``x*y`` a\\*b name\\_ and :py:obj:`solve() <solve>`."]),
            ("    import poet\n\n    poet.solve()  # now", ["::", "", "    import poet", "    ", "    poet.solve()  # now"]),
            ("    solve    the answer\n    pack     addresses", ["* **solve**: the answer", "* **pack**: addresses"]),
            ("data: arrays,\n    or a file\nnone of these", ["* **data**: arrays, or a file", "* none of these"]),
            ("seed       first\n           more\nvalidation a column", ["* **seed**: first more", "* **validation**: a column"]),
            ("Options:\n    gap=0.01: least\n        gap\n    other (x)", ["Options:", "", "* **gap=0.01**: least gap", "* other (x)"]),
        ):
            with self.subTest(said=said):
                self.assertEqual(plain_text.markup(said)[:-1], markup)


if __name__ == "__main__":
    main()
