"""poet.torch in other people's loops: Lightning's and Hugging Face's, next to these alone, bit for bit."""

import copy
import os
import tempfile
import unittest
import warnings

from support import main
from torch_support import TorchCase, torch

os.environ["HF_HUB_OFFLINE"] = "1"
try:
    import lightning
    import transformers
except ImportError:
    lightning = None

if lightning is not None:
    import logging

    import poet.torch
    import poet.torch.huggingface
    import poet.torch.lightning

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    OPTIONS = {"ram_budget": "least", "time_limit": 2, "tolerance": 1.0}

    class Classifier(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.first, self.norm, self.drop, self.last = torch.nn.Linear(8, 500), torch.nn.BatchNorm1d(500), torch.nn.Dropout(0.2), torch.nn.Linear(500, 4)
            self.seen = []

        def training_step(self, batch, batch_idx):
            logits = self.last(self.drop(torch.relu(self.norm(self.first(batch[0])))))
            loss = torch.nn.functional.cross_entropy(logits, batch[1])
            self.log("loss", loss, on_step=True, on_epoch=True)
            if batch_idx % 4 == 0:
                self.log_dict({"accuracy": (logits.argmax(1) == batch[1]).float().mean()})
            return {"loss": loss, "logits": logits}

        def on_train_batch_end(self, outputs, batch, batch_idx):
            self.seen.append((float(outputs["loss"]), float(outputs["logits"].sum())))

        def configure_optimizers(self):
            optimizer = torch.optim.AdamW(self.parameters(), 0.01)
            return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)]


