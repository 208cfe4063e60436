"""A decoder-only transformer (the Qwen2, Llama and Gemma 3 families) in plain torch, read from the parts of a GGUF file.

Why not a library: questions about one document share almost all of their prompt. `Model.extend` runs new tokens of many rows
against keys and values that are already there, so a document is read once and its questions are a batch beside it.

    keys and values of a row:  | document, padded | question, padded | answer … |

Padding is masked by `lengths`, so its contents never matter.
"""
import json
import math
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Callable

import torch
import torch.nn.functional as F


@dataclass(frozen=True)
class Family:
    """What the sizes of a model and the names of its tensors do not say about its layers."""

    halves: bool  # which values of a head rotate as a pair: value i with i + size / 2, or neighbours
    activation: Callable = F.silu
    scaled: bool = False  # whether embeddings are multiplied by the root of the width
    more_norms: bool = False  # whether queries, keys, and what attention and feed-forward return have norms too
    whole_every: int = 1  # every n-th layer sees the whole text, the others the last `window` tokens with a rope base of their own


FAMILIES = {
    "qwen2": Family(halves=True),
    "llama": Family(halves=False),
    "gemma3": Family(halves=True, activation=partial(F.gelu, approximate="tanh"), scaled=True, more_norms=True, whole_every=6),
}


class Parts:
    """The bytes of all parts as one."""

    def __init__(self, folder):
        self.files = sorted(Path(folder).glob("part-*.bin"))
        self.sizes = [file.stat().st_size for file in self.files]

    def read(self, offset, count):
        """Returns `count` bytes from `offset` on."""
        out = bytearray()
        for file, size in zip(self.files, self.sizes):
            if offset < size and count > len(out):
                with open(file, "rb") as data:
                    data.seek(offset)
                    out += data.read(count - len(out))
                offset = 0
            else:
                offset -= size if offset >= size else 0
        if len(out) != count:
            raise SystemExit(f"parts are missing: {len(out)} of {count} bytes of a tensor are there")
        return out


def half(data, start):
    """Returns the two bytes at `start` of each block as a float."""
    return data[:, start : start + 2].contiguous().view(torch.float16).float()


def dequantize(raw, kind, shape):
    """Returns a tensor's values as float32 from its blocks in one of GGUF's types."""
    if kind == "F32":
        return raw.view(torch.float32).reshape(shape)
    if kind == "F16":
        return raw.view(torch.float16).float().reshape(shape)
    size = {"Q8_0": 34, "Q4_0": 18, "Q4_1": 20, "Q5_0": 22, "Q4_K": 144, "Q6_K": 210}[kind]
    data = raw.reshape(-1, size)
    if kind == "Q8_0":
        return (half(data, 0) * data[:, 2:].contiguous().view(torch.int8).float()).reshape(shape)
    if kind in ("Q4_0", "Q4_1"):
        nibbles = data[:, 2 if kind == "Q4_0" else 4 :]
        values = torch.cat([nibbles & 15, nibbles >> 4], 1).float()
        scaled = half(data, 0) * (values - 8) if kind == "Q4_0" else half(data, 0) * values + half(data, 2)
        return scaled.reshape(shape)
    return {"Q5_0": _q5_0, "Q4_K": _q4_k, "Q6_K": _q6_k}[kind](data).reshape(shape)


def _q5_0(data):
    """32 values a block: a half float, four bytes with the fifth bits, sixteen bytes of nibbles."""
    bits = torch.arange(8, dtype=torch.uint8, device=data.device)
    fifth = ((data[:, 2:6, None] >> bits) & 1).reshape(-1, 32)
    nibbles = data[:, 6:]
    values = torch.cat([nibbles & 15, nibbles >> 4], 1) | (fifth << 4)
    return (values.float() - 16) * half(data, 0)


