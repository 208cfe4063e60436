"""Splits a GGUF file into parts that can be carried to another machine, with its tokenizer and an index.

    python gpu/prepare_model.py MODEL.gguf OUT [--part-bytes 45000000]

OUT gets part-00.bin, part-01.bin, …, index.json (sizes of the model, its tensors and where they stand, the words around a
prompt, the digest of the GGUF file) and tokenizer.json. Where a model ties its embedding to its output and the file
holds both, only the output is carried: it is the better quantisation of the two.
"""
import argparse
import hashlib
import itertools
import json
from pathlib import Path

from gguf import GGUFReader
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

_SPLITS = {
    "qwen2": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
}
_NORMAL, _CONTROL, _USER_DEFINED, _BYTE = 1, 3, 4, 6
_FAMILIES = {  # the fields of the index that a family has besides those of every model
    "qwen2": lambda fields: {},
    "llama": lambda fields: {},
    "gemma3": lambda fields: {
        "window": fields["gemma3.attention.sliding_window"],
        "window_rope_base": fields.get("gemma3.rope.freq_base_swa", 10000.0),
    },
}


def main():
    """Writes the parts, the index and the tokenizer."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("gguf", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--part-bytes", type=int, default=45_000_000)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    reader = GGUFReader(options.gguf)
    fields = {name: field.contents() for name, field in reader.fields.items()}
    index = describe(fields)
    index["digest"] = hashlib.sha256(options.gguf.read_bytes()).hexdigest()
    index["tensors"], index["parts"] = split(reader.tensors, options.out, options.part_bytes)
    (options.out / "index.json").write_text(json.dumps(index, indent=1))
    tokenizer(fields).save(str(options.out / "tokenizer.json"), pretty=False)
    print(f"{index['parts']} parts, {sum(tensor['bytes'] for tensor in index['tensors']):,} bytes")


def describe(fields):
    """Returns the sizes of a model and the words around a prompt."""
    family = fields["general.architecture"]
    if family not in _FAMILIES:
        raise SystemExit(f"the model's family is {family}; {', '.join(_FAMILIES)} are supported")
    heads = fields[f"{family}.attention.head_count"]
    width = fields[f"{family}.embedding_length"]
    return {
        "name": fields["general.name"],
        "family": family,
        "layers": fields[f"{family}.block_count"],
        "width": width,
        "heads": heads,
        "kv_heads": fields[f"{family}.attention.head_count_kv"],
        "head_size": fields.get(f"{family}.attention.key_length", width // heads),
        "rope_base": fields[f"{family}.rope.freq_base"],
        "epsilon": fields[f"{family}.attention.layer_norm_rms_epsilon"],
        **_FAMILIES[family](fields),
        **(chat(fields) if "tokenizer.chat_template" in fields else plain(fields)),
    }


def chat(fields):
    """Returns the words around a message in ChatML."""
    template = fields["tokenizer.chat_template"]
    if "<|im_start|>" not in template:
        raise SystemExit("the model's chat template is not ChatML")
    system = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."
    if "named SmolLM" in template:
        system = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
    elif system not in template:
        system = "You are a helpful assistant."
    return {
        "prompt": "ChatML",
        "before": f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n",
        "after": "<|im_end|>\n<|im_start|>assistant\n",
        "lead": "",
        "stop": ["<|im_end|>", "<|endoftext|>"],
    }


def plain(fields):
    """Returns the words around a prompt of a model without a chat template, which continues a text: an answer is one line."""
    tokens = fields["tokenizer.ggml.tokens"]
    return {
        "prompt": "plain text that ends with `Answer:`, the answer up to the first line feed",
        "before": tokens[fields["tokenizer.ggml.bos_token_id"]],
        "after": "\nAnswer:",
        "lead": " ",
        "stop": [tokens[fields["tokenizer.ggml.eos_token_id"]], *(token for token in tokens if "\n" in token)],
    }


def split(tensors, out, part_bytes):
    """Writes the tensors' bytes one after the other, cut into parts; returns their index and the number of parts."""
    names = {tensor.name for tensor in tensors}
    index, offset, part, room, file = [], 0, 0, 0, None
    for tensor in tensors:
        if tensor.name == "token_embd.weight" and "output.weight" in names:
            continue
        data = memoryview(tensor.data.tobytes())
        shape = [int(size) for size in reversed(tensor.shape)]
        index.append({"name": tensor.name, "type": tensor.tensor_type.name, "shape": shape, "offset": offset, "bytes": len(data)})
        offset += len(data)
        while len(data):
            if room == 0:
                if file:
                    file.close()
                file, room = open(out / f"part-{part:02d}.bin", "wb"), part_bytes
                part += 1
            written = min(room, len(data))
            file.write(data[:written])
            data, room = data[written:], room - written
    file.close()
    return index, part


