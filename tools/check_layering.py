#!/usr/bin/env python3
"""Checks that every folder of the library includes only what it may, and third-party headers stay where they belong.

usage: check_layering.py INCLUDE_ROOT [FOLDER...]

INCLUDE_ROOT holds poet/; its components obey COMPONENTS, EXPORTED, OWNERS and WITH_JSON. Files in further FOLDERs may include any
component, so only EXPORTED and OWNERS apply to them. Prints one line per violation; exit 0 if there is none, 1 otherwise.
"""
import pathlib
import re
import sys

VALUES = {"base", "graph"}
PLANS = VALUES | {"cost", "plan"}
OPTIMIZERS = PLANS | {"optimize"}
# Component -> components that it may include besides itself.
COMPONENTS = {
    "base": {"version.h"},  # which is generated
    "graph": {"base"},
    "frontend": VALUES,
    "autodiff": VALUES,
    "split": VALUES,
    "cost": VALUES,
    "plan": VALUES | {"cost"},
    "optimize": PLANS,
    "packing": {"base", "plan"},
    "verify": PLANS,  # never optimize: an error in one is to show in the other
    "pipeline": OPTIMIZERS | {"frontend", "autodiff", "split", "verify"},  # for apps, study, tests: whoever poses a problem
    "compile": OPTIMIZERS | {"verify"},  # the main path: from a posed problem to a plan
    "baselines": OPTIMIZERS | {"compile"},
    "runtime": PLANS | {"verify"},
    "firmware": PLANS | {"runtime"},
    "weights": PLANS | {"frontend", "autodiff", "split", "verify", "runtime"},
    "study": OPTIMIZERS | {"baselines", "verify", "pipeline"},
    "report": PLANS | {"verify"},
    "answer": OPTIMIZERS | {"verify", "pipeline", "compile", "report"},
}
# What users of the library include, in poet/ itself: nothing in the library does.
FACADES = {"poet.h", "compile.h", "network.h", "device.h", "plan.h", "train.h", "report.h", "compare.h", "solve.h"}
# A header in a sub-folder of a component is private to the folder above: optimize/milp/rows/rows.h to optimize/milp and what is
# below it, optimize/milp/branch.h to optimize. But for these folders (not what is below them) and headers, which others include.
EXPORTED = {
    "base/process",
    "frontend/onnx/export.h", "frontend/onnx/import.h", "frontend/onnx/weights.h",
    "graph/operators/op_reader.h", "graph/operators/schema.h",
    "optimize/heuristic/greedy.h", "optimize/milp/model.h", "optimize/order/least_peak.h",
    "optimize/problem/candidate.h", "optimize/problem/loads.h", "optimize/problem/problem.h", "optimize/problem/residence.h",
    "optimize/relaxation/residence_relaxation.h",
    "optimize/search/prefetch_in_place.h", "optimize/search/streamed_plan.h", "optimize/search/plans_from_scratch.h", "optimize/search/every_plan.h",
    "optimize/solvers",
    "plan/decoder", "plan/file", "plan/layout", "plan/layout/arena/pack.h", "plan/schedule", "plan/timing",
    "runtime/data/data_input.h", "runtime/data/dataset.h", "runtime/data/numbers.h",
    "runtime/executor/program.h",
    "runtime/kernels/bfloat16.h", "runtime/kernels/kernel.h", "runtime/kernels/kernel_options.h",
    "runtime/profile/machine_profile.h",
    "runtime/sensors", "runtime/training", "runtime/weights/initial_weights.h",
    "runtime/weights/safetensors.h", "runtime/weights/safetensors_weights.h",
}
# The headers that may include <nlohmann/json.hpp>; all others make do with <nlohmann/json_fwd.hpp>.
WITH_JSON = {"cost/instance_parts.h"}
# Where the project's own headers lie.
PROJECT = ("poet/", "apps/", "bench/", "firmware/", "tests/")
# Third-party headers -> the only folders or files that may include them.
OWNERS = {
    r"(coin/)?(Cbc|Cgl|Clp|Coin|Osi)\w*\.(hpp|h)": ("optimize/solvers",),
    r"zlib\.h": ("cost/json_reader.cc", "report/packed.cc"),
    r"lemon/.*": ("optimize/relaxation/gap_flow.cc",),
    r"(interfaces/highs_c_api|(highs/)?Highs\w*)\.h": ("optimize/solvers",),
    r"(onnx|google/protobuf)/.*": ("frontend/onnx",),
    r"(oneapi/dnnl/)?dnnl.*": ("runtime/kernels/onednn",),
    r"(openssl/.*|xxhash)\.h": ("runtime/storage", "apps/server/jobs/digest.cc"),
    r"CLI/.*": ("apps/shared/parser.cc", "apps/shared/description.cc"),
    r"sqlite3\w*\.h": ("study/store.cc", "apps/server/jobs/database.cc"),
    r"httplib\.h": ("apps/server/http",),
    r"mpi\.h": ("study/mpi_pool.cc",),
}
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


