"""Generated tables: flat and ragged, narrow and wide, the same for the same name.

A table is a list of objects. Its first column, `id`, tells the rows apart; the other columns take turns among words, words of a
short list, whole and decimal numbers, flags, times, codes and places. In a ragged table a quarter of the other cells is missing
or null.
"""
import json
import random

from . import lexemes

# name: columns, rows, ragged
TABLES = {
    "table-3x1000": (3, 1000, False),
    "table-8x150": (8, 150, False),
    "table-25x40": (25, 40, False),
    "table-60x24": (60, 24, False),
    "ragged-12x100": (12, 100, True),
    "ragged-40x30": (40, 30, True),
}
_WORDS = (
    "amber anchor basin beacon birch bridge cedar cinder clover copper coral crane delta ember falcon fern flint gable garnet grove "
    "harbor hazel heron iris ivory jasper juniper kestrel lantern larch linden lotus maple marble meadow mesa nectar oak onyx opal "
    "orchid osprey pearl pine plover quartz raven reed river robin rowan saffron sage slate sorrel sparrow spruce thistle topaz "
    "umber vale walnut willow wren yarrow zephyr"
).split()
_FIELDS = {
    "word": "name label owner_name vendor contact alias brand title".split(),
    "whole": "quantity points visits views stock retries floor seats".split(),
    "choice": "status region stage channel priority currency role team".split(),
    "decimal": "price weight score rate ratio load margin length".split(),
    "flag": "active paid verified archived urgent locked public billable".split(),
    "time": "created_at updated_at shipped_at seen_at closed_at due_at started_at signed_at".split(),
    "code": "code batch sku token_id serial ref_no lot_no barcode".split(),
    "place": "city port station depot airport market harbor_name site".split(),
}
_CHOICES = {
    "status": "open closed pending blocked",
    "region": "north south east west",
    "stage": "draft review final",
    "channel": "web phone mail desk",
    "priority": "low normal high",
    "currency": "EUR USD GBP JPY",
    "role": "reader writer admin",
    "team": "red green blue gold",
}
_PLACES = "Oslo Porto Lima Quito Turin Lyon Ghent Cork Bergen Malaga Dakar Perth Osaka Busan Hanoi Accra".split()
RAGGED = 0.25


def make(name):
    """Returns the tree of a table of `TABLES`."""
    width, height, ragged = TABLES[name]
    rng = random.Random(f"table/{name}")
    fields = columns(width - 1)
    rows, numbers = [], rng.sample(range(1000, 10 * (1000 + height)), height)
    for number in numbers:
        row = {"id": number}
        for key, kind in fields:
            if ragged and rng.random() < RAGGED:
                if rng.random() < 0.5:
                    row[key] = None
            else:
                row[key] = _value(key, kind, rng)
        rows.append(row)
    return lexemes.parse(json.dumps(rows, ensure_ascii=False, separators=(",", ":")))


def columns(count):
    """Returns so many columns as (key, kind), the kinds in turn; a name that comes round again gets a number."""
    found, kinds = [], list(_FIELDS)
    for index in range(count):
        kind = kinds[index % len(kinds)]
        turn = index // len(kinds)
        names = _FIELDS[kind]
        found.append((names[turn % len(names)] + (f"_{turn // len(names) + 1}" if turn >= len(names) else ""), kind))
    return found


def _value(key, kind, rng):
    if kind == "word":
        return f"{rng.choice(_WORDS)} {rng.choice(_WORDS)}"
    if kind == "choice":
        return rng.choice(_CHOICES[key.rstrip("_23456789")].split())
    if kind == "whole":
        return rng.randrange(1, 5000)
    if kind == "decimal":
        tenths = rng.randrange(11, 9999)
        return tenths / 10 if tenths % 10 else tenths // 10  # spelled as every JSON library spells it
    if kind == "flag":
        return rng.random() < 0.5
    if kind == "time":
        return f"2026-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}T{rng.randrange(24):02}:{rng.randrange(60):02}:{rng.randrange(60):02}Z"
    if kind == "code":
        return "".join(rng.choice("ABCDEFGHJKLMNPQRSTUVWXYZ") for _ in range(3)) + f"-{rng.randrange(100, 9999)}"
    return rng.choice(_PLACES)
