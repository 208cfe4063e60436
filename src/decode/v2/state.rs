//! What the decoder remembers of version 2: the containers that bits are not enough for, the columns of the table in the
//! reading, the names that have been given, and what a row with templates still lacks.

use crate::decode::state::Role;
use crate::decode::v2::frames::{Frame, FrameKind, FrameStack};
use crate::decode::v2::names::{Anchored, NO_KEY, Name, Names, Shape, ShapeKeys, Store};
use crate::decode::v2::schema::{Schema, TemplateReader};
use crate::error::Error;
use crate::json::lexer::{Lexeme, Sink as _};
use crate::options::Limits;

/// An anchored value that is not complete.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenAnchor {
    pub(crate) name: u32,
    /// The depth outside of it.
    pub(crate) depth: usize,
    /// Where its text begins: in the anchors' store, or in the row that is held.
    pub(crate) start: usize,
    /// How deep it has gone.
    pub(crate) deepest: usize,
}

/// Where version 2 ends and plain containers begin: every container deeper than `depth` is an object or array as in version 1.
/// At `depth` is the innermost container of version 2, or the one that an open anchor is in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Boundary {
    pub(crate) depth: usize,
    pub(crate) kind: BoundaryKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BoundaryKind {
    /// An object whose keys become a shape.
    Label,
    /// A tuple of a shape.
    Shape,
    /// Any other container, which only the machine can continue; at depth zero, the document.
    Other,
}

/// All that version 2 has to remember.
#[derive(Debug, Default)]
pub(crate) struct V2Context {
    pub(crate) frames: FrameStack,
    pub(crate) schema: Schema,
    pub(crate) template: TemplateReader,
    /// How deep the value of a header that is being read has gone.
    pub(crate) deepest: usize,

    pub(crate) name: Name,
    pub(crate) sigil_at: u64,
    pub(crate) definition: u32,
    pub(crate) dictionary: Names<(usize, usize)>,
    pub(crate) dictionary_text: Store,
    pub(crate) shapes: Names<Shape>,
    pub(crate) shape_keys: ShapeKeys,
    pub(crate) anchors: Names<Anchored>,
    pub(crate) open_anchors: Vec<OpenAnchor>,

    /// Where the row that is held has nothing yet.
    pub(crate) holes: Vec<Hole>,
    /// By column: the text of the last cell, in the row that is held.
    pub(crate) captures: Vec<(usize, usize)>,
    /// The column whose cell is being read, if a template names it, and where its text begins.
    pub(crate) capturing: Option<(u32, usize)>,
}

/// A place in the row that is held, and the column whose text belongs there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hole {
    pub(crate) at: usize,
    pub(crate) column: u32,
}

impl V2Context {
    pub(crate) fn clear(&mut self) {
        self.frames.clear();
        self.dictionary.clear();
        self.dictionary_text.text.clear();
        self.shapes.clear();
        self.shape_keys.clear();
        self.anchors.clear();
        self.open_anchors.clear();
        self.holes.clear();
        self.capturing = None;
    }

    /// Reads a lexeme that is not output.
    pub(crate) fn feed(
        &mut self,
        lexeme: &mut Lexeme,
        role: Role,
        bytes: &[u8],
        here: u64,
        limits: &Limits,
    ) -> Result<(usize, bool), Error> {
        match role {
            Role::Definition => lexeme.feed(bytes, here, &mut self.dictionary_text.sink(limits)),
            Role::Template => lexeme.feed(bytes, here, &mut self.schema.template_sink(&mut self.template, limits)),
            _ => lexeme.feed(bytes, here, &mut self.schema.key_sink(limits)),
        }
    }

    /// Bytes of a bare key of a list of columns.
    pub(crate) fn list_key(&mut self, bytes: &[u8], here: u64, limits: &Limits) -> Result<(), Error> {
        self.schema.key_sink(limits).copy(bytes, here)
    }

    pub(crate) fn list_quote(&mut self) {
        self.schema.quote();
    }

    pub(crate) fn list_key_ended(&mut self) {
        self.schema.end_key();
    }

    /// A header that version 1 has read to its end is complete.
    pub(crate) fn end_header(&mut self) -> Result<(), Error> {
        self.schema.close_list().map(|_| ())
    }

    /// Is there nothing here that version 1 would have to know of?
    #[inline(always)]
    pub(crate) fn is_idle(&self) -> bool {
        self.frames.is_empty() && self.open_anchors.is_empty()
    }

    /// Has anything a name that a value may be said by?
    #[inline(always)]
    pub(crate) fn has_names(&self) -> bool {
        !(self.shapes.is_empty() && self.dictionary.is_empty() && self.anchors.is_empty())
    }

    #[inline(always)]
    pub(crate) fn boundary(&self) -> Boundary {
        let (depth, kind) = self.frames.innermost().map_or((0, BoundaryKind::Other), |frame| match frame.kind {
            FrameKind::Label { .. } => (frame.depth, BoundaryKind::Label),
            FrameKind::Shape { .. } => (frame.depth, BoundaryKind::Shape),
            _ => (frame.depth, BoundaryKind::Other),
        });
        match self.open_anchors.last() {
            Some(anchor) if anchor.depth >= depth => Boundary { depth: anchor.depth, kind: BoundaryKind::Other },
            _ => Boundary { depth, kind },
        }
    }

