"""poet.torch: architectures of transformers, adapters of PEFT: the same bits as PyTorch's, and never more bytes than planned."""

import copy
import os
import unittest

from support import main
from torch_support import TorchCase, enough, torch

os.environ["HF_HUB_OFFLINE"] = "1"
try:
    import peft
    import transformers
except ImportError:
    transformers = None

if transformers is not None:
    import poet.torch
    from poet.torch.device import allocations
    from poet.torch.tensors import storage_of


def loss_of(module, batch):
    return module(**batch).loss


def tokens(vocabulary=50, length=8):
    return torch.randint(3, vocabulary, (2, length))


@unittest.skipIf(transformers is None, "needs transformers and peft")
class Architectures(TorchCase):
    def trains(self, module, batch, forward=loss_of):
        module.train()
        optimizer = torch.optim.AdamW(module.parameters(), 1e-3)
        step = poet.torch.compile_step(module, None, optimizer, batch, forward=forward, ram_budget="least", time_limit=2, progress=enough)
        self.assertIsNone(step.unchecked)
        for _ in range(2):
            self.assertEqual(step.verify(batch), [])
            step(batch)
        self.assertEqual(len(step._compiled), 1)  # nothing that it reads changes from step to step
        states = [each for state in optimizer.state.values() for each in state.values() if isinstance(each, torch.Tensor)]
        held = {storage_of(t).data_ptr(): storage_of(t).nbytes() for t in (*module.parameters(), *module.buffers(), *batch.values(), *states)}
        _, peak = allocations(lambda: step(batch))
        self.assertLessEqual(sum(held.values()) + peak, step.peak_bytes)

    def language(self, kind, **more):
        """A model of the kind, with two layers of width 16, and a batch for it."""
        sizes = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2, "intermediate_size": 32,
                 "max_position_embeddings": 16, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}  # fmt: skip
        config = getattr(transformers, f"{kind}Config")(**{**sizes, **more})
        ids = tokens()
        head = "LMHeadModel" if kind == "GPT2" else "ForCausalLM"
        return getattr(transformers, kind + head)(config), {"input_ids": ids, "labels": ids}

    def test_language_models(self):
        for kind, more in (
            ("GPT2", {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 16}), ("Llama", {}), ("Qwen2", {}), ("Mistral", {}), ("Gemma", {"head_dim": 8}), ("Phi", {}),
            ("OPT", {"ffn_dim": 32, "word_embed_proj_dim": 16}), ("GPTNeoX", {}), ("Mamba", {"state_size": 4}),
        ):  # fmt: skip
            with self.subTest(kind):
                torch.manual_seed(0)
                self.trains(*self.language(kind, **more))

    def test_masks_are_followed(self):
        model, batch = self.language("Llama")
        batch["attention_mask"] = torch.tensor([[1] * 8, [1] * 5 + [0] * 3])
        self.trains(model, batch)

    def test_encoders(self):
        sizes = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32, "max_position_embeddings": 20, "num_labels": 3}
        for kind, more in (("Bert", {}), ("Roberta", {}), ("DistilBert", {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32}), ("Electra", {"embedding_size": 16})):
            with self.subTest(kind):
                torch.manual_seed(0)
                config = getattr(transformers, f"{kind}Config")(**{**sizes, **more})
                model = getattr(transformers, f"{kind}ForSequenceClassification")(config)
                self.trains(model, {"input_ids": tokens(), "labels": torch.randint(0, 3, (2,))})

    def test_vision_speech_and_translation(self):
        torch.manual_seed(0)
        images = {"pixel_values": torch.randn(2, 3, 16, 16), "labels": torch.randint(0, 3, (2,))}
        sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32, "image_size": 16, "patch_size": 4, "num_labels": 3}
        t5 = transformers.T5Config(vocab_size=50, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, decoder_start_token_id=0, pad_token_id=0)
        whisper = transformers.WhisperConfig(
            vocab_size=50, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32,
            num_mel_bins=8, max_source_positions=10, max_target_positions=12, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1, begin_suppress_tokens=None,
        )  # fmt: skip
        for model, batch in (
            (transformers.ViTForImageClassification(transformers.ViTConfig(**sizes)), images),
            (transformers.ResNetForImageClassification(transformers.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], num_labels=3, layer_type="basic")), images),
            (transformers.T5ForConditionalGeneration(t5), {"input_ids": tokens(), "labels": tokens()}),
            (transformers.WhisperForConditionalGeneration(whisper), {"input_features": torch.randn(2, 8, 20), "labels": tokens(length=6)}),
        ):
            with self.subTest(type(model).__name__):
                self.trains(model, batch)

    def test_adapters(self):
        model, batch = self.language("GPT2", n_embd=16, n_layer=2, n_head=2, n_positions=16)
        for config in (
            peft.LoraConfig(task_type="CAUSAL_LM", r=2, lora_dropout=0.1, target_modules=["c_attn"], fan_in_fan_out=True),
            peft.IA3Config(task_type="CAUSAL_LM", target_modules=["c_attn"], feedforward_modules=[], fan_in_fan_out=True),
            peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=2),
        ):
            with self.subTest(type(config).__name__):
                self.trains(peft.get_peft_model(copy.deepcopy(model), config), batch)


if __name__ == "__main__":
    main()