def tokenizer(fields):
    """Returns the model's tokenizer, rebuilt from the lists in the GGUF file."""
    kinds = {"gpt2": byte_level, "llama": sentence_piece}
    kind = fields["tokenizer.ggml.model"]
    if kind not in kinds:
        raise SystemExit(f"the tokenizer is {kind}; {' and '.join(kinds)} are supported")
    made = kinds[kind](fields)
    tokens = fields["tokenizer.ggml.tokens"]
    added = [(kind, token) for token, kind in zip(tokens, fields["tokenizer.ggml.token_type"]) if kind in (_CONTROL, _USER_DEFINED)]
    for kind, group in itertools.groupby(added, key=lambda pair: pair[0]):  # in their order, which numbers them
        add = made.add_special_tokens if kind == _CONTROL else made.add_tokens  # a decoder leaves out special tokens
        add([AddedToken(token, normalized=False) for _, token in group])
    for _, token in added:
        if tokens[made.token_to_id(token)] != token:
            raise SystemExit(f"the token {token!r} did not get its own number")
    return made


def byte_level(fields):
    """Returns a byte-level BPE."""
    tokens, kinds = fields["tokenizer.ggml.tokens"], fields["tokenizer.ggml.token_type"]
    vocabulary = {token: index for index, (token, kind) in enumerate(zip(tokens, kinds)) if kind == _NORMAL}
    kind = fields["tokenizer.ggml.pre"]
    merges = [tuple(merge.split(" ")) for merge in fields["tokenizer.ggml.merges"]]
    if kind == "smollm":  # control tokens come first here, and the model's vocabulary must know them
        vocabulary.update({token: index for index, (token, kind) in enumerate(zip(tokens, kinds)) if kind != _NORMAL})
    made = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    if kind == "qwen2":
        made.normalizer = normalizers.NFC()
        first = pre_tokenizers.Split(Regex(_SPLITS["qwen2"]), behavior="isolated", invert=False)
        made.pre_tokenizer = pre_tokenizers.Sequence([first, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    elif kind == "smollm":
        digits = pre_tokenizers.Digits(individual_digits=True)
        made.pre_tokenizer = pre_tokenizers.Sequence([digits, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)])
    else:
        raise SystemExit(f"the tokenizer's kind is {kind}; qwen2 and smollm are supported")
    made.decoder = decoders.ByteLevel()
    return made


def sentence_piece(fields):
    """Returns a BPE of characters with a score a token: of two neighbours, those whose token has the best score merge first.

    The file has no merges. They follow from the scores: every split of a token into two others, the best token first.
    """
    tokens, kinds = fields["tokenizer.ggml.tokens"], fields["tokenizer.ggml.token_type"]
    if fields["tokenizer.ggml.add_space_prefix"]:
        raise SystemExit("a tokenizer that puts a space before a text is not supported")
    vocabulary = {token: index for index, token in enumerate(tokens)}
    normal = {token for token, kind in zip(tokens, kinds) if kind == _NORMAL}
    best_first = sorted(normal, key=lambda token: (-fields["tokenizer.ggml.scores"][vocabulary[token]], vocabulary[token]))
    merges = []
    for token in best_first:
        splits = ((token[:at], token[at:]) for at in range(1, len(token)))
        merges += [pair for pair in splits if pair[0] in normal and pair[1] in normal]
    unknown = tokens[fields["tokenizer.ggml.unknown_token_id"]]
    made = Tokenizer(models.BPE(vocab=vocabulary, merges=merges, unk_token=unknown, fuse_unk=True, byte_fallback=kinds.count(_BYTE) == 256))
    made.normalizer = normalizers.Replace(" ", "\u2581")
    made.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()])
    return made


if __name__ == "__main__":
    main()
