"""An image classifier is trained, then fine-tuned on other images within half of the RAM that this takes. In cells, for notebooks.

The images are made here, so that nothing has to be downloaded: ten shapes of noise, brighter in the second task.
"""

# %% The network and its plans: everything kept, and half of the RAM above the least
import numpy as np
import poet

NETWORK = dict(model="resnet14_cifar", device="a72", batch_size=8, time_limit=3)
everything = poet.solve(**NETWORK, ram_budget="1GB")
budget = everything.peak_ram // 2
tight = poet.solve(**NETWORK, ram_budget=budget)
print(f"keeping everything: {everything.peak_ram / 1e6:.1f} MB, {everything.energy:.3f} J a step")
print(f"within {budget / 1e6:.1f} MB:  {tight.energy:.3f} J, {tight.overhead:.1%} more; no plan saves more than {tight.gap:.1%} of that")
tight  # in a notebook: the plan's page

# %% What is fed to it
print(poet.inputs(tight.plan))
chance = np.random.default_rng(0)
patterns = chance.standard_normal((10, 3, 32, 32), dtype=np.float32)


def images(count, brightness):
    labels = chance.integers(0, 10, count)
    noise = chance.standard_normal((count, 3, 32, 32), dtype=np.float32)
    by_type = {"float32": patterns[labels] + 0.5 * noise + np.float32(brightness), "int32": labels}
    return {name: by_type[dtype] for name, (dtype, _) in poet.inputs(tight.plan).items()}


# %% Trained with everything kept, fine-tuned under the cap from its weights, and measured there on images that it has not seen
first = poet.train(everything.plan, images(256, 0.0), steps=30, learning_rate=0.02)
tuned = poet.train(tight.plan, images(128, 0.5), weights=first.state_dict, steps=30, learning_rate=0.01, validation=images(64, 0.5), validate_every=10)
print(f"loss {first.losses[0]:.2f} -> {first.losses[-5:].mean():.2f}, then {tuned.losses[0]:.2f} -> {tuned.losses[-5:].mean():.2f}")
for found in tuned.validations:
    print(f"after step {found.step}: loss {found.loss:.2f}, {found.accuracy:.0%} right of the unseen images")

# %% The cap changes no bit: the same fine-tuning with everything kept
data = images(64, 0.5)
capped, free = (poet.train(plan, data, weights=first.state_dict, steps=3) for plan in (tight.plan, everything.plan))
assert np.array_equal(capped.losses, free.losses)
assert all(np.array_equal(capped.state_dict[name], free.state_dict[name]) for name in free.state_dict)
print("equal in every bit with and without the cap")
