//! All that the decoder remembers of version 2: open containers and anchors, the columns of the table that is being read, the
//! names that are defined, and what a row with templates waits for.

use crate::decode::state::{LexemeRole, Word};
use crate::decode::v2::frames::{Frame, FrameKind, FrameStack};
use crate::decode::v2::listed_key::ListedKey;
use crate::decode::v2::names::{AnchoredValue, DictionaryText, Name, NameSpace};
use crate::decode::v2::schema::Schema;
use crate::decode::v2::shape_keys::{NO_KEY, Shape, ShapeKeys};
use crate::decode::v2::template::TemplateReader;
use crate::error::Error;
use crate::json::lexer::{Lexeme, Sink};
use crate::options::Limits;

/// All that version 2 has to remember.
#[derive(Debug, Default)]
pub(crate) struct V2Context {
    pub(crate) frames: FrameStack,
    /// The columns of the innermost table: a table has no other inside its header or rows.
    pub(crate) schema: Schema,
    /// What a word may still be, while it is read.
    pub(crate) word: Word,
    /// The key of an object of an open list, while it is read.
    pub(crate) listed_key: ListedKey,
    pub(crate) template: TemplateReader,
    /// The greatest depth that the header's value being read has reached.
    pub(crate) deepest: usize,

    /// The name that is being read, and the offset of its sigil, where an error in it is reported (STC.md, 20.1).
    pub(crate) name: Name,
    pub(crate) sigil_offset: u64,
    /// The number of the dictionary entry that is being defined.
    pub(crate) definition: u32,
    /// The dictionary: for each name a range of its text, with the quotes.
    pub(crate) dictionary: NameSpace<(usize, usize)>,
    pub(crate) dictionary_text: DictionaryText,
    pub(crate) shapes: NameSpace<Shape>,
    pub(crate) shape_keys: ShapeKeys,
    pub(crate) anchors: NameSpace<AnchoredValue>,
    pub(crate) open_anchors: Vec<OpenAnchor>,

    /// Placeholders in the held row that are not filled yet.
    pub(crate) insertions: Vec<Insertion>,
    /// By column: the range of its last cell in the held row, for columns that a template names.
    pub(crate) cell_texts: Vec<(usize, usize)>,
    /// The column whose cell is being read, if a template names it, and where the cell begins in the held row.
    pub(crate) open_cell_text: Option<(u32, usize)>,
}

/// An anchored value that is not complete.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenAnchor {
    /// The number of its name.
    pub(crate) name: u32,
    /// The depth around it.
    pub(crate) depth: usize,
    /// Where its text begins: in the text of open anchors, or in the held row.
    pub(crate) start: usize,
    /// The greatest depth it has reached.
    pub(crate) deepest: usize,
}

/// A placeholder in the held row: the place in it, and the column whose text is to be inserted there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Insertion {
    pub(crate) at: usize,
    pub(crate) column: u32,
}

/// Where version 2 ends and plain containers begin: every container deeper than `depth` is an object or array as in version 1.
/// At `depth` is the innermost container of version 2, or the one that an open anchor is in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Boundary {
    pub(crate) depth: usize,
    pub(crate) kind: BoundaryKind,
}

/// The container at a boundary, as far as the fast path over tokens can continue in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BoundaryKind {
    /// A labelled object: its keys become a shape.
    LabelledObject,
    /// A tuple of a shape.
    ShapeTuple,
    /// An object of an open list.
    ListedObject,
    /// Any other container, which only the machine can continue; at depth zero, the document.
    Other,
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
        self.insertions.clear();
        self.open_cell_text = None;
    }

    /// Returns whether no container of version 2 and no anchor is open.
    #[inline(always)]
    pub(crate) fn is_idle(&self) -> bool {
        self.frames.is_empty() && self.open_anchors.is_empty()
    }

    /// Returns whether any name is defined.
    #[inline(always)]
    pub(crate) fn has_names(&self) -> bool {
        !(self.shapes.is_empty() && self.dictionary.is_empty() && self.anchors.is_empty())
    }

    #[inline(always)]
    pub(crate) fn boundary(&self) -> Boundary {
        let (depth, kind) = self.frames.innermost().map_or((0, BoundaryKind::Other), |frame| match frame.kind {
            FrameKind::LabelledObject { .. } => (frame.depth, BoundaryKind::LabelledObject),
            FrameKind::ShapeTuple { .. } => (frame.depth, BoundaryKind::ShapeTuple),
            FrameKind::ListedObject(_) => (frame.depth, BoundaryKind::ListedObject),
            _ => (frame.depth, BoundaryKind::Other),
        });
        match self.open_anchors.last() {
            Some(anchor) if anchor.depth >= depth => Boundary { depth: anchor.depth, kind: BoundaryKind::Other },
            _ => Boundary { depth, kind },
        }
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

    /// Returns whether only SP and TAB may stand between lexemes here (STC.md, 14.4).
    #[inline(always)]
    pub(crate) fn is_inline(&self) -> bool {
        self.frames.is_inline()
    }

    /// Moves the innermost frame, a tuple, to the depth of the spliced object that its next cell is in.
    #[inline(always)]
    pub(crate) fn move_tuple(&mut self, depth: usize) {
        if let Some(frame) = self.frames.innermost_mut() {
            frame.depth = depth;
        }
    }

    /// Returns whether the container that has `depth` inside is the one that the innermost open anchor names.
    #[inline(always)]
    pub(crate) fn is_anchored(&self, depth: usize) -> bool {
        self.open_anchors.last().is_some_and(|anchor| anchor.depth + 1 == depth)
    }

    /// Notes that the document has reached `depth`, for the header's value and the anchor that are open.
    #[inline(always)]
    pub(crate) fn opened(&mut self, depth: usize) {
        self.deepest = self.deepest.max(depth);
        if let Some(anchor) = self.open_anchors.last_mut() {
            anchor.deepest = anchor.deepest.max(depth);
        }
    }

    /// Notes the cell of a column that a template names: its range of the held row, without quotes.
    #[inline(always)]
    pub(crate) fn keep_cell_text(&mut self, column: u32, quoted: bool, start: usize, end: usize) {
        let column = column as usize;
        if self.cell_texts.len() <= column {
            self.cell_texts.resize(column + 1, (0, 0));
        }
        self.cell_texts[column] = if quoted { (start + 1, end - 1) } else { (start, end) };
    }
}

