"""Means and intervals: documents are resampled, because questions about one document are not independent.

The interval of a difference is that of a paired comparison: in each of the drawn sets of documents both settings answer the same
questions. The generator is seeded, so a report is the same bytes each time.
"""
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
