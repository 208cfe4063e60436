//! Lines that say only that a program is at work, and lines that say only that a test passed.
//!
//! Lost are these lines; one line in brackets counts those of each kind, where the first was. A line about an error, a warning or
//! a failure stays.

use crate::lines::lines;
use crate::programs::Programs;
use crate::signals::is_issue;

/// Removes the lines that the data names; `None` if they are fewer than two.
pub(crate) fn progress(text: &str, programs: Programs) -> Option<String> {
    let programs: Vec<_> = programs.each().collect();
    let kind = |line: &str| {
        let line = line.trim();
        let passed = || programs.iter().any(|program| program.passed.iter().any(|one| one.matches(line)));
        let progress = || programs.iter().any(|program| program.progress.iter().any(|one| one.matches(line)));
        let kind = match () {
            () if line.is_empty() => None,
            () if progress() => Some(0),
            () if passed() => Some(1),
            () => None,
        };
        kind.filter(|_| !is_issue(line))
    };
    // What stays, as ranges of lines that are written whole, and where the first line of each kind was.
    let mut counts = [0_usize; 2];
    let mut first = [0_usize; 2];
    let mut out = String::with_capacity(text.len());
    for line in lines(text) {
        match kind(line.body) {
            Some(kind) => {
                if counts[kind] == 0 {
                    first[kind] = out.len();
                }
                counts[kind] += 1;
            }
            None => line.write(&mut out),
        }
    }
    if counts.iter().sum::<usize>() < 2 {
        return None;
    }
    let mut notes: Vec<_> = [(first[0], counts[0], "progress lines"), (first[1], counts[1], "passed tests")]
        .into_iter()
        .filter(|(_, count, _)| *count > 0)
        .collect();
    notes.sort_by_key(|(place, ..)| std::cmp::Reverse(*place));
    for (place, count, what) in notes {
        let start = if place > 0 && !out[..place].ends_with('\n') { "\n" } else { "" };
        out.insert_str(place, &format!("{start}[{count} {what} left out]\n"));
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Command;

    fn of(program: &str, argument: &str, text: &str) -> Option<String> {
        progress(text, Programs::of(&Command { program, argument }))
    }

    #[test]
    fn a_build_keeps_warnings_and_errors() {
        let text = "   Compiling a v1.0.0\n   Compiling thiserror v2.0.1\nwarning: unused variable: `x`\n --> src/a.rs:1:5\n   \
                    Compiling b v0.1.0 (/app/b)\nerror[E0308]: mismatched types\n    Finished `dev` profile\n";
        let short = of("cargo", "build", text).unwrap();
        assert_eq!(
            short,
            "[3 progress lines left out]\nwarning: unused variable: `x`\n --> src/a.rs:1:5\nerror[E0308]: mismatched types\n    \
             Finished `dev` profile\n"
        );
        assert_eq!(of("cargo", "build", &short), None);
        assert_eq!(of("ls", "", text), None);
    }

    #[test]
    fn passing_tests_are_counted_and_failing_ones_stay() {
        let text =
            "running 4 tests\ntest a ... ok\ntest b ... FAILED\ntest c ... ok\ntest d ... ignored\n\nfailures:\n";
        let short = of("cargo", "test", text).unwrap();
        assert_eq!(
            short,
            "running 4 tests\n[2 passed tests left out]\ntest b ... FAILED\ntest d ... ignored\n\nfailures:\n"
        );
        assert_eq!(of("cargo", "test", &short), None);
        assert_eq!(of("cargo", "test", "test a ... ok\n"), None, "a single line");
    }

    #[test]
    fn lines_about_problems_stay_whatever_they_match() {
        let text = "Downloading failed: no route\nDownloading a\nDownloading b\nCollecting c warning\n";
        assert_eq!(
            of("pip", "install", text).as_deref(),
            Some("Downloading failed: no route\n[2 progress lines left out]\nCollecting c warning\n")
        );
    }
}
