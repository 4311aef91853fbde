"""Training by a plan on this machine, within its RAM, with the same bits as without a limit."""

from __future__ import annotations

import math
import os
import tempfile
import warnings
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import _core, _safetensors
from ._arguments import names_mistakes
from ._paths import Path, file_argument, optional_file
from .errors import InputError
from .plans import Plan
from .weights import as_array, as_stored, check_onnx, check_safetensors, is_onnx, onnx_arguments

Array = npt.NDArray[Any]
_MOST_STEPS = 1_000_000_000  # of a run, as of `poet run`


class Step(NamedTuple):
    """One training step: its number from 1, the loss, its seconds without fetching data, how many of these it waited for storage, and the
    seconds of fetching data."""

    number: int
    loss: float
    seconds: float
    stalled: float
    fetching: float


class Validation(NamedTuple):
    """A validation after a step: the mean loss over all samples, the accuracy (of samples, or of tokens of text; only with a
    cross-entropy), and the seconds that it took."""

    step: int
    loss: float
    accuracy: Optional[float]
    seconds: float


@names_mistakes
class Trainer:
    """Training by a plan, step by step: `for step in trainer.run(100): print(step.loss)`.

    plan       a plan with device semantics (Result.plan, read_plans()); steps work in its arena and in the parameters that it keeps
               in RAM, and in no other memory
    data       arrays by input name (`inputs`), samples along the first axis; or a folder or file as for `poet run --data`; None:
               `samples` synthetic samples
    validation a second data set in one of these forms, for validate()
    weights    arrays by name (numpy, PyTorch), a safetensors file or an ONNX file; float16 and bfloat16 are widened to float32
    onnx       the network's ONNX file, for parameters and constants that `weights` lacks; None: the file of solve(onnx=...), if the
               plan came from it; False: no file. input_shapes, loss_output: import options, as for solve()
    strict     True: InputError if `weights` has a name that the network does not have (except num_batches_tracked and optimiser
               state) or, without an ONNX file, lacks a parameter. False: such tensors are ignored, and missing parameters are
               initialised as in PyTorch, by `seed`; `notices` name them
    seed       of initial weights, data order and dropout, from 0 to 2**64 - 1; None: that of `resume`, or 0
    shuffle    True: the samples in another order in every epoch, by `seed`; False: in the order of the data, in every epoch
    samples    number of synthetic samples, 1024
    resume     a checkpoint of save()
    storage    a folder or file to page to; None: a temporary file in $TMPDIR or /var/tmp
    kernels    "fast" (oneDNN), "lean" or "reference"; threads: number of compute threads, from 1 to 1024
    learning_rate, momentum, beta1, beta2, eps, weight_decay, nesterov: hyperparameters of the plan's optimiser
    lr_schedule "constant", "step" (times lr_gamma, 0.1, every lr_step_size updates) or "cosine" (annealed over lr_length updates to the
               fraction lr_least, 0, of the rate), after a linear warm-up over lr_warmup updates

    Equal plans, arguments and instruction sets give equal bits. So do plans of other budgets; with kernels "reference" even if they
    split operators (Result.figures["part_bytes"]). Raises InputError naming the argument that is wrong.
    Threads take turns, and steps release the interpreter's lock. With threads > 1, a process forked from one that has trained cannot
    train: OpenMP's threads do not survive a fork (multiprocessing: use the method "spawn").
    """

    def __init__(
        self,
        plan: Plan,
        data: Union[Mapping[str, Array], Path, None] = None,
        *,
        validation: Union[Mapping[str, Array], Path, None] = None,
        weights: Union[Mapping[str, Any], Path, None] = None,
        onnx: Union[Path, bool, None] = None,
        input_shapes: Optional[Mapping[str, Sequence[int]]] = None,
        loss_output: Optional[str] = None,
        strict: bool = True,
        resume: Optional[Path] = None,
        seed: Optional[int] = None,
        shuffle: bool = True,
        samples: Optional[int] = None,
        storage: Optional[Path] = None,
        encrypt: bool = False,
        kernels: str = "fast",
        threads: int = 1,
        learning_rate: Optional[float] = None,
        momentum: Optional[float] = None,
        beta1: Optional[float] = None,
        beta2: Optional[float] = None,
        eps: Optional[float] = None,
        weight_decay: Optional[float] = None,
        nesterov: Optional[bool] = None,
        lr_schedule: Optional[str] = None,
        lr_warmup: Optional[int] = None,
        lr_step_size: Optional[int] = None,
        lr_gamma: Optional[float] = None,
        lr_length: Optional[int] = None,
        lr_least: Optional[float] = None,
    ) -> None:
        if not isinstance(plan, Plan):
            missing = ": the result has none" if plan is None else ""
            raise TypeError(f"plan: must be a poet.Plan (result.plan), not {type(plan).__name__}{missing}")
        self.plan = plan
        if samples is not None and data is not None:
            raise InputError("samples", "is for the synthetic set, not data")
        if weights is not None and resume is not None:
            raise InputError("weights", "excludes resume: a checkpoint has weights")
        arguments: dict[str, Any] = dict(
            seed=seed, shuffle=shuffle, samples=samples, encrypt=encrypt, kernels=kernels, threads=threads, learning_rate=learning_rate,
            momentum=momentum, beta1=beta1, beta2=beta2, eps=eps, weight_decay=weight_decay,
            nesterov=nesterov, lr_schedule=lr_schedule, lr_warmup=lr_warmup, lr_step_size=lr_step_size, lr_gamma=lr_gamma,
            lr_length=lr_length, lr_least=lr_least, storage=optional_file("storage", storage),
            resume=optional_file("resume", resume), strict=strict,
            **onnx_arguments(plan, weights, onnx, input_shapes, loss_output),
        )
        for name, arrays, samples_of in (("data", "arrays", data), ("validation", "validation_arrays", validation)):
            if isinstance(samples_of, Mapping):
                arguments[arrays] = _as_the_network_reads(plan, samples_of, name)
            else:
                arguments[name] = optional_file(name, samples_of, "arrays by name, or a path")
        with tempfile.TemporaryDirectory() as folder:
            if isinstance(weights, Mapping):
                file = os.path.join(folder, "weights.safetensors")
                _safetensors.write(file, {str(name): as_stored(str(name), tensor) for name, tensor in weights.items()})
                arguments["weights_file"] = file
            elif not is_onnx(weights):
                arguments["weights_file"] = optional_file("weights", weights, "arrays by name, or a path")
            try:
                self._core = _core.Trainer(plan._core, **arguments)
            except InputError as error:
                raise InputError(error.place.replace(folder + "/weights.safetensors", "weights"), error.rule) from None
        self._passed_weights = folder + "/weights.safetensors"  # as notes name them
        self._notices = self._notes()

    @property
    def inputs(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """The inputs of a step: name -> element type and shape of one sample."""
        return inputs(self.plan)

    def step(self) -> Step:
        """Runs the next step. Raises InputError if storage or data fail; parameters may then be partly updated."""
        done = self._core.step()
        return Step(done.number, done.loss, done.seconds, done.stalled, done.fetching)

    def run(self, steps: int) -> Iterator[Step]:
        """Runs the next `steps` steps, yielding each."""
        count = _core.whole_number("steps", steps, 0, 2**63 - 1)
        return (self.step() for _ in range(count))

    def validate(self, best: Optional[Path] = None) -> Validation:
        """Measures the network in evaluation mode (no dropout, running statistics) on all validation data, within the plan's memory.
        Training continues with the same bits. If the loss is the lowest so far, a checkpoint replaces the file `best`. Raises InputError
        as step(), and without validation data."""
        file = optional_file("best", best)
        check_safetensors("best", file)
        found = self._core.validate(file)
        if found is None:
            raise InputError("validation", "is not given: arrays, a folder or a file with validation data")
        return Validation(found.step, found.loss, found.accuracy, found.seconds)

    @property
    def best_step(self) -> Optional[int]:
        """The step with the lowest validation loss so far, including those before a resumed checkpoint; None before the first validation."""
        best = self._core.best()
        return None if best is None else best[0]

    @property
    def best_loss(self) -> Optional[float]:
        """The lowest validation loss so far; None before the first validation."""
        best = self._core.best()
        return None if best is None else best[1]

    def state_dict(self) -> dict[str, Array]:
        """Returns copies of parameters, optimiser state and running statistics, by name."""
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "state.safetensors")
            self.save(file)
            return _safetensors.read(file)

    def save(self, checkpoint: Path) -> None:
        """Writes a checkpoint (safetensors) to `resume` from, here or with `poet run`."""
        file = file_argument("checkpoint", checkpoint)
        check_safetensors("checkpoint", file)
        self._core.save(file)

    def save_onnx(self, file: Path) -> None:
        """Writes the network as it is as an ONNX file: the network's own (`onnx`) with the trained weights in it; where there is none,
        one made of the plan's network. Raises InputError where ONNX has no operator for one of the network's, and for a file called
        .safetensors."""
        name = file_argument("file", file)
        check_onnx("file", name)
        self._core.save_onnx(name)

    @property
    def steps_done(self) -> int:
        """Steps done, including those before a resumed checkpoint."""
        return self._core.steps_done

    @property
    def notices(self) -> list[str]:
        """Notes on how the run began, as in `notices` of `poet run --json`: what differs from the checkpoint it resumes, weights that were
        widened, parameters that `weights` lacks, square matrices whose orientation a file of weights does not tell, and last bits that
        depend on how operators are split."""
        return list(self._notices)

    @property
    def ram_bytes(self) -> int:
        """Bytes of the arena and of resident parameters and optimiser state."""
        return self._core.ram_bytes

    def _notes(self, best: Optional[str] = None, validate_every: int = 0, saves: bool = False, saved: bool = False) -> list[str]:
        """Returns notes on the run so far. `saves`, `saved`: a checkpoint is to be written at its end, and was."""
        return [note.replace(self._passed_weights, "weights") for note in self._core.notes(best, validate_every, saves, saved)]

    def __repr__(self) -> str:
        return f"<poet.Trainer after {self.steps_done} steps, {self.ram_bytes} bytes, {self._core.data}, {self._core.kernels}>"


