"""Checks the GPU scripts on the CPU with a tiny random model: sharing a document changes no answer.

    python gpu/selftest.py

The same questions are asked with a shared beginning and each by itself, and the second time a run is cut in the middle and
resumed. Answers and log-probabilities must agree. A window, a block of 5-bit values and a tokenizer with scores are compared with
what they are by definition. Needs torch, tokenizers and gguf.
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
sys.path.insert(0, str(HERE))
from model import FAMILIES, Model, dequantize  # noqa: E402
from prepare_model import plain, tokenizer as rebuilt  # noqa: E402

WINDOW = 20  # tokens, less than every document has


def tiny_model(folder, family):
    """Writes a model with random weights, one layer more than its pattern has, and a tokenizer of single bytes."""
    torch.manual_seed(7)
    width, heads, kv_heads, hidden, words, layers = 32, 4, 2, 48, 260, FAMILIES[family].whole_every + 1
    sizes = {"attn_q": (width, width), "attn_k": (width // 2, width), "attn_v": (width // 2, width), "attn_output": (width, width)}
    sizes |= {"ffn_gate": (hidden, width), "ffn_up": (hidden, width), "ffn_down": (width, hidden)}
    tensors = {"token_embd.weight": torch.randn(words, width), "output_norm.weight": torch.ones(width)}
    norms = {"attn_norm": width, "ffn_norm": width}
    if FAMILIES[family].more_norms:
        norms |= {"attn_q_norm": 8, "attn_k_norm": 8, "post_attention_norm": width, "post_ffw_norm": width}
    for layer in range(layers):
        tensors |= {f"blk.{layer}.{name}.weight": torch.randn(*size) / 4 for name, size in sizes.items()}
        tensors |= {f"blk.{layer}.{name}.weight": torch.rand(size) * 8 if name.startswith("post") else torch.ones(size) for name, size in norms.items()}
    index, data = [], b""
    for name, tensor in tensors.items():
        raw = tensor.numpy().tobytes()
        index.append({"name": name, "type": "F32", "shape": list(tensor.shape), "offset": len(data), "bytes": len(raw)})
        data += raw
    middle = len(data) // 2 + 1
    (folder / "part-00.bin").write_bytes(data[:middle])
    (folder / "part-01.bin").write_bytes(data[middle:])
    about = {"name": "tiny", "family": family, "layers": layers, "width": width, "heads": heads, "kv_heads": kv_heads, "head_size": 8}
    about |= {"window": WINDOW, "window_rope_base": 1000.0} if FAMILIES[family].whole_every > 1 else {}
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


def check_window(folder):
    """Compares what a layer with a window sees, padding between its tokens, with distances of positions."""
    model = Model(folder, "cpu", torch.float32)
    first, more, most = torch.tensor([9, 30, 41]), 5, 41
    places = torch.cat([torch.arange(most).expand(3, -1), first[:, None] + torch.arange(more)], 1)
    held = torch.cat([torch.arange(most) < first[:, None], torch.ones(3, more, dtype=torch.bool)], 1)
    distance = places[:, most:, None] - places[:, None]
    seen = held[:, None] & (distance >= 0)
    assert torch.equal(model.last_seen(seen, more), seen & (distance < WINDOW)), "a window after padding"
    distance = torch.arange(most)[:, None] - torch.arange(most)
    assert torch.equal(model.last_seen(None, most)[0], (distance >= 0) & (distance < WINDOW)), "a window in a whole text"
    assert model.last_seen(None, WINDOW) is None, "a text no longer than the window"


def check_five_bits():
    """Compares a block of 5-bit values with the values it was made of."""
    values = [(7 * number) % 32 for number in range(32)]
    fifth = sum((value >> 4) << number for number, value in enumerate(values)).to_bytes(4, "little")
    nibbles = bytes((values[number] & 15) | ((values[number + 16] & 15) << 4) for number in range(16))
    block = bytearray(torch.tensor([0.5], dtype=torch.float16).numpy().tobytes() + fifth + nibbles)
    found = dequantize(torch.frombuffer(block, dtype=torch.uint8), "Q5_0", [1, 32])
    assert found.tolist() == [[(value - 16) / 2 for value in values]], found


def check_scores():
    """Compares the tokens of a tokenizer with scores: the best merge first, bytes for what it does not know, line feeds as they are."""
    controls, letters = ["<unk>", "<bos>", "<eos>"], ["a", "b", "c", "\u2581"]
    merged = ["bc", "ab", "\u2581a"]  # `bc` has a better score than `ab`
    tokens = controls + ["\n", "\n\n"] + [f"<0x{byte:02X}>" for byte in range(256)] + letters + merged
    fields = {f"tokenizer.ggml.{name}": value for name, value in {
        "model": "llama", "tokens": tokens, "token_type": [3] * 3 + [4] * 2 + [6] * 256 + [1] * 7, "add_space_prefix": False,
        "scores": [0.0] * 261 + [-float(rank) for rank in range(7)], "unknown_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
    }.items()}
    made = rebuilt(fields)
    text = "abc a\n\n\u00e9 ab"
    found = made.encode("<bos>" + text, add_special_tokens=False)
    wanted = ["<bos>", "a", "bc", "\u2581a", "\n\n", "<0xC3>", "<0xA9>", "\u2581", "ab"]
    assert [tokens[token] for token in found.ids] == wanted, found.tokens
    assert made.decode(found.ids) == text, made.decode(found.ids)
    assert plain(fields)["stop"] == ["<eos>", "\n", "\n\n"]


def main():
    """Fails with an AssertionError where answers, or what is checked by definition, differ."""
    check_five_bits()
    check_scores()
    for family in FAMILIES:
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
            if FAMILIES[family].whole_every > 1:
                check_window(folder)
            print(f"{family}: 12 answers agree")


if __name__ == "__main__":
    main()
