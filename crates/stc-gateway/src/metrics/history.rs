//! What was saved in the last day, in slots of five minutes, kept over restarts in a small file.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stc_layer::Saved;
use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The seconds of a slot.
const SLOT: u64 = 300;
/// The slots of a day.
const SLOTS: usize = 288;

/// The slots, and the file that keeps them.
#[derive(Default)]
pub(crate) struct History(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    slots: VecDeque<Slot>,
    path: Option<PathBuf>,
}

/// What was saved in one slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Slot {
    /// Seconds since 1970.
    start: u64,
    responses: u64,
    tokens_minified: u64,
    tokens_out: u64,
}

/// The file's content.
#[derive(Serialize, Deserialize)]
struct Kept {
    version: u32,
    slots: Vec<Slot>,
}

impl History {
    /// Reads the file, if there is one, and keeps the slots in it from now on. A file that cannot be read is an error; one with
    /// other content is replaced.
    pub(crate) fn open(&self, path: &Path, now: u64) -> io::Result<()> {
        let text = match std::fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            read => read?,
        };
        let kept = serde_json::from_slice(&text).ok().filter(|kept: &Kept| kept.version == 1);
        let mut inner = self.lock();
        inner.path = Some(path.to_owned());
        for slot in kept.map_or(Vec::new(), |kept| kept.slots) {
            if slot.start <= now && inner.slots.back().is_none_or(|last| last.start < slot.start) {
                inner.slots.push_back(slot);
            }
        }
        inner.forget(now);
        drop(inner);
        // A folder that cannot be written is found now and not in a minute.
        self.save()
    }

    /// Adds what one response saved.
    pub(crate) fn note(&self, saved: Saved, now: u64) {
        let start = now / SLOT * SLOT;
        let mut inner = self.lock();
        if inner.slots.back().is_none_or(|slot| slot.start < start) {
            inner.slots.push_back(Slot { start, responses: 0, tokens_minified: 0, tokens_out: 0 });
            inner.forget(now);
        }
        if let Some(slot) = inner.slots.back_mut() {
            slot.responses += 1;
            slot.tokens_minified += saved.tokens_minified;
            slot.tokens_out += saved.tokens_out;
        }
    }

    /// Writes the file, if there is one: a new file takes the place of the old one, so that none is ever half written.
    pub(crate) fn save(&self) -> io::Result<()> {
        let (path, slots) = {
            let inner = self.lock();
            let Some(path) = inner.path.clone() else { return Ok(()) };
            (path, inner.slots.iter().copied().collect())
        };
        let new = path.with_extension("new");
        std::fs::write(&new, serde_json::to_vec(&Kept { version: 1, slots })?)?;
        std::fs::rename(&new, &path)
    }

    /// Returns the slots for the page.
    pub(crate) fn shown(&self, now: u64) -> Value {
        let mut inner = self.lock();
        inner.forget(now);
        let slot = |slot: &Slot| json!([slot.start, slot.responses, slot.tokens_minified, slot.tokens_out]);
        json!({"slot_seconds": SLOT, "slots": inner.slots.iter().map(slot).collect::<Vec<_>>()})
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Removes slots that are older than a day.
    fn forget(&mut self, now: u64) {
        let oldest = (now / SLOT * SLOT).saturating_sub((SLOTS as u64 - 1) * SLOT);
        while self.slots.len() > SLOTS || self.slots.front().is_some_and(|slot| slot.start < oldest) {
            self.slots.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAVED: Saved = Saved::of([0, 0], [10, 4]);

    #[test]
    fn a_day_in_slots() {
        let history = History::default();
        for minute in 0..3 * 24 * 60 {
            history.note(SAVED, minute * 60);
        }
        let shown = history.shown(3 * 86_400 - 1);
        let slots = shown["slots"].as_array().unwrap();
        assert_eq!(slots.len(), SLOTS);
        assert_eq!((&slots[0], &slots[SLOTS - 1]), (&json!([172_800, 5, 50, 20]), &json!([258_900, 5, 50, 20])));
        assert_eq!(history.shown(4 * 86_400)["slots"], json!([]), "nothing for a day");
    }

    #[test]
    fn the_file_outlives_the_process_and_may_be_anything() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.json");
        let first = History::default();
        first.open(&path, 1000).unwrap();
        first.note(SAVED, 1000);
        first.save().unwrap();
        let second = History::default();
        second.open(&path, 1400).unwrap();
        second.note(SAVED, 1400);
        assert_eq!(second.shown(1400)["slots"], json!([[900, 1, 10, 4], [1200, 1, 10, 4]]));
        let late = History::default();
        late.open(&path, 1000 + 2 * 86_400).unwrap();
        assert_eq!(late.shown(1000 + 2 * 86_400)["slots"], json!([]));
        for text in ["", "{", "[]", "{\"version\":2,\"slots\":[]}"] {
            std::fs::write(&path, text).unwrap();
            let history = History::default();
            history.open(&path, 1000).unwrap();
            assert_eq!(history.shown(1000)["slots"], json!([]), "{text}");
        }
        assert!(History::default().open(&folder.path().join("missing/history.json"), 0).is_err());
    }
}