def _q4_k(data):
    """256 values a block: two half floats, twelve bytes with eight 6-bit scales and minima, 128 bytes of nibbles."""
    scales = data[:, 4:16]
    low, high, rest = scales[:, 0:4], scales[:, 4:8], scales[:, 8:12]
    scale = torch.cat([low & 63, (rest & 15) | ((low >> 6) << 4)], 1).float() * half(data, 0)
    least = torch.cat([high & 63, (rest >> 4) | ((high >> 6) << 4)], 1).float() * half(data, 2)
    nibbles = data[:, 16:].reshape(-1, 4, 1, 32)
    values = torch.cat([nibbles & 15, nibbles >> 4], 2).reshape(-1, 8, 32).float()
    return values * scale[:, :, None] - least[:, :, None]


def _q6_k(data):
    """256 values a block: 128 bytes of low nibbles, 64 bytes of high pairs of bits, sixteen 8-bit scales, a half float."""
    low = data[:, :128].reshape(-1, 2, 1, 64)
    low = torch.cat([low & 15, low >> 4], 2).reshape(-1, 8, 32)
    high = data[:, 128:192].reshape(-1, 2, 1, 32)
    high = torch.cat([(high >> shift) & 3 for shift in (0, 2, 4, 6)], 2).reshape(-1, 8, 32)
    values = (low.int() | (high.int() << 4)).reshape(-1, 16, 16).float() - 32
    scale = data[:, 192:208].contiguous().view(torch.int8).float() * half(data, 208)
    return values * scale[:, :, None]