    /// Returns whether only SP and TAB may stand between lexemes here (STC.md, 14.4).
    #[inline(always)]
    pub(crate) fn is_inline(&self) -> bool {
        self.frames.is_inline()
    }

    /// The cell of a column that a template names is complete: where it is in the row that is held.
    pub(crate) fn captured(&mut self, column: u32, quoted: bool, start: usize, end: usize) {
        let column = column as usize;
        if self.captures.len() <= column {
            self.captures.resize(column + 1, (0, 0));
        }
        self.captures[column] = if quoted { (start + 1, end - 1) } else { (start, end) };
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, depth: usize, kind: FrameKind) {
        self.frames.push(depth, kind);
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self) {
        self.frames.pop();
    }

    /// Returns what the innermost frame is, if that frame is at `depth`.
    #[inline(always)]
    pub(crate) fn at(&mut self, depth: usize) -> Option<&mut FrameKind> {
        self.frames.at(depth)
    }

    /// The innermost frame's record goes on at `depth`, in an object that is spliced into it or behind one.
    #[inline(always)]
    pub(crate) fn record_at(&mut self, depth: usize) {
        if let Some(frame) = self.frames.innermost_mut() {
            frame.depth = depth;
        }
    }

    /// Is the container inside of which the depth is `depth` the one that the innermost open anchor names?
    pub(crate) fn is_anchored(&self, depth: usize) -> bool {
        self.open_anchors.last().is_some_and(|anchor| anchor.depth + 1 == depth)
    }

    /// A container has been opened, `depth` inside.
    pub(crate) fn opened(&mut self, depth: usize) {
        self.deepest = self.deepest.max(depth);
        if let Some(anchor) = self.open_anchors.last_mut() {
            anchor.deepest = anchor.deepest.max(depth);
        }
    }

    /// Bytes of a key of an object, with the quotes it has.
    pub(crate) fn key_bytes(&mut self, depth: usize, bytes: &[u8], at: u64, limits: &Limits) -> Result<(), Error> {
        if matches!(self.at(depth), Some(FrameKind::Label { .. })) {
            self.shape_keys.push(bytes, at, limits)?;
        }
        Ok(())
    }

    /// How long such a key may still become.
    pub(crate) fn key_room(&mut self, depth: usize, limits: &Limits) -> usize {
        if matches!(self.at(depth), Some(FrameKind::Label { .. })) { self.shape_keys.room(limits) } else { usize::MAX }
    }

    /// A whole key of the object whose keys become a shape; false, and nothing is done, if there is no room for it.
    pub(crate) fn label_key(&mut self, key: &[u8], bare: bool, limits: &Limits) -> bool {
        let Some(Frame { kind: FrameKind::Label { shape, width, .. }, .. }) = self.frames.innermost_mut() else {
            return false;
        };
        if key.len() > self.shape_keys.room(limits) {
            return false;
        }
        let Ok(begun) = self.shape_keys.begin(*shape, *width, 0, limits) else { return false };
        (*shape, *width) = (Some(begun), *width + 1);
        self.shape_keys.whole(key, bare);
        true
    }

    /// The key of the shape's value that comes next: a text, and where it is in that; the shape goes on behind it. None if
    /// there is no further key, or it is longer than `room`.
    #[inline(always)]
    pub(crate) fn shape_key_within(&mut self, room: usize) -> Option<(&[u8], usize, usize)> {
        let Some(Frame { kind: FrameKind::Shape { next }, .. }) = self.frames.innermost_mut() else { return None };
        if *next == NO_KEY {
            return None;
        }
        let (text, from, to, behind) = self.shape_keys.place(*next);
        if to - from > room {
            return None;
        }
        *next = behind;
        Some((text, from, to))
    }

    /// Has the innermost tuple of a shape all its values?
    #[inline(always)]
    pub(crate) fn shape_is_full(&self) -> bool {
        matches!(self.frames.innermost(), Some(Frame { kind: FrameKind::Shape { next: NO_KEY }, .. }))
    }

    /// A quote of such a key that the text leaves out.
    pub(crate) fn key_quote(&mut self, depth: usize) {
        if matches!(self.at(depth), Some(FrameKind::Label { .. })) {
            self.shape_keys.quote();
        }
    }

    pub(crate) fn key_ended(&mut self, depth: usize) {
        if matches!(self.at(depth), Some(FrameKind::Label { .. })) {
            self.shape_keys.end();
        }
    }

    /// A key of an object begins.
    pub(crate) fn key_begins(&mut self, depth: usize, here: u64, limits: &Limits) -> Result<(), Error> {
        if let Some(&mut FrameKind::Label { name, shape, width }) = self.at(depth) {
            let shape = Some(self.shape_keys.begin(shape, width, here, limits)?);
            if let Some(label) = self.at(depth) {
                *label = FrameKind::Label { name, shape, width: width + 1 };
            }
        }
        Ok(())
    }
}
