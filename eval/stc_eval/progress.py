"""A progress bar on the standard error: how much is done, and how long the rest will take."""
import sys
import time


class Progress:
    """A bar of a known number of steps; silent where the output is no terminal, except for a line every tenth."""

    def __init__(self, total, label, stream=None):
        self.total, self.label, self.stream = max(1, total), label, stream or sys.stderr
        self.started, self.shown = time.time(), -1

    def __call__(self, done):
        """Shows that so many steps are done."""
        tenth = 10 * done // self.total
        if not self.stream.isatty():
            if tenth > self.shown:
                self.shown = tenth
                self.stream.write(f"{self.label}: {done} of {self.total}\n")
            return
        spent = time.time() - self.started
        left = spent / max(1, done) * (self.total - done)
        filled = 30 * done // self.total
        self.stream.write(f"\r{self.label} [{'#' * filled}{'.' * (30 - filled)}] {done}/{self.total}, {clock(left)} left ")
        if done >= self.total:
            self.stream.write("\n")
        self.stream.flush()


def clock(seconds):
    """Returns a time as `1 h 05 min`, `5 min` or `40 s`."""
    if seconds >= 3600:
        return f"{int(seconds // 3600)} h {int(seconds % 3600 // 60):02d} min"
    return f"{int(seconds // 60)} min" if seconds >= 60 else f"{int(seconds)} s"