class Trained(NamedTuple):
    """The result of train(): the loss of every step, the steps with their times, the state afterwards, by name, each validation,
    step and loss of the best one (Trainer.best_step), and notes on the run (`notices` of `poet run --json`)."""

    losses: npt.NDArray[np.float32]
    steps: list[Step]
    state_dict: dict[str, Array]
    validations: list[Validation]
    best_step: Optional[int]
    best_loss: Optional[float]
    notices: list[str]

    def __repr__(self) -> str:
        losses = f", loss {self.losses[0]:.6g} at first, {self.losses[-1]:.6g} at last" if len(self.losses) else ""
        return f"<poet.Trained: {len(self.steps)} steps{losses}, {len(self.state_dict)} tensors>"


@names_mistakes
def train(
    plan: Plan,
    data: Union[Mapping[str, Array], Path, None] = None,
    *,
    steps: int = 100,
    on_step: Optional[Callable[[Step], Optional[bool]]] = None,
    checkpoint: Optional[Path] = None,
    validation: Union[Mapping[str, Array], Path, None] = None,
    validate_every: Optional[int] = None,
    best: Optional[Path] = None,
    stop_after: Optional[int] = None,
    on_validation: Optional[Callable[[Validation], Optional[bool]]] = None,
    onnx_out: Optional[Path] = None,
    weights: Union[Mapping[str, Any], Path, None] = None,
    onnx: Union[Path, bool, None] = None,
    input_shapes: Optional[Mapping[str, Sequence[int]]] = None,
    loss_output: Optional[str] = None,
    strict: bool = True,
    resume: Optional[Path] = None,
    seed: Optional[int] = None,
    shuffle: bool = True,
    samples: Optional[int] = None,
    storage: Optional[Path] = None,
    encrypt: bool = False,
    kernels: str = "fast",
    threads: int = 1,
    learning_rate: Optional[float] = None,
    momentum: Optional[float] = None,
    beta1: Optional[float] = None,
    beta2: Optional[float] = None,
    eps: Optional[float] = None,
    weight_decay: Optional[float] = None,
    nesterov: Optional[bool] = None,
    lr_schedule: Optional[str] = None,
    lr_warmup: Optional[int] = None,
    lr_step_size: Optional[int] = None,
    lr_gamma: Optional[float] = None,
    lr_length: Optional[int] = None,
    lr_least: Optional[float] = None,
) -> Trained:
    """Trains by a plan: a Trainer, whose arguments these are from `weights` on, for `steps` steps.

    A step takes one batch of the plan's batch size: an epoch of n samples has n // batch_size steps, and leaves out the samples at its
    end that fill no batch. `shuffle` gives every epoch an order of its own, which follows from `seed`. `on_step` is called after each
    step and ends training by returning False. `checkpoint` and `onnx_out` (Trainer.save_onnx) are written at the end. A loss that is
    not finite ends training with a warning; states with values that are not finite are never written. Raises as Trainer; Ctrl-C raises
    KeyboardInterrupt after the current step.

    With `validation` data, the network is validated (Trainer.validate) every `validate_every` steps, by default after the last;
    `on_validation` is called as `on_step`. Whenever the loss is the lowest so far, a checkpoint replaces the file `best`. Training ends
    after `stop_after` validations in a row without a lower loss. The steps and the lowest loss of a resumed checkpoint count.
    """
    steps = _core.whole_number("steps", steps, 1, _MOST_STEPS)
    if validate_every is not None:
        validate_every = _core.whole_number("validate_every", validate_every, 1, _MOST_STEPS)
    if stop_after is not None:
        stop_after = _core.whole_number("stop_after", stop_after, 1, _MOST_STEPS)
    for name, called in (("on_step", on_step), ("on_validation", on_validation)):
        if called is not None and not callable(called):
            raise TypeError(f"{name}: must be a function, not {type(called).__name__}")
    if validation is None:
        for name, given in (("validate_every", validate_every), ("best", best), ("stop_after", stop_after), ("on_validation", on_validation)):
            if given is not None:
                raise InputError(name, "needs validation")
    best, checkpoint = optional_file("best", best), optional_file("checkpoint", checkpoint)
    exported = optional_file("onnx_out", onnx_out)
    check_safetensors("best", best)
    check_safetensors("checkpoint", checkpoint)
    check_onnx("onnx_out", exported)
    if best is not None and checkpoint is not None and os.path.realpath(best) == os.path.realpath(checkpoint):
        raise InputError("best", "must name another file than checkpoint")
    if exported is not None and os.path.realpath(exported) in [os.path.realpath(file) for file in (best, checkpoint) if file is not None]:
        raise InputError("onnx_out", "must name another file than best and checkpoint")
    trainer = Trainer(
        plan, data, validation=validation,
        weights=weights, onnx=onnx, input_shapes=input_shapes, loss_output=loss_output, strict=strict, resume=resume, seed=seed,
        shuffle=shuffle, samples=samples, storage=storage, encrypt=encrypt, kernels=kernels, threads=threads, learning_rate=learning_rate,
        momentum=momentum, beta1=beta1, beta2=beta2, eps=eps, weight_decay=weight_decay, nesterov=nesterov, lr_schedule=lr_schedule,
        lr_warmup=lr_warmup, lr_step_size=lr_step_size, lr_gamma=lr_gamma, lr_length=lr_length, lr_least=lr_least,
    )
    if exported is not None:
        trainer._core.check_exportable()
    trainer._core.recall_best(best, stop_after is not None)
    last = trainer.steps_done + steps
    every = validate_every or last
    done, validations = [], []
    for step in trainer.run(steps):
        done.append(step)
        goes_on = on_step is None or on_step(step) is not False
        if not math.isfinite(step.loss):
            break
        ends = validate_every is None and (step.number == last or not goes_on)
        if validation is not None and (ends or (validate_every is not None and step.number % every == 0)):
            validations.append(trainer.validate(best))
            goes_on = (on_validation is None or on_validation(validations[-1]) is not False) and goes_on
            if stop_after is not None and trainer._core.validations_since_best(every) >= stop_after:
                goes_on = False
        if not goes_on:
            break
    saved = False
    losses = np.array([step.loss for step in done], dtype=np.float32)
    state = trainer.state_dict()
    if not (np.isfinite(losses).all() and all(np.isfinite(tensor).all() for tensor in state.values())):
        # At the caller's line, behind names_mistakes().
        warnings.warn(f"training ended: {trainer._core.not_finite_note()}", stacklevel=3)
    else:
        if checkpoint is not None:
            trainer.save(checkpoint)
            saved = True
        if exported is not None:
            trainer.save_onnx(exported)
    notices = trainer._notes(best, every, checkpoint is not None, saved)
    return Trained(losses, done, state, validations, trainer.best_step, trainer.best_loss, notices)


