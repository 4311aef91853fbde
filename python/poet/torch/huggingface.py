"""Training with Hugging Face's Trainer within a RAM budget.

    from poet.torch.huggingface import Trainer

    trainer = Trainer(model=model, args=arguments, train_dataset=data, step_options={"ram_budget": "60%"})
    trainer.train()

Forward and backward pass are one step of poet's, with gradients that are added up as Trainer wants them; clipping, the optimizer's step (for which
the plan has room), schedulers, logging and saving are Trainer's own.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Mapping, Optional

import torch
import transformers

from .arguments import compile_step
from .step import Step


class Trainer(transformers.Trainer):  # type: ignore[misc]
    """transformers.Trainer on the CPU (`use_cpu=True` among its arguments where there is another device), whose steps are poet's.

    step_options: arguments of compile_step(): at least ram_budget; not accumulate, clip_norm, scaler and updates, which are Trainer's.
    """

    def __init__(self, *args: Any, step_options: Mapping[str, Any], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._step_options = dict(step_options)
        self.step: Optional[Step] = None  # once there was a batch

    def training_step(self, model: torch.nn.Module, inputs: Any, num_items_in_batch: Any = None) -> torch.Tensor:
        """Runs the forward and backward pass by the plan, and adds the gradients to those of the parameters."""
        model.train()
        items = None if num_items_in_batch is None else torch.as_tensor(num_items_in_batch)
        batch = {"inputs": dict(self._prepare_inputs(inputs)), "items": items, "steps": self.current_gradient_accumulation_steps}
        with self.compute_loss_context_manager():
            if self.step is None or self.step.module is not model:
                forward = functools.partial(_forward, self.compute_loss, _is_averaged(self))
                self.step = compile_step(model, None, self.optimizer, batch, forward=forward, updates="none", **self._step_options)
            return self.step(batch)


def _is_averaged(trainer: Any) -> Optional[bool]:
    """Whether the loss is over all steps whose gradients are added up, rather than over its own; None: if it knows how many items these have."""
    if trainer.compute_loss_func is not None:
        return True
    return None if trainer.model_accepts_loss_kwargs else False


def _forward(compute_loss: Callable[..., torch.Tensor], is_averaged: Optional[bool], model: torch.nn.Module, batch: Any) -> torch.Tensor:
    loss = compute_loss(model, dict(batch["inputs"]), num_items_in_batch=batch["items"])
    averaged = batch["items"] is not None if is_averaged is None else is_averaged
    return loss if averaged else loss / batch["steps"]
