"""A plot of accuracy over tokens as SVG: a dot a setting, and a line through those that nothing beats in both."""
from html import escape

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 860, 520, 60, 50, 40, 190


def frontier(points):
    """Returns the points (name, x, y) that no other has fewer tokens and more right answers than, by x."""
    best, kept = None, []
    for name, x, y in sorted(points, key=lambda point: (point[1], -point[2])):
        if best is None or y > best:
            best = y
            kept.append((name, x, y))
    return kept


def svg(title, points, intervals):
    """Returns the plot; `points` are (name, tokens relative to JSON, accuracy in %), `intervals` {name: (low, high)}."""
    xs = [x for _, x, _ in points]
    ys = [y for _, _, y in points]
    x0, x1 = min(xs) - 0.03, max(xs) + 0.03
    y0, y1 = max(0, min(ys) - 4), min(100, max(ys) + 4)

    def place(x, y):
        across = LEFT + (x - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT)
        return round(across, 1), round(HEIGHT - BOTTOM - (y - y0) / (y1 - y0) * (HEIGHT - BOTTOM - TOP), 1)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="11">']
    out.append(f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/><text x="{LEFT}" y="22" font-size="14">{escape(title)}</text>')
    for tick in range(int(y0 / 5) * 5, int(y1) + 1, 5):
        if tick >= y0:
            (left, at), right = place(x0, tick), WIDTH - RIGHT
            out.append(f'<line x1="{left}" y1="{at}" x2="{right}" y2="{at}" stroke="#ddd"/><text x="{left - 30}" y="{at + 4}">{tick} %</text>')
    for tick in range(int(x0 * 10) + 1, int(x1 * 10) + 1):
        at, low = place(tick / 10, y0)
        out.append(f'<line x1="{at}" y1="{TOP}" x2="{at}" y2="{low}" stroke="#eee"/><text x="{at - 8}" y="{low + 16}">{tick / 10:.1f}</text>')
    out.append(f'<text x="{LEFT}" y="{HEIGHT - 12}">tokens of the text, minified JSON = 1 (whisker: 95 % of the difference to JSON)</text>')
    line = " ".join(f"{x},{y}" for x, y in (place(x, y) for _, x, y in frontier(points)))
    out.append(f'<polyline points="{line}" fill="none" stroke="#2a6" stroke-width="1.5"/>')
    for name, x, y in points:
        across, up = place(x, y)
        if name in intervals:
            low, high = (place(x, min(max(bound, y0), y1))[1] for bound in intervals[name])
            out.append(f'<line x1="{across}" y1="{low}" x2="{across}" y2="{high}" stroke="#bbb"/>')
        out.append(f'<circle cx="{across}" cy="{up}" r="3.5" fill="#25c"/><text x="{across + 6}" y="{up + 4}">{escape(name)}</text>')
    return "\n".join(out + ["</svg>", ""])
