//! The session of a request: the first of the places that `context.memo.sessions_from` lists and that names one.

use crate::Api;
use crate::Settings;
use crate::layout::Layout;
use crate::options::{Choice, LONGEST_SESSION};
use crate::settings::SessionFrom;
use stc_wire::span::{self, Span};

/// Returns the name of the session.
pub(crate) fn of(settings: &Settings, api: Api, body: &[u8], layout: &Layout, choice: &Choice) -> Option<Vec<u8>> {
    let string = |value: &Span| span::string(body, value).map(|name| name.into_owned().into_bytes());
    let inside = |object: &Span, key: &str| {
        let member = span::member(body, object.clone(), key)?;
        string(&member.value)
    };
    let named = |from: &SessionFrom| match from {
        SessionFrom::Option => choice.session_option.clone(),
        SessionFrom::Header => choice.session_header.clone(),
        SessionFrom::PromptCacheKey => layout.prompt_cache_key.once().and_then(string),
        SessionFrom::MetadataUserId if api == Api::Anthropic => {
            layout.metadata.once().and_then(|metadata| inside(metadata, "user_id"))
        }
        SessionFrom::MetadataUserId => None,
        SessionFrom::Conversation => {
            let value = layout.thread.once()?;
            string(value).or_else(|| inside(value, "id"))
        }
    };
    // The place goes with the name: an option and a header of the same name are two sessions.
    settings.memo.sessions_from.iter().find_map(|from| {
        let name = named(from).filter(|name| (1..=LONGEST_SESSION).contains(&name.len()))?;
        Some([from.name().as_bytes(), b":", &name].concat())
    })
}
