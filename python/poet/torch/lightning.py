"""Training with Lightning within a RAM budget.

    from poet.torch.lightning import Strategy

    trainer = lightning.Trainer(strategy=Strategy(ram_budget="60%"), max_epochs=3)
    trainer.fit(module, loader)

Forward and backward pass are one step of poet's, with gradients that are added up as Lightning wants them; clipping, the optimizer's step (for which
the plan has room), schedulers, precision and hooks are Lightning's own. What training_step() logs is logged after every step.
"""

from __future__ import annotations

import contextlib
import functools
from typing import Any, Callable, Iterator, Optional

import torch

try:
    from lightning.pytorch.strategies import SingleDeviceStrategy
except ImportError:
    from pytorch_lightning.strategies import SingleDeviceStrategy

from ..errors import InputError
from .arguments import compile_step
from .errors import CaptureError
from .step import Step


class Strategy(SingleDeviceStrategy):  # type: ignore[misc]
    """A strategy of Lightning on the CPU, whose steps are poet's.

    ram_budget, options: of compile_step(), but for what Lightning has itself (accumulation, clipping, updates). training_step() has a batch of tensors,
    numbers and texts, and returns the loss, alone or in a dictionary; its number of the batch is a tensor. One optimizer, without manual optimization.
    """

    strategy_name = "poet"

    def __init__(self, ram_budget: Any, **options: Any) -> None:
        if options.get("saved") is not None and options.get("check") is False:
            raise InputError("saved", "needs check=True: training_step() runs once while a step is compared, which tells how values are logged")
        super().__init__(device="cpu")
        self._options = {"ram_budget": ram_budget, **options}
        self._gradients: list[Optional[torch.Tensor]] = []
        self._log = _Log()
        self.step: Optional[Step] = None  # once there was a batch

    def training_step(self, batch: Any, *more: Any) -> Any:
        """Runs the forward and backward pass by the plan. Gradients are aside until Lightning asks for the backward pass."""
        module = self.lightning_module
        if len(more) > 1 or not module.automatic_optimization or len(self.optimizers) != 1:
            raise InputError("module", "must have automatic optimization by one optimizer")
        every = module.trainer.accumulate_grad_batches
        if module.trainer.fit_loop.epoch_loop.batch_idx % every == 0:
            module.zero_grad(set_to_none=True)
        given = {"batch": batch, "number": [torch.tensor(number) for number in more], "every": every}
        with self.precision_plugin.train_step_context():
            with self._log.instead_of_that_of(module):
                if self.step is None or self.step.module is not module:
                    forward = functools.partial(_forward, self._log, module.training_step)
                    self.step = compile_step(module, None, self.optimizers[0], given, forward=forward, updates="none", **self._options)
                returned = self.step(given)
            for name, value in returned["logged"].items():
                module.log(name, value, **self._log.options[name])
        self._gradients = [parameter.grad for parameter in module.parameters()]
        for parameter in module.parameters():
            parameter.grad = None  # what is there now would be forgotten: Lightning does so before the backward pass
        return returned["outputs"]

    def backward(self, closure_loss: torch.Tensor, optimizer: Any, *args: Any, **kwargs: Any) -> torch.Tensor:
        """Gives the parameters the gradients of the step before."""
        module = self.lightning_module
        self.pre_backward(closure_loss)
        closure_loss = self.precision_plugin.pre_backward(closure_loss, module)
        for parameter, gradient in zip(module.parameters(), self._gradients):
            parameter.grad = gradient
        self._gradients = []
        closure_loss = self.precision_plugin.post_backward(closure_loss, module)
        self.post_backward(closure_loss)
        return closure_loss


class _Log:
    """What training_step() logs, in place of the module's own log(): tensors are the step's outputs, and logged when it has run."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.options: dict[str, dict[str, Any]] = {}
        self._methods = {"log": self.log, "log_dict": self.log_dict}  # the same objects in every step

    def log(self, name: str, value: Any, **options: Any) -> None:
        self.values[name], self.options[name] = value, options

    def log_dict(self, dictionary: Any, **options: Any) -> None:
        for name, value in dictionary.items():
            self.log(name, value, **options)

    @contextlib.contextmanager
    def instead_of_that_of(self, module: Any) -> Iterator[None]:
        module.__dict__.update(self._methods)
        try:
            yield
        finally:
            for name in self._methods:
                del module.__dict__[name]


def _forward(log: _Log, training_step: Callable[..., Any], module: Any, batch: Any) -> Any:
    """What training_step() computes, with the loss that gradients are of and the values that it logs."""
    log.values = {}
    outputs = training_step(batch["batch"], *batch["number"])
    loss = outputs["loss"] if isinstance(outputs, dict) else outputs
    if loss is None:
        raise CaptureError("training_step()", "returns None: a step cannot be left out")
    return {"loss": loss / batch["every"], "outputs": outputs, "logged": log.values}
