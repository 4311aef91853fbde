#!/usr/bin/env python3
"""Selects from a small list of tests.

usage: select_tests_test.py SELECT_TESTS
"""
import json
import pathlib
import subprocess
import sys
import tempfile


def test(name, labels, needs, *command):
    properties = [{"name": "LABELS", "value": labels}, {"name": "ENVIRONMENT", "value": ["POET_CLOCK=processor", f"POET_TEST_NEEDS={needs}"]}]
    return {"name": name, "command": list(command), "properties": properties}


TESTS = [
    test("unit_text", ["unit", "base"], "tests_base", "/build/tests_base", "--gtest_filter=Text.*"),
    test("unit_cbc", ["unit", "optimize"], "tests_optimize", "/build/tests_optimize", "--gtest_filter=Cbc.*"),
    test("unit_layering", ["unit", "tools"], "", "python3", "/repository/tools/check_layering.py"),
    test("numeric_kernels", ["numeric"], "tests_numeric", "/build/tests_numeric", "--gtest_filter=Kernels.*"),
    test("numeric_kernels_AVX2", ["numeric"], "tests_numeric", "/build/tests_numeric", "--gtest_filter=Kernels.*"),
    test("numeric_training_like_pytorch", ["numeric"], "poet", "python3", "/repository/tools/compare_training.py", "/build/poet"),
    test("e2e_server_jobs", ["e2e"], "poet poet_python", "python3", "/repository/tests/e2e/server/server_jobs_test.py"),
    test("e2e_install", ["e2e"], "all", "cmake", "-P", "/repository/tests/e2e/install_test.cmake"),
]
FILES = ["src/poet/base/text.cc", "src/poet/optimize/text.h", "src/poet/compile.cc", "tests/unit/base/text_test.cc", "tests/numeric/kernels_test.cc",
         "tests/support/effort.h", "tests/e2e/server/server_support.py", "tests/e2e/consumer/main.cc", "tools/compare_training.py",
         "tools/new.py", "docs/style.md"]

# name -> the tests and targets that it stands for, or what is wrong
SELECTED = {
    "base": (["unit_text"], "tests_base"),
    "unit": (["unit_text", "unit_cbc", "unit_layering"], "tests_base tests_optimize"),
    "cbc": (["unit_cbc"], "tests_optimize"),
    "e2e_server": (["e2e_server_jobs"], "poet poet_python"),
    "src/poet/base/text.cc": (["unit_text"], "tests_base"),
    "src/poet/optimize": (["unit_cbc"], "tests_optimize"),
    "text_test.cc": (["unit_text"], "tests_base"),
    "tests/unit/base": (["unit_text"], "tests_base"),
    "tests/unit": (["unit_text", "unit_cbc", "unit_layering"], "tests_base tests_optimize"),
    "tests/numeric": (["numeric_kernels", "numeric_kernels_AVX2", "numeric_training_like_pytorch"], "poet tests_numeric"),
    "tests/numeric/kernels_test.cc": (["numeric_kernels", "numeric_kernels_AVX2"], "tests_numeric"),
    "compare_training.py": (["numeric_training_like_pytorch"], "poet"),
    "tools/new.py": (["unit_layering"], ""),
    "tests/e2e/server/server_support.py": (["e2e_server_jobs"], "poet poet_python"),
    "main.cc": (["e2e_install"], "all"),
    "tests/e2e/consumer/": (["e2e_install"], "all"),
    "text": (["unit_text"], "tests_base"),
}
REFUSED = {
    "nothing": "nothing is no component, test or file; components and labels: base, e2e, numeric, optimize, tools, unit",
    "docs/style.md": "docs/style.md has no tests of its own: ./test runs all",
    "tests/support/effort.h": "tests/support/effort.h has no tests of its own: ./test runs all",
}


def main(program):
    program = str(pathlib.Path(program).resolve())
    with tempfile.TemporaryDirectory() as folder:
        for file in FILES:
            path = pathlib.Path(folder, file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        subprocess.run(["git", "init", "-q", folder], check=True)

        def select(*names):
            return subprocess.run([sys.executable, program, folder, *names], cwd=folder, input=json.dumps({"tests": TESTS}), capture_output=True, text=True)

        for name, (tests, targets) in SELECTED.items():
            done = select(name)
            assert done.returncode == 0, (name, done.stderr)
            said, built, chosen = done.stdout.splitlines()
            assert chosen == f"^({'|'.join(tests)})$", (name, chosen)
            assert built == targets, (name, built)
            assert said == f"{name}: {len(tests)} test{'s' * (len(tests) > 1)}: {', '.join(tests)}", said
        for name, why in REFUSED.items():
            done = select(name)
            assert (done.returncode, done.stdout, done.stderr) == (2, "", f"poet: {why}\n"), (name, done)
        done = select("base", "e2e_install")
        assert done.stdout.splitlines()[1:] == ["all tests_base", "^(unit_text|e2e_install)$"], done
        pathlib.Path(folder, "src/poet/optimize/main.cc").touch()  # beside the consumer's
        done = select("main.cc")
        assert done.returncode == 2 and "main.cc may be " in done.stderr and done.stderr.endswith(": name one\n"), done


if __name__ == "__main__":
    main(sys.argv[1])