class Model:
    """The weights and the forward pass."""

    def __init__(self, folder, device, dtype):
        self.index = json.loads((Path(folder) / "index.json").read_text())
        self.family = FAMILIES[self.index["family"]]
        self.device, self.dtype = device, dtype
        parts = Parts(folder)
        self.weights = {}
        for tensor in self.index["tensors"]:
            raw = torch.frombuffer(parts.read(tensor["offset"], tensor["bytes"]), dtype=torch.uint8).to(device)
            self.weights[tensor["name"]] = dequantize(raw, tensor["type"], tensor["shape"]).to(dtype)
        tied = "token_embd.weight" if "token_embd.weight" in self.weights else "output.weight"
        self.embedding = self.weights[tied]
        self.output = self.weights.get("output.weight", self.embedding)

    def cache(self, rows, length):
        """Returns empty keys and values for `length` tokens of `rows` rows."""
        shape = (rows, self.index["kv_heads"], length, self.index["head_size"])
        return [[torch.zeros(shape, dtype=self.dtype, device=self.device) for _ in range(2)] for _ in range(self.index["layers"])]

    def norm(self, x, name):
        """Scales by the root of the mean square, in float32."""
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.index["epsilon"])
        return wide.to(self.dtype) * self.weights[name]

    def more_norm(self, x, name):
        """Does the same in a family that has this norm as well."""
        return self.norm(x, name) if self.family.more_norms else x

    def linear(self, x, name):
        """Multiplies by a weight and adds its bias, if it has one."""
        return F.linear(x, self.weights[name + ".weight"], self.weights.get(name + ".bias"))

    def angles(self, positions, base):
        """Returns the cosines and sines by which heads rotate at these positions."""
        size = self.index["head_size"]
        steps = torch.arange(0, size, 2, dtype=torch.float32, device=self.device) / size
        angles = positions[..., None].float() * (1.0 / base**steps)
        return angles.cos()[:, None], angles.sin()[:, None]

    def turn(self, x, angles):
        """Rotates pairs of a head's values by position."""
        cos, sin = angles
        wide = x.float()
        if self.family.halves:
            a, b = wide.chunk(2, -1)
            return torch.cat([a * cos - b * sin, b * cos + a * sin], -1).to(x.dtype)
        a, b = wide[..., 0::2], wide[..., 1::2]
        return torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2).to(x.dtype)

    def read(self, tokens, cache):
        """Runs whole texts from position 0; `tokens` is padded on the right. Fills the cache and returns nothing.

        Later tokens do not change earlier ones, so padding needs no mask here.
        """
        self.run(tokens, torch.arange(tokens.shape[1], device=self.device)[None], cache, 0, None)

    def extend(self, tokens, positions, cache, start, seen):
        """Runs more tokens of each row, written to the cache from `start` on; returns their last hidden states.

        `seen` is (rows, tokens, start + tokens): what each new token may look at.
        """
        return self.run(tokens, positions, cache, start, seen)

    def run(self, tokens, positions, cache, start, seen):
        rows, count = tokens.shape
        heads, kv_heads, size = self.index["heads"], self.index["kv_heads"], self.index["head_size"]
        whole = near = self.angles(positions, self.index["rope_base"]), seen
        if self.family.whole_every > 1:
            near = self.angles(positions, self.index["window_rope_base"]), self.last_seen(seen, count)
        x = self.embedding[tokens] * (math.sqrt(self.index["width"]) if self.family.scaled else 1)
        for layer in range(self.index["layers"]):
            at = f"blk.{layer}."
            angles, seen = near if (layer + 1) % self.family.whole_every else whole
            y = self.norm(x, at + "attn_norm.weight")
            q = self.linear(y, at + "attn_q").view(rows, count, heads, size).transpose(1, 2)
            k = self.linear(y, at + "attn_k").view(rows, count, kv_heads, size).transpose(1, 2)
            q = self.turn(self.more_norm(q, at + "attn_q_norm.weight"), angles)
            k = self.turn(self.more_norm(k, at + "attn_k_norm.weight"), angles)
            v = self.linear(y, at + "attn_v").view(rows, count, kv_heads, size).transpose(1, 2)
            keys, values = cache[layer]
            keys[:, :, start : start + count], values[:, :, start : start + count] = k, v
            y = self.attend(q, keys[:, :, : start + count], values[:, :, : start + count], seen)
            y = self.linear(y.transpose(1, 2).reshape(rows, count, heads * size), at + "attn_output")
            x = x + self.more_norm(y, at + "post_attention_norm.weight")
            y = self.norm(x, at + "ffn_norm.weight")
            y = self.linear(self.family.activation(self.linear(y, at + "ffn_gate")) * self.linear(y, at + "ffn_up"), at + "ffn_down")
            x = x + self.more_norm(y, at + "post_ffw_norm.weight")
        return x

    def last_seen(self, seen, count):
        """Returns what tokens see in a layer with a window: the last tokens of those they may look at, themselves counted.

        What a token may look at is its text from the beginning, without padding, so counting it from the end gives distances.
        """
        window = self.index["window"]
        if seen is None:
            if count <= window:
                return None
            seen = torch.ones(1, count, count, dtype=torch.bool, device=self.device).tril()
        return seen & (seen.flip(-1).cumsum(-1, dtype=torch.int32).flip(-1) <= window)

    def attend(self, q, k, v, seen):
        """Attention of grouped heads; the queries of one group are more queries of the same key head, so nothing is copied."""
        rows, heads, count, size = q.shape
        groups = heads // k.shape[1]
        if seen is None:
            k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
            if hasattr(F, "scaled_dot_product_attention"):
                return F.scaled_dot_product_attention(q, k, v, is_causal=True)
            seen = torch.ones(count, count, dtype=torch.bool, device=q.device).tril()[None].expand(rows, -1, -1)
            return self.plain_attention(q, k, v, seen[:, None])
        q = q.reshape(rows, heads // groups, groups * count, size)
        seen = seen[:, None].expand(-1, groups, -1, -1).reshape(len(seen), 1, groups * count, -1)
        if hasattr(F, "scaled_dot_product_attention"):
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=seen)
        else:
            y = self.plain_attention(q, k, v, seen)
        return y.reshape(rows, heads, count, size)

    @staticmethod
    def plain_attention(q, k, v, seen):
        """The same by hand, for a torch that has no fused attention."""
        scores = (q.float() @ k.float().transpose(-1, -2)) / math.sqrt(q.shape[-1])
        return (scores.masked_fill(~seen, float("-inf")).softmax(-1) @ v.float()).to(q.dtype)

    def logits(self, hidden):
        """Returns the scores of all tokens after these hidden states."""
        return F.linear(self.norm(hidden, "output_norm.weight"), self.output).float()