def is_private(header, folder):
    """Whether files of `folder` may not include `header`, both below poet/; `folder` is "" outside the library."""
    home = header.parent
    above = home.parent.as_posix()
    if above == "." or {header.as_posix(), home.as_posix()} & EXPORTED:
        return False
    return not f"{folder}/".startswith(f"{above}/")


def violations(path, allowed, component, inside):
    """Yields (line number, what is wrong). `allowed` is None where any component may be included; `inside` is the file's path
    below poet/, None outside the library."""
    folder = inside.parent.as_posix() if inside else ""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, header = match.groups()
        if quote == '"' and path.suffix != ".c" and not header.startswith(PROJECT):
            yield number, f'"{header}" is not a path from src or from the repository'
        if header.startswith("poet/"):
            target = header.split("/")[1]
            if allowed is not None and target != component and target not in allowed:
                yield number, f"{component} may not include {target.removesuffix('.h')}"
            elif is_private(pathlib.PurePosixPath(header).relative_to("poet"), folder):
                yield number, f"{header} is private to {pathlib.PurePosixPath(header).parent.parent}"
            continue
        if header == "nlohmann/json.hpp" and inside and inside.suffix == ".h" and inside.as_posix() not in WITH_JSON:
            yield number, "a header includes nlohmann/json_fwd.hpp"
        for pattern, owners in OWNERS.items():
            if re.fullmatch(pattern, header) and not any(f"/{owner}/" in f"/{path.as_posix()}/" for owner in owners):
                yield number, f"{header.split('/')[-1]} belongs in {' or '.join(owners)}"


def sources(folder):
    return sorted(path for path in folder.rglob("*") if path.suffix in (".h", ".cc", ".c", ".inc"))


def stale_entries(library):
    """Yields entries of the tables that name nothing."""
    if (library / "compile.h").exists():  # not where the check itself is tested
        owners = [owner for each in OWNERS.values() for owner in each]
        names = [*COMPONENTS, *FACADES, *EXPORTED, *WITH_JSON, *owners]
        yield from (name for name in names if not (library / name).exists() and not (library.parents[1] / name).exists())


def main(include_root, *others):
    library = pathlib.Path(include_root) / "poet"
    found = checked = 0
    jobs = []
    for path in sources(library):
        inside = path.relative_to(library)
        parts = inside.parts
        component = parts[0] if len(parts) > 1 else ""
        if component not in COMPONENTS and inside.as_posix() not in FACADES:
            print(f"{path}:1: {component or inside.name} is not known to {sys.argv[0]}")
            found += 1
            continue
        jobs.append((path, COMPONENTS.get(component), component, inside))
    for name in stale_entries(library):
        print(f"{library}:1: {name} is in a table of {sys.argv[0]} and nowhere else")
        found += 1
    for folder in others:
        jobs += [(path, None, "", None) for path in sources(pathlib.Path(folder))]
    for job in jobs:
        path = job[0]
        checked += 1
        for number, wrong in violations(*job):
            print(f"{path}:{number}: {wrong}")
            found += 1
    print(f"{checked} files, {found} violations")
    return 1 if found or not checked else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
