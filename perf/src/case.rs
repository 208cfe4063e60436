//! What is measured: documents of the caller's own, or generated ones of the sizes that tools answer with.

use std::path::{Path, PathBuf};

use stc::laws;

/// A document that has been shown to come back before anybody times it.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) json: Vec<u8>,
    pub(crate) minified: Vec<u8>,
    pub(crate) stc: Vec<u8>,
}

impl Case {
    fn new(name: String, json: Vec<u8>) -> Result<Self, String> {
        let stc = stc::encode(&json).map_err(|error| format!("{name}: {error}"))?;
        let minified = laws::minify(&json);
        if stc::decode(&stc).as_ref() != Ok(&minified) {
            return Err(format!("{name}: the round trip is not exact"));
        }
        Ok(Self { name, json, minified, stc })
    }
}

/// The cases asked for; the generated ones if none are.
pub(crate) fn gather(files: &[PathBuf], folders: &[PathBuf]) -> Result<Vec<Case>, String> {
    if files.is_empty() && folders.is_empty() {
        return generated();
    }
    let mut paths = files.to_vec();
    for folder in folders {
        let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let found = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
        paths.extend(found.filter(|path| path.extension().is_some_and(|ending| ending == "json")));
    }
    paths.sort();
    if paths.is_empty() {
        return Err("no JSON files there".into());
    }
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Result<Case, String> {
    let json = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    Case::new(name, json)
}

fn generated() -> Result<Vec<Case>, String> {
    let kinds = ["users", "issues", "pods", "sql-rows", "logs-ragged", "markdown", "geojson"];
    let sizes = [("1 KB", 1 << 10), ("4 KB", 4 << 10), ("32 KB", 32 << 10), ("1 MB", 1 << 20)];
    let mut cases = Vec::new();
    for kind in kinds {
        for (size, bytes) in sizes {
            let json = stc_corpus::make(kind, 1, bytes).ok_or(format!("the corpus makes no {kind}"))?;
            cases.push(Case::new(format!("{kind} {size}"), json)?);
        }
    }
    Ok(cases)
}
