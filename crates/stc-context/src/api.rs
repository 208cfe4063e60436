//! The APIs whose requests are read: their paths, what shows that a request may have tool results, and their errors.

use crate::refused::Refused;
use memchr::memmem;
use serde_json::json;

/// An API of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Api {
    /// OpenAI's Chat Completions.
    OpenAiChat,
    /// OpenAI's Responses.
    OpenAiResponses,
    /// Anthropic's Messages.
    Anthropic,
    /// Google's Gemini.
    Gemini,
    /// The Converse API of Amazon Bedrock.
    Bedrock,
    /// Ollama.
    Ollama,
}

/// What the path of a request says of its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The API.
    pub api: Api,
    /// Whether a body counts only with a member `anthropic_version`: paths that several models share.
    pub versioned: bool,
}

impl Api {
    /// All APIs.
    pub const ALL: [Self; 6] =
        [Self::OpenAiChat, Self::OpenAiResponses, Self::Anthropic, Self::Gemini, Self::Bedrock, Self::Ollama];

    /// Returns the name used in settings, logs and metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Bedrock => "bedrock",
            Self::Ollama => "ollama",
        }
    }

    /// Returns the member of a request that holds the conversation.
    pub(crate) const fn conversation(self) -> &'static str {
        match self {
            Self::OpenAiChat | Self::Anthropic | Self::Bedrock | Self::Ollama => "messages",
            Self::OpenAiResponses => "input",
            Self::Gemini => "contents",
        }
    }

    /// Returns whether a body may have tool results. The answer for a body that has none costs one search for each text
    /// below; a body whose keys and values are spelled with escapes is not recognised and stays as it is.
    #[must_use]
    pub fn may_have_results(self, body: &[u8]) -> bool {
        let any = |texts: &[&str]| texts.iter().any(|text| memmem::find(body, text.as_bytes()).is_some());
        match self {
            Self::OpenAiChat => any(&["\"tool\"", "\"role\":\"function\"", "\"role\": \"function\""]),
            Self::OpenAiResponses => any(&["call_output\""]),
            Self::Anthropic => any(&["\"tool_result\""]),
            Self::Gemini => any(&["\"functionResponse\"", "\"function_response\""]),
            Self::Bedrock => any(&["\"toolResult\""]),
            Self::Ollama => any(&["\"tool\""]),
        }
    }

    /// Returns the API that a path is most likely of, whether its requests are read or not: the shape of an error.
    #[must_use]
    pub fn guessed(path: &str) -> Self {
        let has = |parts: &[&str]| parts.iter().any(|part| path.contains(part));
        match Endpoint::of(path) {
            Some(endpoint) => endpoint.api,
            None if has(&["/messages", "/anthropic/", "/complete"]) && !has(&["/threads"]) => Self::Anthropic,
            None if has(&["/responses", "/conversations"]) => Self::OpenAiResponses,
            None if has(&["/model/", "/model-invocation-job", "/guardrail/"]) => Self::Bedrock,
            None if has(&["/v1beta", "/v1alpha", "/publishers/", "Content"]) => Self::Gemini,
            None if path.starts_with("/api/") && !has(&["/v1/"]) => Self::Ollama,
            None => Self::OpenAiChat,
        }
    }

    /// Returns the body of an answer to a request that is not sent, in this API's own shape.
    #[must_use]
    pub fn error(self, refused: &Refused) -> String {
        let message = refused.to_string();
        let is_option = matches!(refused, Refused::Option(_));
        let body = match self {
            Self::OpenAiChat | Self::OpenAiResponses if is_option => json!({"error": {
                "message": message, "type": "invalid_request_error", "param": refused.field(), "code": "stc_option",
            }}),
            Self::OpenAiChat | Self::OpenAiResponses => json!({"error": {
                "message": message, "type": "server_error", "param": null, "code": "stc_redaction",
            }}),
            Self::Anthropic => {
                let kind = if is_option { "invalid_request_error" } else { "api_error" };
                json!({"type": "error", "error": {"type": kind, "message": message}})
            }
            Self::Gemini => {
                let status = if is_option { "INVALID_ARGUMENT" } else { "UNAVAILABLE" };
                json!({"error": {"code": refused.status(), "message": message, "status": status}})
            }
            Self::Bedrock => json!({"message": message}),
            Self::Ollama => json!({"error": message}),
        };
        body.to_string()
    }

    /// Returns the header by which this API's clients tell errors apart, if there is one.
    #[must_use]
    pub const fn error_header(self, refused: &Refused) -> Option<(&'static str, &'static str)> {
        match (self, refused) {
            (Self::Bedrock, Refused::Option(_)) => Some(("x-amzn-errortype", "ValidationException")),
            (Self::Bedrock, Refused::Redaction) => Some(("x-amzn-errortype", "ServiceUnavailableException")),
            _ => None,
        }
    }
}

