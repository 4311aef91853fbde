"""poet: training schedules of least energy for devices with little memory.

    import poet

    result = poet.solve("resnet14_cifar", batch_size=8, device="a72", ram_budget="6MB", runtime_budget=1.3)
    result.plan.show()                       # in a notebook: the interactive page

A network (built in, ONNX, or a graph of one's own), a device, a RAM budget and a deadline go in; the training schedule of least
energy that recomputes and pages what does not fit comes out, with a bound on what any other plan needs.

    solve, Result, Schedule      the answer: plan, proof, matrices
    Plan, read_plans, verify     a plan, its file, and the verifier's verdict
    Graph, import_onnx           training graphs with their costs; networkx in and out
    Device, profile              what a device costs; this machine, measured
    Trainer, train               training by a plan on this machine; numpy in and out
    pack, Buffer                 offsets for buffers of any other compiler
    convert_weights              weights between ONNX and safetensors files
    compare, methods             every published method within the same limits
    sweep                        methods over networks, devices and limits
    Table                        the rows of sweep, compare and plans; to_pandas()
    torch                        any PyTorch module's step within a RAM budget (import poet.torch)
    published                    the published reference's own function and results

Units are SI: joules, seconds, bytes. Figures come from the verifier, which replays every plan.
"""

from . import _built, _core, published  # first whether there is one for this Python
from .devices import Device, Transfer, devices
from .errors import InputError, InternalError
from .graphs import Graph, import_onnx, networks, published_instances
from .packing import Buffer, Packing, pack
from .plans import Page, Plan, read_plans, verify
from .profiling import profile
from .results import Result, Schedule
from .solve import compare, methods, solve
from .sweeping import sweep
from .tables import Table
from .training import Step, Trained, Trainer, Validation, inputs, train
from .weights import convert_weights

__version__: str = _core.version

__all__ = [
    "Buffer",
    "Device",
    "Graph",
    "InputError",
    "InternalError",
    "Packing",
    "Page",
    "Plan",
    "Result",
    "Schedule",
    "Step",
    "Table",
    "Trained",
    "Trainer",
    "Transfer",
    "Validation",
    "compare",
    "convert_weights",
    "devices",
    "import_onnx",
    "inputs",
    "methods",
    "networks",
    "pack",
    "profile",
    "published",
    "published_instances",
    "read_plans",
    "solve",
    "sweep",
    "train",
    "verify",
]