/// Lexemes that are not output: definitions, templates, and keys of a list of columns.
impl V2Context {
    pub(crate) fn feed(
        &mut self,
        lexeme: &mut Lexeme,
        role: LexemeRole,
        bytes: &[u8],
        here: u64,
        limits: &Limits,
    ) -> Result<(usize, bool), Error> {
        match role {
            LexemeRole::Definition => lexeme.feed(bytes, here, &mut self.dictionary_text.sink(limits)),
            LexemeRole::Template => lexeme.feed(bytes, here, &mut self.template.sink(&mut self.schema, limits)),
            _ => lexeme.feed(bytes, here, &mut KeySink { schema: &mut self.schema, limits }),
        }
    }

    /// Appends bytes of a bare key of a list of columns.
    pub(crate) fn column_key(&mut self, bytes: &[u8], here: u64, limits: &Limits) -> Result<(), Error> {
        self.schema.push_text(bytes, here, limits)
    }

    /// Appends the quote that a bare key of a list of columns leaves out.
    pub(crate) fn column_quote(&mut self) {
        self.schema.quote();
    }

    pub(crate) fn column_key_ended(&mut self) {
        self.schema.end_key();
    }

    /// Ends a header that was read as one of version 1.
    pub(crate) fn end_header(&mut self) -> Result<(), Error> {
        self.schema.close_list().map(|_| ())
    }
}

/// Keys of objects: those of a labelled object become a shape (STC.md, 18.1), and a tuple of a shape takes its keys from it (18.2).
impl V2Context {
    fn is_labelled(&mut self, depth: usize) -> bool {
        matches!(self.at(depth), Some(FrameKind::LabelledObject { .. }))
    }

    /// Begins a key of the object at `depth`.
    pub(crate) fn key_begins(&mut self, depth: usize, here: u64, limits: &Limits) -> Result<(), Error> {
        if let Some(FrameKind::LabelledObject { shape, width, .. }) = self.frames.at(depth) {
            *shape = Some(self.shape_keys.begin(*shape, *width, here, limits)?);
            *width += 1;
        }
        Ok(())
    }

    /// Appends bytes of a key of the object at `depth`, with the quotes it has.
    pub(crate) fn key_bytes(&mut self, depth: usize, bytes: &[u8], at: u64, limits: &Limits) -> Result<(), Error> {
        if self.is_labelled(depth) { self.shape_keys.push(bytes, at, limits) } else { Ok(()) }
    }

    /// Returns how many bytes a key of the object at `depth` may have yet.
    pub(crate) fn key_room(&mut self, depth: usize, limits: &Limits) -> usize {
        if self.is_labelled(depth) { self.shape_keys.room(limits) } else { usize::MAX }
    }

    /// Appends a quote that a bare key of the object at `depth` leaves out.
    pub(crate) fn key_quote(&mut self, depth: usize) {
        if self.is_labelled(depth) {
            self.shape_keys.quote();
        }
    }

    pub(crate) fn key_ended(&mut self, depth: usize) {
        if self.is_labelled(depth) {
            self.shape_keys.end();
        }
    }

    /// Adds a whole key to the shape of the innermost labelled object; returns false, and does nothing, if a limit forbids it.
    pub(crate) fn label_key(&mut self, key: &[u8], bare: bool, limits: &Limits) -> bool {
        let Some(Frame { kind: FrameKind::LabelledObject { shape, width, .. }, .. }) = self.frames.innermost_mut()
        else {
            return false;
        };
        if key.len() > self.shape_keys.room(limits) {
            return false;
        }
        let Ok(grown) = self.shape_keys.begin(*shape, *width, 0, limits) else { return false };
        (*shape, *width) = (Some(grown), *width + 1);
        self.shape_keys.push_whole(key, bare);
        true
    }

    /// Returns the key of the next value of the innermost shape's tuple, as a range of a text, and moves on to the key after
    /// it. None, and nothing is done, if there is no further key, or the key is longer than `room`.
    #[inline(always)]
    pub(crate) fn shape_key_within(&mut self, room: usize) -> Option<(&[u8], usize, usize)> {
        let Some(Frame { kind: FrameKind::ShapeTuple { next }, .. }) = self.frames.innermost_mut() else { return None };
        if *next == NO_KEY {
            return None;
        }
        let (text, from, to, further) = self.shape_keys.get(*next);
        if to - from > room {
            return None;
        }
        *next = further;
        Some((text, from, to))
    }

    /// Returns whether the innermost tuple of a shape has all its values.
    #[inline(always)]
    pub(crate) fn shape_is_full(&self) -> bool {
        matches!(self.frames.innermost(), Some(Frame { kind: FrameKind::ShapeTuple { next: NO_KEY }, .. }))
    }
}

/// The sink for the bytes of a header's key.
struct KeySink<'a> {
    schema: &'a mut Schema,
    limits: &'a Limits,
}

impl Sink for KeySink<'_> {
    fn copy(&mut self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        self.schema.push_text(bytes, offset, self.limits)
    }
}