impl From<Api> for Endpoint {
    fn from(api: Api) -> Self {
        Self { api, versioned: false }
    }
}

impl Endpoint {
    /// Returns what the end of a path says; `None` for a path whose requests are not read.
    #[must_use]
    pub fn of(path: &str) -> Option<Self> {
        let path = path.trim_end_matches('/');
        let ends = |ends: &[&str]| ends.iter().any(|end| path.ends_with(end));
        let endpoint = |api, versioned| Some(Self { api, versioned });
        match () {
            () if ends(&["/chat/completions"]) => endpoint(Api::OpenAiChat, false),
            () if ends(&["/responses", "/responses/input_tokens"]) => endpoint(Api::OpenAiResponses, false),
            () if ends(&["/messages", "/messages/count_tokens"]) => endpoint(Api::Anthropic, false),
            () if ends(&["/invoke", "/invoke-with-response-stream"]) => endpoint(Api::Anthropic, true),
            () if ends(&[":generateContent", ":streamGenerateContent", ":countTokens"]) => endpoint(Api::Gemini, false),
            () if ends(&["/converse", "/converse-stream"]) => endpoint(Api::Bedrock, false),
            () if ends(&["/api/chat"]) => endpoint(Api::Ollama, false),
            () => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_shape_of_the_likely_api() {
        for (path, expected) in [
            ("/v1/messages", Api::Anthropic),
            ("/v1/messages/batches", Api::Anthropic),
            ("/v1/projects/p/locations/l/publishers/anthropic/models/c:rawPredict", Api::Anthropic),
            ("/v1/responses/compact", Api::OpenAiResponses),
            ("/v1/conversations/c/items", Api::OpenAiResponses),
            ("/model/x/count-tokens", Api::Bedrock),
            ("/v1beta/models/g:batchGenerateContent", Api::Gemini),
            ("/api/generate", Api::Ollama),
            ("/v1/threads/t/messages", Api::Anthropic),
            ("/v1/threads/t/runs/r/submit_tool_outputs", Api::OpenAiChat),
            ("/v1/embeddings", Api::OpenAiChat),
            ("/", Api::OpenAiChat),
        ] {
            assert_eq!(Api::guessed(path), expected, "{path}");
        }
    }

    #[test]
    fn paths_by_their_end() {
        for (path, expected) in [
            ("/v1/chat/completions", Some(Api::OpenAiChat)),
            ("/openai/deployments/x/chat/completions/", Some(Api::OpenAiChat)),
            ("/v1/responses", Some(Api::OpenAiResponses)),
            ("/v1/responses/input_tokens", Some(Api::OpenAiResponses)),
            ("/v1/messages", Some(Api::Anthropic)),
            ("/v1/messages/count_tokens", Some(Api::Anthropic)),
            ("/model/x/invoke", Some(Api::Anthropic)),
            ("/model/x/invoke-with-response-stream", Some(Api::Anthropic)),
            ("/v1beta/models/x:generateContent", Some(Api::Gemini)),
            ("/v1/projects/p/locations/l/publishers/google/models/x:streamGenerateContent", Some(Api::Gemini)),
            ("/v1beta/models/x:countTokens", Some(Api::Gemini)),
            ("/v1beta/models/x:embedContent", None),
            ("/model/x%3A0/converse", Some(Api::Bedrock)),
            ("/model/x/converse-stream", Some(Api::Bedrock)),
            ("/api/chat", Some(Api::Ollama)),
            ("/api/generate", None),
            ("/v1/messages/batches", None),
            ("/v1/responses/resp_1/cancel", None),
            ("/v1/embeddings", None),
            ("/", None),
        ] {
            assert_eq!(Endpoint::of(path).map(|endpoint| endpoint.api), expected, "{path}");
        }
        assert!(Endpoint::of("/model/x/invoke").unwrap().versioned);
    }
}
