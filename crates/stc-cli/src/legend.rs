//! `stc legend`: the library's description of a format for a model.

use std::io::Write;

use crate::args::Legend;
use crate::failure::{Failure, Status};
use crate::output::Output;

pub(crate) fn run(args: &Legend) -> Result<Status, Failure> {
    let mut output = Output::stdout();
    output.write_all(stc::legend(args.format).as_bytes())?;
    output.commit()?;
    Ok(Status::Fine)
}

#[cfg(test)]
mod tests {
    use stc::Format;

    use crate::tokens::VOCABULARIES;

    /// A legend is sent with a system prompt, so it has to be short in every vocabulary.
    #[test]
    fn a_legend_is_less_than_150_tokens() {
        for format in Format::STC {
            let legend = stc::legend(format);
            for vocabulary in &VOCABULARIES {
                let tokens = vocabulary.count(legend, drop);
                assert!((20..150).contains(&tokens), "{format:?}: {tokens} {} tokens", vocabulary.name);
            }
        }
    }
}
