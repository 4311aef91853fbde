"""What the code that makes the loss returns: the loss, alone or among other outputs."""

from __future__ import annotations

import dataclasses
from typing import Any, Sequence

import torch
import torch.utils._pytree as pytree

from .errors import CaptureError
from .keys import plain_key


@dataclasses.dataclass(frozen=True)
class Returned:
    """`tensors` of what was returned, of which number `loss` is the loss; `leaves` and `spec`: all of it, with None in the tensors' places."""

    tensors: Sequence[torch.Tensor]
    loss: int
    places: tuple[int, ...]  # of tensors among leaves
    leaves: tuple[Any, ...]
    spec: Any

    @staticmethod
    def of(result: Any) -> Returned:
        """Takes apart a tensor, a tuple or list whose first element is the loss, or a dictionary that has it by the name "loss". Raises
        CaptureError for what else there is."""
        loss = result
        if isinstance(result, (tuple, list)) and result:
            loss = result[0]
        elif isinstance(result, dict) and "loss" in result:
            loss = result["loss"]
        if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
            raise CaptureError("loss_fn", "must return a tensor of one element, or it and more in a tuple or dictionary (first, or as \"loss\")")
        leaves, spec = pytree.tree_flatten(result)
        places = tuple(i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor))
        for leaf in leaves:
            if not isinstance(leaf, torch.Tensor) and plain_key(leaf) is None:
                raise CaptureError("forward", f"returns a {type(leaf).__name__}: beside tensors there may be numbers, texts and None, in tuples, lists and dictionaries")
        tensors = [leaves[i] for i in places]
        others = tuple(None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves)
        return Returned(tensors, next(k for k, each in enumerate(tensors) if each is loss), places, others, spec)

    def with_tensors(self, tensors: Sequence[torch.Tensor]) -> Any:
        """The same with other tensors."""
        leaves = list(self.leaves)
        for place, tensor in zip(self.places, tensors):
            leaves[place] = tensor
        return pytree.tree_unflatten(leaves, self.spec)

    def names(self) -> list[str]:
        """What its tensors are called where they are compared."""
        return ["loss" if k == self.loss else f"output {k}" for k in range(len(self.places))]
