"""When enough has been asked: what is certain of a mean after some of its values, however often one looks.

The questions are a fixed list, and a seeded shuffle says in which order they are asked. So what is asked is a random sample, drawn
without replacement, of values that are fixed: the mean of all of them is what is estimated, and no assumption is made about how
questions about one document hang together.

The rule is a bet against a hypothesis such as "the mean of all values is at least 0.02". Under it the values that are left have at
least a certain mean, which follows from those seen. Before each value a share of the wealth is bet that it will be lower than that mean;
the bet is fair or worse if the hypothesis is true, so by Ville's inequality the wealth grows `1 / error` times with a probability of at
most `error`, at any time and over all looks together. Then the hypothesis is excluded. (Waudby-Smith and Ramdas, "Estimating means
of bounded random variables by betting", 2020, sections 4 and 5.) Several shares are bet at once, each with its part of the wealth: a bold
one soon sees that a reader loses nothing, careful ones bear a loss now and then.
"""
# share of what can be lost at once: its part of the wealth
BETS = {0.95: 0.4, 0.5: 0.2, 0.2: 0.2, 0.08: 0.1, 0.03: 0.1}
STEPS = 1000  # of a bound, from 0 to 1


def excluded(values, total, mean, error):
    """Returns whether it is excluded that all `total` values, each from -1 to 1, have a mean of at least `mean`.

    `values` are those seen, in their random order. The probability that this is ever wrong is at most `error`.
    """
    wealth, seen = list(BETS.values()), 0.0
    for count, value in enumerate(values):
        left = (total * mean - seen) / (total - count)
        if left > 1:
            return True
        if left > -1:
            if left < 1:
                wealth = [part * (1 + share * (left - value) / (1 - left)) for part, share in zip(wealth, BETS)]
            elif value < 1:
                return True
            if sum(wealth) >= 1 / error:
                return True
        seen += value
    return len(values) == total and seen < total * mean - 1e-9


def excluded_below(values, total, mean, error):
    """Returns whether it is excluded that all values have a mean of at most `mean`."""
    return excluded([-value for value in values], total, -mean, error)


def interval(values, total, error):
    """Returns the bounds of the mean of all values, each wrong with a probability of at most `error`, however often one looks."""
    if not values:
        return -1.0, 1.0
    return -_bound([-value for value in values], total, error), _bound(values, total, error)


def _bound(values, total, error):
    """Returns the smallest mean, in steps, that is excluded from there upwards; 1 if none is."""
    low, high = -STEPS, STEPS
    while low < high:
        middle = (low + high) // 2
        if excluded(values, total, middle / STEPS, error):
            high = middle
        else:
            low = middle + 1
    return low / STEPS
