"""A device and a graph of one's own: what a wearable with a small flash could train. In cells, for notebooks."""

# %% The device: the Cortex-M4's profile, with less RAM and a slower flash
import dataclasses

import poet

print(poet.devices())
wearable = dataclasses.replace(
    poet.Device.load("m4"),
    name="wearable",
    description="as the Cortex-M4's, with a flash of 1 MB/s",
    ram_bytes=192 * 1024,
    page_in=poet.Transfer(latency_seconds=1e-4, bytes_per_second=1e6, watts=0.01),
    page_out=poet.Transfer(latency_seconds=3e-4, bytes_per_second=4e5, watts=0.02),
    origins={"/page_in": "assumed: for this example", "/page_out": "assumed: for this example"},
)

# %% The graph: four layers, their gradients, parameters that are updated
graph = poet.Graph("four layers", wearable)
activations = [graph.op("input", bytes=16_384, flops=0, recomputable=False)]
weights = [graph.parameter(f"w{i}", 4_096) for i in range(4)]
for i in range(4):
    activations.append(graph.op(f"layer{i}", [activations[-1], weights[i]], bytes=16_384, flops=2e6))
gradient = graph.op("loss", [activations[-1]], bytes=16_384, flops=1e4)
for i in reversed(range(4)):
    change = graph.op(f"dw{i}", [gradient, activations[i]], bytes=4_096, flops=2e6, backward=True)
    gradient = graph.op(f"dx{i}", [gradient, weights[i]], bytes=16_384, flops=2e6, backward=True)
    graph.op(f"update{i}", [change, weights[i]], bytes=0, flops=2e3, updates=[weights[i]])

# %% Energy over RAM: what to keep, to recompute and to page
least = poet.solve(graph=graph, ram_budget=1).least_ram
for ram in (200_000, 90_000, 80_000, least):
    result = poet.solve(graph=graph, ram_budget=ram, runtime_budget=2)
    print(f"{ram:>7} bytes: {result!r}")

# %% The same in tables; result.plan.values().to_pandas() is a DataFrame
for value in result.plan.values():
    if value["decision"] != "kept":
        print(value["name"], value["decision"], f"{1e3 * value['ram_seconds']:.1f} ms in RAM")
