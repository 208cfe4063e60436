"""Asks a model every question of a prompts file on a GPU: greedy answers, and the log-probability of the right ones.

    python gpu/ask.py MODEL PROMPTS.jsonl.gz OUT.jsonl.gz [--only SETTING,…] [--seconds 540] [--device cuda]

MODEL is a folder made by prepare_model.py. Each line of the output is one answer: the setting, the question, the answer given,
the tokens of the prompt, and the mean log-probability a token of the right answer. A run that is cut off, or that stops at
--seconds, goes on where it was when the same command is given again: OUT gains lines and loses none.
"""
import argparse
import gzip
import json
import sys
import time
import zlib
from pathlib import Path

import torch
from tokenizers import Tokenizer

sys.path.insert(0, str(Path(__file__).resolve().parent))
from model import Model  # noqa: E402

READ_AT_ONCE = 200_000  # tokens of documents in one forward pass, which bounds what its layers hold


def main():
    """Asks what has not been answered yet, setting by setting, in the order of the prompts file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("model")
    parser.add_argument("prompts")
    parser.add_argument("out")
    parser.add_argument("--only", help="settings, separated by commas")
    parser.add_argument("--seconds", type=float, default=540, help="stop before a batch that would begin later than this")
    parser.add_argument("--tokens", type=int, default=800_000, help="keys and values of a batch")
    parser.add_argument("--rows", type=int, default=1024, help="prompts of a batch")
    parser.add_argument("--new", type=int, default=40, help="tokens of an answer at most")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--limit", type=int, help="groups a setting at most, for a first look")
    options = parser.parse_args()
    started = time.time()
    asker = Asker(options)
    done = answered(options.out)
    print(f"model read in {time.time() - started:.1f} s, {len(done)} answers are there already", flush=True)
    by_setting = {}
    with gzip.open(options.prompts, "rt", encoding="utf-8") as lines:
        for line in lines:
            group = json.loads(line)
            by_setting.setdefault(group["setting"], []).append(group)
    wanted = options.only.split(",") if options.only else list(by_setting)
    for setting in wanted:
        if not asker.ask(setting, by_setting[setting][: options.limit], done, started):
            print("out of time; the same command goes on from here", flush=True)
            break
    print(f"{len(answered(options.out))} answers after {time.time() - started:.0f} s", flush=True)


def answered(path):
    """Returns the (setting, question) pairs that the output holds, and cuts off a broken last block."""
    done, kept = set(), 0
    if not Path(path).exists():
        return done
    data = Path(path).read_bytes()
    while kept < len(data):
        member = zlib.decompressobj(31)
        try:
            text = member.decompress(data[kept:])
        except zlib.error:
            break
        if not member.eof:
            break
        done.update((answer["setting"], answer["q"]) for answer in map(json.loads, text.decode().splitlines()))
        kept = len(data) - len(member.unused_data)
    Path(path).write_bytes(data[:kept])
    return done


class Asker:
    """The model, its tokenizer and the limits of a batch."""

    def __init__(self, options):
        self.options = options
        dtype = torch.bfloat16 if options.device.startswith("cuda") else torch.float32
        self.model = Model(options.model, options.device, dtype)
        self.tokenizer = Tokenizer.from_file(str(Path(options.model) / "tokenizer.json"))
        index = self.model.index
        self.before, self.after, self.lead = index["before"], index["after"], index.get("lead", "")
        self.stop = [self.tokenizer.token_to_id(token) for token in index["stop"]]
        self.stop = [token for token in self.stop if token is not None]

    def ask(self, setting, groups, done, started):
        """Asks all questions of a setting; returns False if there was no time for some."""
        jobs = []
        for group in groups:
            asks = [ask for ask in group["asks"] if (setting, ask["q"]) not in done]
            if asks:
                jobs.append(self.job(group["data"], asks))
        jobs = [part for job in jobs for part in self.shared(job)]
        jobs.sort(key=lambda job: -len(job["prefix"]))
        begun, prompts, tokens = time.time(), 0, 0
        while jobs:
            if time.time() - started > self.options.seconds:
                return False
            batch, jobs = self.batch_of(jobs)
            answers = self.answer(batch)
            lines = [json.dumps({"setting": setting, **answer}, ensure_ascii=False) for answer in answers]
            with open(self.options.out, "ab") as file:
                file.write(gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0))
            prompts += len(answers)
            tokens += sum(answer["tokens"] for answer in answers)
        if prompts:
            spent = time.time() - begun
            peak = torch.cuda.max_memory_allocated() / 2**30 if self.options.device.startswith("cuda") else 0
            print(f"{setting}: {prompts} prompts, {tokens} tokens, {spent:.1f} s, peak {peak:.0f} GiB", flush=True)
        return True

    def job(self, data, asks):
        texts = [self.before + ask["before"] + data + ask["after"] + self.after for ask in asks]
        ids = [encoded.ids for encoded in self.tokenizer.encode_batch(texts, add_special_tokens=False)]
        right = [self.tokenizer.encode(self.lead + ask["answer"], add_special_tokens=False).ids + self.stop[:1] for ask in asks]
        return [{"q": ask["q"], "ids": tokens, "right": answer} for ask, tokens, answer in zip(asks, ids, right)]

    @staticmethod
    def shared(rows):
        """Returns jobs that share a beginning: all rows in one if that is most of their prompt, else each by itself."""
        shortest = min(len(row["ids"]) for row in rows) - 1
        common = 0
        while common < shortest and all(row["ids"][common] == rows[0]["ids"][common] for row in rows):
            common += 1
        if common > 0.5 * shortest:
            return [{"prefix": rows[0]["ids"][:common], "rows": rows}]
        return [{"prefix": row["ids"][:-1], "rows": [row]} for row in rows]

    def batch_of(self, jobs):
        """Takes as many jobs as fit into a batch's limits, at least one."""
        taken, rows = 0, 0
        longest = len(jobs[0]["prefix"]) + 160
        while taken < len(jobs):
            more = rows + len(jobs[taken]["rows"])
            if taken and (more > self.options.rows or more * longest > self.options.tokens):
                break
            rows, taken = more, taken + 1
        return jobs[:taken], jobs[taken:]

    def padded(self, lists):
        """Returns token lists as one tensor, padded on the right, and their lengths."""
        longest = max(map(len, lists))
        out = torch.zeros((len(lists), longest), dtype=torch.long)
        for row, tokens in enumerate(lists):
            out[row, : len(tokens)] = torch.tensor(tokens, dtype=torch.long)
        lengths = torch.tensor([len(tokens) for tokens in lists], device=self.options.device)
        return out.to(self.options.device), lengths

    @torch.no_grad()
    def answer(self, jobs):
        """Answers a batch: documents once, then their questions beside each other, then the answers token by token."""
        model, device = self.model, self.options.device
        prefix, prefix_lengths = self.padded([job["prefix"] for job in jobs])
        documents = model.cache(len(jobs), prefix.shape[1])
        step = max(1, READ_AT_ONCE // prefix.shape[1])
        for start in range(0, len(jobs), step):
            part = [[tensor[start : start + step] for tensor in layer] for layer in documents]
            model.read(prefix[start : start + step], part)
        rows = [row for job in jobs for row in job["rows"]]
        owner = torch.tensor([number for number, job in enumerate(jobs) for _ in job["rows"]], device=device)
        tails, tail_lengths = self.padded([row["ids"][len(job["prefix"]) :] for job in jobs for row in job["rows"]])
        right, right_lengths = self.padded([row["right"] for row in rows])
        p, t, new = prefix.shape[1], tails.shape[1], max(right.shape[1], self.options.new)
        cache = model.cache(len(rows), p + t + new)
        for mine, theirs in zip(cache, documents):
            for part in range(2):
                mine[part][:, :, :p] = theirs[part][owner]
        del documents
        lengths = prefix_lengths[owner]
        in_prefix = torch.arange(p, device=device)[None] < lengths[:, None]
        steps = torch.arange(t, device=device)
        seen = torch.cat([in_prefix[:, None].expand(-1, t, -1), (steps[:, None] >= steps[None]).expand(len(rows), t, t)], 2)
        hidden = model.extend(tails, lengths[:, None] + steps[None], cache, p, seen)
        first = model.logits(hidden[torch.arange(len(rows), device=device), tail_lengths - 1])
        held = torch.cat([in_prefix, steps[None] < tail_lengths[:, None]], 1)
        end = lengths + tail_lengths
        likely = self.forced(right, right_lengths, first, held, end, cache, p + t)
        given = self.greedy(first, held, end, cache, p + t)
        found = []
        for row, tokens, chance, length in zip(rows, given, likely, end.tolist()):
            text = self.tokenizer.decode(tokens)
            found.append({"q": row["q"], "answer": text, "tokens": length, "logp": round(chance, 4)})
        return found

    def forced(self, right, lengths, first, held, end, cache, start):
        """Returns the mean log-probability a token of each right answer, its end not counted."""
        count = right.shape[1]
        steps = torch.arange(count, device=right.device)
        seen = torch.cat([held[:, None].expand(-1, count, -1), (steps[:, None] >= steps[None]).expand(len(right), count, count)], 2)
        hidden = self.model.extend(right, end[:, None] + steps[None], cache, start, seen)
        chances = [torch.log_softmax(first, -1).gather(1, right[:, :1])]
        for step in range(1, count):
            scores = torch.log_softmax(self.model.logits(hidden[:, step - 1]), -1)
            chances.append(scores.gather(1, right[:, step : step + 1]))
        counted = steps[None] < (lengths - 1)[:, None]
        return ((torch.cat(chances, 1) * counted).sum(1) / counted.sum(1).clamp(min=1)).tolist()

    def greedy(self, first, held, end, cache, start):
        """Returns the tokens of each answer, the most likely one at each step, up to a stop token."""
        stop = torch.tensor(self.stop, device=first.device)
        token = first.argmax(-1)
        given = [token]
        over = torch.isin(token, stop)
        for step in range(self.options.new - 1):
            if bool(over.all()):
                break
            held = torch.cat([held, torch.ones_like(held[:, :1])], 1)
            hidden = self.model.extend(token[:, None], (end + step)[:, None], cache, start + step, held[:, None])
            token = self.model.logits(hidden[:, 0]).argmax(-1)
            given.append(token)
            over |= torch.isin(token, stop)
        answers = []
        for row in torch.stack(given, 1).tolist():
            ends = [index for index, token in enumerate(row) if token in self.stop]
            answers.append(row[: ends[0]] if ends else row)
        return answers


if __name__ == "__main__":
    main()