@unittest.skipIf(lightning is None, "needs lightning and transformers")
class Trainers(TorchCase):
    def expect_equal(self, module, plain):
        for (name, one), other in zip(module.state_dict().items(), plain.state_dict().values()):
            self.assertTrue(torch.equal(one, other), name)

    def test_lightning(self):
        data = torch.utils.data.TensorDataset(torch.randn(60, 8), torch.randint(0, 4, (60,)))
        for options in ({}, {"accumulate_grad_batches": 3, "gradient_clip_val": 0.1}, {"precision": "bf16-mixed"}):
            with self.subTest(options), warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
                warnings.simplefilter("ignore")
                module = Classifier()
                plain = copy.deepcopy(module)
                metrics = []
                strategy = poet.torch.lightning.Strategy(**OPTIONS)
                for each, how in ((module, {"strategy": strategy}), (plain, {"accelerator": "cpu"})):
                    torch.manual_seed(3)
                    trainer = lightning.Trainer(
                        max_epochs=2, logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False, default_root_dir=folder, **how, **options
                    )
                    trainer.fit(each, torch.utils.data.DataLoader(data, batch_size=6))
                    metrics.append({name: float(value) for name, value in trainer.callback_metrics.items()})
                self.expect_equal(module, plain)
                self.assertEqual(module.seen, plain.seen)
                self.assertEqual(*metrics)
                self.assertEqual(sorted(metrics[0]), ["accuracy", "loss", "loss_epoch", "loss_step"])
                self.assertLess(strategy.step.peak_bytes, strategy.step.keep_all_bytes)
                self.assertEqual(len(strategy.step._compiled), 2)  # with and without the accuracy

    def fit(self, module, strategy=None, **options):
        how = {"strategy": strategy} if strategy else {"accelerator": "cpu"}
        torch.manual_seed(3)
        trainer = lightning.Trainer(logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False, **how, **options)
        trainer.fit(module, torch.utils.data.DataLoader(self.data, batch_size=6))
        return trainer

    def test_lightnings_hooks_and_schedules(self):
        class Hooked(Classifier):
            def on_before_backward(self, loss):
                self.seen.append(float(loss))

            def on_after_backward(self):
                for parameter in self.parameters():
                    parameter.grad.clamp_(-1e-3, 1e-3)

        self.data = torch.utils.data.TensorDataset(torch.randn(36, 8), torch.randint(0, 4, (36,)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            strategy = poet.torch.lightning.Strategy(**OPTIONS)
            for _ in range(2):  # the second module of one strategy is not the first
                module = Hooked()
                plain = copy.deepcopy(module)
                for each, how in ((module, strategy), (plain, None)):
                    schedule = lightning.pytorch.callbacks.GradientAccumulationScheduler({0: 1, 1: 3})
                    self.fit(each, how, max_epochs=2, callbacks=[schedule])
                self.expect_equal(module, plain)
                self.assertEqual(module.seen, plain.seen)

    def test_what_lightning_logs(self):
        """Names that are made of the batch's number, and numbers in the trainer's precision."""

        class Logging(Classifier):
            def training_step(self, batch, batch_idx):
                loss = torch.nn.functional.cross_entropy(self.last(self.first(batch[0])), batch[1])
                self.log(f"loss of {batch_idx % 2}", loss)
                self.log("tenth", 0.1)
                return {"loss": loss, "logits": loss}

        self.data = torch.utils.data.TensorDataset(torch.randn(24, 8, dtype=torch.float64), torch.randint(0, 4, (24,)))
        logged = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for strategy in (poet.torch.lightning.Strategy(**OPTIONS), None):
                torch.manual_seed(2)
                trainer = self.fit(Logging(), strategy, max_epochs=1, precision="64-true")
                logged.append({name: (value.item(), value.dtype) for name, value in trainer.callback_metrics.items()})
        self.assertEqual(*logged)
        self.assertEqual(sorted(logged[0]), ["loss of 0", "loss of 1", "tenth"])

    def test_lightning_with_what_is_not_lightnings_step(self):
        class Manual(Classifier):
            def __init__(self):
                super().__init__()
                self.automatic_optimization = False

        trainer = lightning.Trainer(strategy=poet.torch.lightning.Strategy(ram_budget="70%"), max_steps=1, logger=False, enable_checkpointing=False, enable_progress_bar=False)
        data = torch.utils.data.TensorDataset(torch.randn(6, 8), torch.randint(0, 4, (6,)))
        with self.assertRaisesRegex(poet.InputError, "module: must have automatic optimization by one optimizer"):
            trainer.fit(Manual(), torch.utils.data.DataLoader(data, batch_size=6))

    def test_hugging_face(self):
        config = transformers.GPT2Config(vocab_size=50, n_embd=16, n_layer=2, n_head=2, n_positions=16, bos_token_id=1, eos_token_id=2)
        rows = [{"input_ids": row, "labels": row, "attention_mask": torch.ones(8, dtype=torch.long)} for row in torch.randint(3, 50, (24, 8))]
        for options in ({}, {"gradient_accumulation_steps": 3, "max_grad_norm": 0.1}, {"label_smoothing_factor": 0.1}, {"bf16": True}, {"gradient_checkpointing": True}):
            with self.subTest(options), tempfile.TemporaryDirectory() as folder:
                model = transformers.GPT2LMHeadModel(config)
                plain = copy.deepcopy(model)
                arguments = transformers.TrainingArguments(
                    folder, per_device_train_batch_size=4, num_train_epochs=2, learning_rate=1e-2, use_cpu=True, report_to="none", save_strategy="no", logging_steps=2, disable_tqdm=True, **options
                )
                trainer = poet.torch.huggingface.Trainer(model=model, args=arguments, train_dataset=rows, step_options=OPTIONS)
                results = []
                for each in (trainer, transformers.Trainer(model=plain, args=arguments, train_dataset=rows)):
                    torch.manual_seed(3)
                    results.append(each.train().training_loss)
                self.assertEqual(*results)
                self.expect_equal(model, plain)
                self.assertLess(trainer.step.peak_bytes, trainer.step.keep_all_bytes)
                self.assertEqual(len(trainer.step._compiled), 1)


if __name__ == "__main__":
    main()
