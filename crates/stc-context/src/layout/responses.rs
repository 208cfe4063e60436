//! Items of OpenAI's Responses.

use super::{Reader, Slot};
use stc_wire::cursor::Cursor;

impl<'a> Reader<'a> {
    /// Reads an item.
    pub(super) fn item(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        let (before, since) = (self.found(), self.before());
        let mut caller = Slot::Missing;
        let [mut kind, mut call_id, mut name, mut arguments, mut input] = [const { Slot::Missing }; 5];
        let [mut role, mut content, mut output] = [const { Slot::Missing }; 3];
        let place = cursor.object(|cursor, key| {
            match &*key {
                "type" => kind.put(cursor.skip()?),
                "call_id" => call_id.put(cursor.skip()?),
                "name" => name.put(cursor.skip()?),
                "arguments" => arguments.put(cursor.skip()?),
                "input" => input.put(cursor.skip()?),
                "caller" => caller.put(cursor.skip()?),
                "role" => role.put(cursor.skip()?),
                "output" => {
                    let value = self.content(cursor, false)?;
                    output.put(value);
                }
                "content" if self.counted.user_text => {
                    let value = self.content(cursor, false)?;
                    content.put(value);
                }
                _ => {
                    cursor.skip()?;
                }
            }
            Some(())
        })?;
        let slots = [&kind, &call_id, &name, &arguments, &input, &role, &content, &output];
        let mut is_one_of = |kinds: [&str; 2]| kinds.iter().any(|name| self.is_plainly(&kind, name));
        let is_result = is_one_of(["function_call_output", "custom_tool_call_output"]);
        let is_call = is_one_of(["function_call", "custom_tool_call"]);
        match () {
            () if slots.into_iter().any(Slot::is_repeated) => self.forget(before),
            () if is_result && content == Slot::Missing => {
                self.answer(call_id, Slot::Missing, false, before.1, place);
            }
            () if is_call => {
                self.layout.texts.truncate(before.1);
                let arguments = if arguments.once().is_some() { arguments } else { input };
                self.call(call_id, name, arguments);
            }
            () => {
                let is_message = kind == Slot::Missing || self.is(&kind, "message");
                let is_user = is_message && self.is(&role, "user") && output == Slot::Missing;
                self.end_message(is_user, before.1);
            }
        }
        self.called_by(&caller, since);
        Some(())
    }
}
