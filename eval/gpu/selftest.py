"""Checks the GPU scripts on the CPU with a tiny random model: sharing a document changes no answer.

    python gpu/selftest.py

The same questions are asked with a shared beginning and each by itself, and the second time a run is cut in the middle and
resumed. Answers and log-probabilities must agree. Needs torch and tokenizers.
"""
import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers

HERE = Path(__file__).resolve().parent


def tiny_model(folder, family):
    """Writes a model of two layers with random weights, and a tokenizer of single bytes."""
    torch.manual_seed(7)
    width, heads, kv_heads, hidden, words = 32, 4, 2, 48, 260
    sizes = {"attn_q": (width, width), "attn_k": (width // 2, width), "attn_v": (width // 2, width), "attn_output": (width, width)}
    sizes |= {"ffn_gate": (hidden, width), "ffn_up": (hidden, width), "ffn_down": (width, hidden)}
    tensors = {"token_embd.weight": torch.randn(words, width), "output_norm.weight": torch.ones(width)}
    for layer in range(2):
        tensors |= {f"blk.{layer}.{name}.weight": torch.randn(*size) / 4 for name, size in sizes.items()}
        tensors |= {f"blk.{layer}.{name}.weight": torch.ones(width) for name in ("attn_norm", "ffn_norm")}
    index, data = [], b""
    for name, tensor in tensors.items():
        raw = tensor.numpy().tobytes()
        index.append({"name": name, "type": "F32", "shape": list(tensor.shape), "offset": len(data), "bytes": len(raw)})
        data += raw
    middle = len(data) // 2 + 1
    (folder / "part-00.bin").write_bytes(data[:middle])
    (folder / "part-01.bin").write_bytes(data[middle:])
    about = {"name": "tiny", "family": family, "layers": 2, "width": width, "heads": heads, "kv_heads": kv_heads, "head_size": 8}
    about |= {"rope_base": 10000.0, "epsilon": 1e-6, "before": "<", "after": ">", "stop": ["~"], "tensors": index}
    (folder / "index.json").write_text(json.dumps(about))
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: number for number, letter in enumerate(alphabet)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.save(str(folder / "tokenizer.json"))


def prompts(path, shared):
    """Writes three documents with questions of different lengths; unshared, each question is a group of its own."""
    with gzip.open(path, "wt") as file:
        for document in range(3):
            data = f"data {document} " * (4 + 3 * document)
            asks = [{"q": f"{document}/{n}", "before": "read: ", "after": "?" * (n + 1), "answer": "ab" * (n + 1)} for n in range(4)]
            for part in [asks] if shared else [[ask] for ask in asks]:
                file.write(json.dumps({"setting": "s", "doc": str(document), "data": data, "asks": part}) + "\n")


def ask(folder, name, *options):
    command = [sys.executable, str(HERE / "ask.py"), str(folder), str(folder / "prompts.gz"), str(folder / name), "--device", "cpu", "--new", "6", *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with gzip.open(folder / name, "rt") as lines:
        return {answer["q"]: answer for answer in map(json.loads, lines)}


def main():
    """Fails with an AssertionError where answers differ."""
    for family in ("qwen2", "llama"):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            tiny_model(folder, family)
            prompts(folder / "prompts.gz", True)
            together = ask(folder, "together.gz")
            prompts(folder / "prompts.gz", False)
            alone = ask(folder, "alone.gz", "--rows", "1")
            whole = (folder / "alone.gz").read_bytes()
            (folder / "cut.gz").write_bytes(whole[: len(whole) // 2])
            resumed = ask(folder, "cut.gz", "--rows", "2")
            assert len(together) == len(alone) == len(resumed) == 12
            for key, answer in together.items():
                for other in (alone[key], resumed[key]):
                    assert answer["answer"] == other["answer"], (key, answer, other)
                    assert answer["tokens"] == other["tokens"] and abs(answer["logp"] - other["logp"]) < 1e-3, (key, answer, other)
            assert len({answer["answer"] for answer in together.values()}) > 1, "the answers should not all be the same"
            print(f"{family}: 12 answers agree")


if __name__ == "__main__":
    main()
