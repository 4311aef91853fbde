"""A network as an ONNX file, by the exporter that every version of PyTorch from 1.13 on has."""

import inspect
import warnings

from torch_or_skip import need

need("torch")
import torch  # noqa: E402

# From 2.9 on the default is another one, which needs onnxscript, leaves training mode and puts weights into a second file.
OPTIONS = {"dynamo": False} if "dynamo" in inspect.signature(torch.onnx.export).parameters else {}


def export(network, inputs, file, opset=13, training="TRAINING", folding=False, **options):
    """Its warnings are not about the file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(network, inputs, file, opset_version=opset, do_constant_folding=folding,
                          training=getattr(torch.onnx.TrainingMode, training), **OPTIONS, **options)
