"""Ten million encodes with flat memory, and two processes of eight threads without cross-talk. `endurance.py [ENCODES]`"""

import json
import multiprocessing
import resource
import sys
import threading

import stc

DOCUMENTS = [json.dumps([{"id": n, "state": "open"} for n in range(size)]) for size in (1, 3, 10)]


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize() // 1024


def flat_memory(encodes):
    expected = [stc.encode(document) for document in DOCUMENTS]
    for turn in range(encodes // 10):
        stc.encode(DOCUMENTS[turn % 3])
    warm = resident()
    for turn in range(encodes - encodes // 10):
        if turn % 100_000 == 0:
            try:
                stc.decode("[1")
            except stc.STCError:
                pass
        if stc.encode(DOCUMENTS[turn % 3]) != expected[turn % 3]:
            sys.exit(f"encode {turn}: other bytes")
    grown = resident() - warm
    print(f"{encodes:,} encodes: memory grew by {grown} KiB after the first tenth ({warm} KiB)")
    if grown > 1024:
        sys.exit("memory is not flat")


def threads(seed):
    wrong = []

    def convert(thread):
        for turn in range(3000):
            number = seed * 100_000_000 + thread * 1_000_000 + turn
            rows = [{"id": number, "n": n, "state": "open"} for n in range(1 + number % 40)]
            text = stc.dumps(rows, stc.FORMATS[number % 5])
            if stc.loads(text) != rows:
                wrong.append(number)

    all_threads = [threading.Thread(target=convert, args=(thread,)) for thread in range(8)]
    for thread in all_threads:
        thread.start()
    for thread in all_threads:
        thread.join()
    if wrong:
        sys.exit(f"wrong: {wrong[:5]}")


if __name__ == "__main__":
    flat_memory(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
    processes = [multiprocessing.Process(target=threads, args=(seed,)) for seed in (1, 2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        sys.exit("a process failed")
    print("two processes of eight threads, 3,000 documents each: all came back")