@names_mistakes
def inputs(plan: Plan) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Returns the inputs of a plan's step: name -> element type and shape of one sample."""
    return {name: (dtype, tuple(shape)) for name, dtype, shape, _ in _core.inputs(plan._core)}


def _as_the_network_reads(plan: Plan, data: Mapping[str, Array], place: str) -> dict[str, Array]:
    """Returns contiguous arrays of the inputs' element types. Checks shapes; the library checks ranges. `place`: the argument's name."""
    arrays = {str(name): as_array(place, str(name), array) for name, array in data.items()}
    for name, (dtype, sample) in inputs(plan).items():
        array = arrays.get(name)
        if array is None:
            continue
        if array.ndim == 0 or not _is_of_shape(np.shape(array)[1:], sample):
            raise InputError(place, f"{name!r} has shape {array.shape}; one sample is {sample}")
        if np.dtype(array.dtype).kind not in ("fiub" if dtype == "float32" else "iub"):
            raise InputError(place, f"{name!r} holds {array.dtype}; the network reads {dtype}")
        converted = np.ascontiguousarray(array, dtype=dtype)
        if dtype != "float32" and not np.array_equal(converted, array):
            raise InputError(place, f"{name!r} has numbers that {dtype} cannot hold")
        arrays[name] = converted
    return arrays


def _is_of_shape(shape: tuple[int, ...], sample: tuple[int, ...]) -> bool:
    """Whether the shapes are equal, up to axes of length 1 or with one of them flat."""
    given = [size for size in shape if size != 1]
    wanted = [size for size in sample if size != 1]
    return given == wanted or (min(len(given), len(wanted)) < 2 and math.prod(given) == math.prod(wanted))
