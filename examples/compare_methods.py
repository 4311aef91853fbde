"""What published methods need for the same network, over RAM; as a table, and as a picture where matplotlib is. In cells, for notebooks."""

# %% Budgets between the least and everything, on the paper's own instance
import poet

graph = poet.Graph.published("resnet18_cifar", "m4")
METHODS = ["chen-sqrt", "checkmate", "capuchin", "poet"]
whole = poet.solve(graph=graph, ram_budget=1 << 40)
budgets = [int(part * whole.peak_ram) for part in (0.4, 0.6, 0.8)]

# %% Every plan is judged by the same verifier
rows = []
for budget in budgets:
    for row in poet.compare(graph=graph, ram_budget=budget, methods=METHODS, time_limit=2):
        rows.append({"ram": budget, **row})
        energy = "no plan" if row["verdict"] != "holds" else f"{row['energy_joules']:.4g} J, {row['overhead']:.1%} over"
        print(f"{budget / 1e6:6.2f} MB  {row['title']:<24} {energy}")

# %% pandas.DataFrame(rows) has them as a table; a picture:
try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    print("matplotlib is not installed: no picture")
else:
    for method in METHODS:
        points = [(row["ram"] / 1e6, 100 * row["overhead"]) for row in rows if row["method"] == method and row["verdict"] == "holds"]
        if points:
            plt.plot(*zip(*points), marker="o", label=method)
    plt.xlabel("RAM in MB")
    plt.ylabel("energy over everything kept, %")
    plt.legend()
    plt.savefig("methods.svg")
