//! The sample upstream's tool responses, from the repository's corpus.

/// A tool and its response.
pub(super) struct Sample {
    pub(super) path: &'static str,
    pub(super) tool: &'static str,
    pub(super) about: &'static str,
    pub(super) json: &'static str,
}

macro_rules! made {
    ($name:literal) => {
        include_str!(concat!("../../../../corpus/made/", $name, ".json"))
    };
}

pub(super) const SAMPLES: [Sample; 6] = [
    Sample { path: "/users", tool: "list_users", about: "Four users.", json: made!("users-small") },
    Sample { path: "/issues", tool: "list_issues", about: "Issues of a repository.", json: made!("issues") },
    Sample { path: "/pods", tool: "list_pods", about: "Pods of a cluster.", json: made!("pods") },
    Sample { path: "/rows", tool: "query_rows", about: "Rows of a database.", json: made!("sql-rows") },
    Sample { path: "/logs", tool: "read_logs", about: "Records of a log.", json: made!("logs") },
    Sample { path: "/health", tool: "health", about: "Too small to convert.", json: "{\"ok\": true}" },
];
