//! Keys chosen to make the encoder slow. Each attack comes with a friendly document of the same cells: keys of the same
//! length, the same values, but every row has the keys of the first. The cost of an attack is the ratio of the two.

/// Keys in a row.
const WIDTH: usize = 8;

/// A hostile document and its friendly counterpart.
#[derive(Debug)]
pub struct Attack {
    /// Its name in tables.
    pub name: &'static str,
    /// What makes it hostile.
    pub about: &'static str,
    /// The hostile document.
    pub hostile: Vec<u8>,
    /// The same cells, friendly.
    pub friendly: Vec<u8>,
}

/// Returns the attacks, of about `keys` keys each.
pub fn attacks(keys: usize) -> Vec<Attack> {
    let attack = |name, about, hostile, set: &[String]| Attack { name, about, hostile, friendly: friendly(set) };
    let numbered: Vec<String> = (0..keys).map(|number| format!("key{number:08}")).collect();
    let mut all = vec![
        attack("one object", "no key twice, all in one object", object(&numbered), &numbered),
        attack("new rows", "rows in which no key has been seen before", rows(&numbered), &numbered),
        attack("last key", "rows that differ in the last key", last_key(&numbered, keys / WIDTH), &numbered),
        attack("last row", "rows that are equal but for the last key of the last", last_key(&numbered, 1), &numbered),
        attack("two shapes", "rows of two shapes in turn", alternating(&numbered), &numbered),
    ];
    for (name, about, set) in [
        ("times 31", "keys that collide under h * 31 + c, whatever its width", blocks("Aa", "BB", keys)),
        ("times 33", "keys that collide under h * 33 + c, whatever its width", blocks("Ab", "BA", keys)),
        ("permutations", "keys of the same bytes in another order: equal sum, xor and length", permutations(keys)),
        ("FNV-1a", "keys whose FNV-1a hashes agree in the lowest twelve bits", fnv(keys.min(20_000))),
    ] {
        all.push(attack(name, about, rows(&set), &set));
    }
    all
}

fn object(keys: &[String]) -> Vec<u8> {
    let cells: Vec<String> = keys.iter().enumerate().map(|(number, key)| cell(key, number)).collect();
    format!("{{{}}}", cells.join(",")).into_bytes()
}

fn cell(key: &str, number: usize) -> String {
    format!("\"{key}\":{}", 1000 + number % 9000)
}

/// Builds an array of rows; `key` returns the key of a row and column.
fn table<'k>(rows: usize, key: impl Fn(usize, usize) -> &'k str) -> Vec<u8> {
    let row = |row: usize| {
        let cells: Vec<String> = (0..WIDTH).map(|column| cell(key(row, column), row * WIDTH + column)).collect();
        format!("{{{}}}", cells.join(","))
    };
    format!("[{}]", (0..rows).map(row).collect::<Vec<_>>().join(",")).into_bytes()
}

fn rows(keys: &[String]) -> Vec<u8> {
    table(keys.len() / WIDTH, |row, column| &keys[row * WIDTH + column])
}

fn friendly(keys: &[String]) -> Vec<u8> {
    table(keys.len() / WIDTH, |_, column| &keys[column])
}

/// Builds rows whose last key differs in each of the last `odd` rows.
fn last_key(keys: &[String], odd: usize) -> Vec<u8> {
    let count = keys.len() / WIDTH;
    table(count, |row, column| {
        let differs = column == WIDTH - 1 && row + odd >= count && row > 0;
        &keys[if differs { WIDTH + row } else { column }]
    })
}

fn alternating(keys: &[String]) -> Vec<u8> {
    table(keys.len() / WIDTH, |row, column| &keys[row % 2 * WIDTH + column])
}

/// Builds keys from two blocks with equal hashes: one key for each way to combine them.
fn blocks(zero: &str, one: &str, keys: usize) -> Vec<String> {
    let bits = usize::BITS - keys.leading_zeros();
    (0..keys)
        .map(|number| (0..bits).map(|bit| if number >> bit & 1 == 0 { zero } else { one }).collect::<String>())
        .collect()
}

/// Builds the first permutations of nine letters, in order.
fn permutations(keys: usize) -> Vec<String> {
    let permutation = |mut number: usize| {
        let mut letters: Vec<char> = "abcdefghi".chars().collect();
        let mut key = String::new();
        while !letters.is_empty() {
            key.push(letters.remove(number % letters.len()));
            number /= letters.len() + 1;
        }
        key
    };
    (0..keys.min(362_880)).map(permutation).collect()
}

fn fnv(keys: usize) -> Vec<String> {
    let hash = |key: &str| {
        key.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
    };
    (0_u64..).map(|number| format!("k{number:09x}")).filter(|key| hash(key) & 0xfff == 0).take(keys).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn hostile_and_friendly_have_the_same_size() {
        for attack in attacks(4000) {
            let (hostile, friendly) = (attack.hostile.len() as f64, attack.friendly.len() as f64);
            assert!((hostile / friendly - 1.0).abs() < 0.05, "{}: {hostile} and {friendly}", attack.name);
            assert!(stc::encode(&attack.hostile).is_ok() && stc::encode(&attack.friendly).is_ok(), "{}", attack.name);
            assert_ne!(attack.hostile, attack.friendly, "{}", attack.name);
        }
    }

    #[test]
    fn keys_collide_and_are_distinct() {
        let polynomial = |times: u64| {
            move |key: &String| key.bytes().fold(0_u64, |hash, byte| hash.wrapping_mul(times) + u64::from(byte))
        };
        let thirty_one: HashSet<u64> = blocks("Aa", "BB", 1000).iter().map(polynomial(31)).collect();
        let thirty_three: HashSet<u64> = blocks("Ab", "BA", 1000).iter().map(polynomial(33)).collect();
        assert_eq!((thirty_one.len(), thirty_three.len()), (1, 1));
        for set in [blocks("Aa", "BB", 1000), permutations(5000), fnv(10)] {
            assert_eq!(set.iter().collect::<HashSet<_>>().len(), set.len());
        }
    }
}
