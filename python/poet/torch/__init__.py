"""Trains any PyTorch module within a RAM budget: tensors that do not fit are recomputed or paged, and every bit stays the same.

    import poet.torch

    step = poet.torch.compile_step(model, torch.nn.functional.cross_entropy, optimizer, (images, labels), ram_budget="60%")
    for batch in batches:
        loss = step(batch)

Needs PyTorch: 1.13 (Debian 12) or 2. `grep -n "PyTorch [12]" *.py` finds what differs between the two.
"""

from .arguments import compile_step
from .errors import CaptureError, StorageError
from .ledger import Ledger
from .policy import policy
from .problem import Power
from .step import Step
from .storage import return_freed_memory

__all__ = ["CaptureError", "Ledger", "Power", "Step", "StorageError", "compile_step", "policy", "return_freed_memory"]
