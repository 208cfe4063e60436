//! Examples of rules have gaps in place of secrets; here the gaps are filled.

/// An example with its gaps filled.
#[derive(Clone, Debug)]
pub struct Planted {
    /// The text.
    pub text: String,
    /// What the gaps were filled with.
    pub parts: Vec<String>,
}

/// Fills the gaps of an example: `<20>` with 20 letters and digits, and so on, as the file of rules says. Other text in angle
/// brackets stays.
#[must_use]
pub fn fill(example: &str, seed: u64) -> Planted {
    let mut planted = Planted { text: String::new(), parts: Vec::new() };
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d);
    let mut rest = example;
    while let Some(open) = rest.find('<') {
        planted.text.push_str(&rest[..open]);
        let gap = rest[open + 1..].split_once('>').and_then(|(gap, after)| Some((kind(gap)?, after)));
        let Some(((count, alphabet), after)) = gap else {
            planted.text.push('<');
            rest = &rest[open + 1..];
            continue;
        };
        let part: String = (0..count).map(|at| char::from(random.one(alphabet, at))).collect();
        planted.text.push_str(&part);
        planted.parts.push(part);
        rest = after;
    }
    planted.text.push_str(rest);
    planted
}

fn kind(gap: &str) -> Option<(usize, &'static [u8])> {
    let digits = gap.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let alphabet: &[u8] = match &gap[digits.len()..] {
        "" => b"k7QzT2mWx9Rb4LhVs8NdP3cYj6GfA5tHuJ1eXwZoKqMrB0vCgDyEiFnSpUlOa",
        "h" => b"4f9a0c7e2b81d365",
        "u" => b"Q7ZT2MWX5RB4LHVSNDP3CYJ6GFAKUEIO",
        "d" => b"7294058163",
        "l" => b"k7qzt2mwx9rb4lhvs8ndp3cyj6gfa5tu",
        "a" => b"kQzTmWxRbLhVsNdPcYjGfAtHuJeXwZoKqMrBvCgDyEiFnSpUlOa",
        "x" => b"k7QzT2!mWx9Rb4L+hVs8Nd~P3cY#j6GfA5t",
        _ => return None,
    };
    Some((digits.parse().ok().filter(|count| (1..=4096).contains(count))?, alphabet))
}

/// A generator of numbers, the same for the same seed.
struct Random(u64);

impl Random {
    /// Returns one sign of an alphabet; the first ones are a letter, then a digit where there is one.
    fn one(&mut self, alphabet: &[u8], at: usize) -> u8 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let number = (self.0 >> 33) as usize;
        match at {
            0 | 1 => alphabet[at],
            2 => alphabet[2],
            _ => alphabet[number % alphabet.len()],
        }
    }
}
