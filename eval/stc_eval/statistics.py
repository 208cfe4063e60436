"""Means and intervals: documents are resampled, because questions about one document are not independent.

The interval of a difference is that of a paired comparison: in each of the drawn sets of documents both settings answer the same
questions. The generator is seeded, so a report is the same bytes each time.
"""
import math
import random

DRAWS = 2000


def mean(values):
    """Returns the mean, or 0 for none."""
    values = list(values)
    return sum(values) / len(values) if values else 0.0


def interval(by_document, seed, draws=DRAWS):
    """Returns the mean over all values and its 95 % interval; `by_document` maps a document to its values."""
    totals = [(sum(values), len(values)) for values in by_document.values() if values]
    if not totals:
        return 0.0, 0.0, 0.0
    centre = sum(total for total, _ in totals) / sum(count for _, count in totals)
    rng = random.Random(f"interval/{seed}/{len(totals)}")
    drawn = []
    for _ in range(draws):
        picked = rng.choices(totals, k=len(totals))
        drawn.append(sum(total for total, _ in picked) / sum(count for _, count in picked))
    drawn.sort()
    return centre, drawn[int(0.025 * draws)], drawn[int(0.975 * draws) - 1]


def paired(first, second, document_of, seed):
    """Returns the difference of two settings on the questions both answered, with its interval; values by question."""
    by_document = {}
    for question in sorted(first.keys() & second.keys()):
        by_document.setdefault(document_of[question], []).append(first[question] - second[question])
    return interval(by_document, seed)


def bound(count, total, error):
    """Returns the largest probability under which `count` or fewer of `total` are no less likely than `error` (Clopper and Pearson)."""
    if count >= total:
        return 1.0
    ways = [math.lgamma(total + 1) - math.lgamma(number + 1) - math.lgamma(total - number + 1) for number in range(count + 1)]
    low, high = count / total, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        likely = sum(math.exp(way + number * math.log(middle) + (total - number) * math.log1p(-middle)) for number, way in enumerate(ways))
        low, high = (middle, high) if likely > error else (low, middle)
    return high


def exact(first, second):
    """Returns the difference of two settings on the questions both answered, with a 95 % interval that holds for a few errors too.

    Where nobody errs, drawing documents again shows no spread at all, and says that none is possible. This counts the questions that
    one setting alone has right, `gained` and `lost`, and takes the bounds of each share, with an error of 1.25 % each.
    """
    shared = first.keys() & second.keys()
    total = len(shared)
    if not total:
        return 0.0, 0.0, 0.0
    gained, lost = (sum(one[key] > other[key] for key in shared) for one, other in ((first, second), (second, first)))

    def least(count):
        return 1 - bound(total - count, total, 0.0125)

    return (gained - lost) / total, least(gained) - bound(lost, total, 0.0125), bound(gained, total, 0.0125) - least(lost)
