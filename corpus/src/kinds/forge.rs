//! A code forge's REST API: rows that repeat the same nested owner, and a dozen URLs that each contain the row's own name.
//! Agents fetch these most often, and flat tables do not help with them.

use crate::moment::{START, utc};
use crate::rng::Rng;
use crate::value::Null;
use crate::words;
use crate::writer::Writer;

const API: &str = "https://api.forge.example.com";
const WEB: &str = "https://forge.example.com";

/// A list of issues: author, labels, milestone, reactions, sometimes assignees.
pub(crate) fn issues(rng: &mut Rng, w: &mut Writer) {
    let repo = repo_name(rng);
    let newest = rng.between(4000, 90_000) as u64 + w.target() as u64 / 800;
    w.array(|w| w.rows(|w, i| issue(rng, w, &repo, newest - i)));
}

/// One issue with the thread of comments under it.
pub(crate) fn issue_thread(rng: &mut Rng, w: &mut Writer) {
    let repo = repo_name(rng);
    w.object(|w| {
        w.object_field("issue", |w| issue_members(rng, w, &repo, 812));
        w.array_field("comments", |w| {
            w.rows(|w, i| {
                let id = 2_600_000_000 + i * 7331;
                let when = utc(START + i as i64 * 5000);
                w.object(|w| {
                    w.field("id", id).field("url", format!("{API}/repos/{repo}/issues/comments/{id}"));
                    w.field("html_url", format!("{WEB}/{repo}/issues/812#issuecomment-{id}"));
                    w.object_field("user", |w| account(w, &words::login(rng)));
                    w.field("created_at", &when).field("updated_at", &when);
                    w.field("author_association", rng.prefer(&["MEMBER", "CONTRIBUTOR", "NONE"]));
                    w.field("body", comment(rng));
                });
            });
        });
    });
}

/// Pull requests: head and base, each with its repository, which is null for a deleted fork.
pub(crate) fn pulls(rng: &mut Rng, w: &mut Writer) {
    let repo = repo_name(rng);
    w.array(|w| {
        w.rows(|w, i| {
            let number = 3100 + i;
            let whole = w.room() > 6000;
            let (author, branch) = (words::login(rng), words::slug(rng));
            let fork = format!("{author}/{}", repo.rsplit('/').next().unwrap_or(&repo));
            let gone = !whole || rng.chance(30);
            w.object(|w| {
                w.field("url", format!("{API}/repos/{repo}/pulls/{number}")).field("id", 1_880_000_000 + number * 97);
                w.field("number", number).field("state", rng.prefer(&["open", "closed"])).field("locked", false);
                w.field("title", words::title(rng)).object_field("user", |w| account(w, &author));
                w.field("body", rng.chance(70).then(|| words::paragraph(rng, 3)));
                w.field("draft", rng.chance(15)).field("merge_commit_sha", words::hex(rng, 40));
                w.array_field("labels", |w| (0..rng.skewed(3)).for_each(|_| label(rng, w, &repo)));
                w.object_field("head", |w| side(rng, w, &fork, &branch, gone));
                w.object_field("base", |w| side(rng, w, &repo, "main", !whole));
                w.field("diff_url", format!("{WEB}/{repo}/pull/{number}.diff"));
                w.field("commits_url", format!("{API}/repos/{repo}/pulls/{number}/commits"));
                w.field("created_at", utc(START + i as i64 * 3600)).field("merged_at", Null).field("auto_merge", Null);
            });
        });
    });
}

/// Repositories: the same few owners in full, and URL templates that repeat the full name.
pub(crate) fn repositories(rng: &mut Rng, w: &mut Writer) {
    w.array(|w| {
        w.rows(|w, i| {
            let name = format!("{}/{}-{i}", rng.prefer(words::ORGS), rng.pick(words::SERVICES));
            w.object(|w| repository_members(w, &name));
        });
    });
}

/// One repository in detail: parent and source nested whole, languages, then contributors.
pub(crate) fn repository(rng: &mut Rng, w: &mut Writer) {
    let name = repo_name(rng);
    w.object(|w| {
        repository_members(w, &name);
        if w.target() >= 6000 {
            w.object_field("parent", |w| repository_members(w, "acme/gateway"));
        }
        w.object_field("languages", |w| {
            for language in words::LANGUAGES {
                w.field(language, rng.skewed(900_000));
            }
        });
        w.array_field("contributors", |w| {
            w.rows(|w, i| {
                w.object(|w| {
                    account(w, &words::login(rng));
                    w.field("contributions", 4000 / (i + 1));
                });
            });
        });
    });
}

/// Flat profiles, some members null.
pub(crate) fn users(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.array_field("data", |w| {
            w.rows(|w, i| {
                w.object(|w| {
                    w.field("id", 10_000 + i * 3).field("login", words::login_of(i)).field("name", words::person(rng));
                    w.field("email", rng.chance(80).then(|| words::email(rng)));
                    w.field("company", rng.chance(40).then(|| rng.pick(words::ORGS)));
                    w.field("location", rng.chance(50).then(|| rng.pick(words::CITIES)));
                    w.field("is_admin", rng.chance(5)).field("two_factor", rng.chance(60));
                    w.field("created_at", utc(START - rng.below(90_000_000) as i64));
                });
            });
        });
        w.object_field("meta", |w| {
            w.field("page", 1).field("per_page", 100).field("next", "/v2/users?page=2");
        });
    });
}

/// Commits: the author twice, as recorded by git and by the forge.
pub(crate) fn commits(rng: &mut Rng, w: &mut Writer) {
    let repo = repo_name(rng);
    let mut sha = words::hex(rng, 40);
    w.array(|w| {
        w.rows(|w, i| {
            let parent = words::hex(rng, 40);
            let (login, when) = (words::login(rng), utc(START - i as i64 * 4001));
            let (name, email) = (words::person(&mut Rng::named(&login, 0)), format!("{login}@example.com"));
            w.object(|w| {
                w.field("sha", &sha).object_field("commit", |w| {
                    for role in ["author", "committer"] {
                        w.object_field(role, |w| {
                            w.field("name", &name).field("email", &email).field("date", &when);
                        });
                    }
                    w.field("message", format!("{}\n\n{}", words::title(rng), words::sentence(rng, 10)));
                    w.object_field("verification", |w| {
                        w.field("verified", false).field("reason", "unsigned").field("signature", Null);
                    });
                });
                w.field("html_url", format!("{WEB}/{repo}/commit/{sha}"));
                w.object_field("author", |w| account(w, &login));
                w.array_field("parents", |w| {
                    w.object(|w| {
                        w.field("sha", &parent).field("url", format!("{API}/repos/{repo}/commits/{parent}"));
                    });
                });
            });
            sha = parent;
        });
    });
}

fn issue(rng: &mut Rng, w: &mut Writer, repo: &str, number: u64) {
    w.object(|w| issue_members(rng, w, repo, number));
}

fn issue_members(rng: &mut Rng, w: &mut Writer, repo: &str, number: u64) {
    let url = format!("{API}/repos/{repo}/issues/{number}");
    w.field("url", &url).field("repository_url", format!("{API}/repos/{repo}"));
    w.field("labels_url", format!("{url}/labels{{/name}}")).field("comments_url", format!("{url}/comments"));
    w.field("html_url", format!("{WEB}/{repo}/issues/{number}")).field("id", 2_400_000_000 + number * 131);
    w.field("number", number)
        .field("title", words::title(rng))
        .object_field("user", |w| account(w, &words::login(rng)));
    w.array_field("labels", |w| (0..rng.skewed(4)).for_each(|_| label(rng, w, repo)));
    w.field("state", rng.prefer(&["open", "closed"])).field("locked", false);
    if w.room() > 3000 && rng.chance(25) {
        w.object_field("assignee", |w| account(w, &words::login(rng)));
    } else {
        w.field("assignee", Null);
    }
    w.field("milestone", rng.chance(10).then_some("v2.0")).field("comments", rng.skewed(30));
    let created = START + rng.below(9_000_000) as i64;
    w.field("created_at", utc(created)).field("updated_at", utc(created + rng.below(90_000) as i64));
    w.field("closed_at", Null).field("author_association", rng.prefer(&["NONE", "MEMBER", "CONTRIBUTOR"]));
    w.field("body", rng.chance(85).then(|| comment(rng)));
    w.object_field("reactions", |w| {
        w.field("url", format!("{url}/reactions")).field("total_count", 0);
        for reaction in ["+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"] {
            w.field(reaction, 0);
        }
    });
}

/// A repository; every field derives from its full name.
fn repository_members(w: &mut Writer, name: &str) {
    let rng = &mut Rng::named(name, 0);
    let url = format!("{API}/repos/{name}");
    w.field("id", rng.below(900_000_000)).field("name", name.rsplit('/').next().unwrap_or(name));
    w.field("full_name", name).field("private", rng.chance(20)).object_field("owner", |w| account(w, owner(name)));
    w.field("html_url", format!("{WEB}/{name}")).field("description", rng.chance(80).then(|| words::title(rng)));
    w.field("fork", rng.chance(20)).field("url", &url);
    for (key, tail) in [
        ("keys_url", "/keys{/key_id}"),
        ("hooks_url", "/hooks"),
        ("branches_url", "/branches{/branch}"),
        ("statuses_url", "/statuses/{sha}"),
        ("commits_url", "/commits{/sha}"),
        ("contents_url", "/contents/{+path}"),
        ("compare_url", "/compare/{base}...{head}"),
        ("archive_url", "/{archive_format}{/ref}"),
        ("issues_url", "/issues{/number}"),
        ("pulls_url", "/pulls{/number}"),
    ] {
        w.field(key, format!("{url}{tail}"));
    }
    w.field("pushed_at", utc(START + rng.below(9_000_000) as i64)).field("size", rng.skewed(200_000));
    w.field("stargazers_count", rng.skewed(5000))
        .field("language", rng.chance(90).then(|| rng.prefer(words::LANGUAGES)));
    w.field("archived", false).field("disabled", false).field("open_issues_count", rng.skewed(300));
    if rng.chance(70) {
        w.object_field("license", |w| {
            w.field("key", "mit").field("name", "MIT License").field("spdx_id", "MIT");
        });
    } else {
        w.field("license", Null);
    }
    w.array_field("topics", |w| (0..rng.skewed(5)).for_each(|_| w.value(rng.pick(words::NOUNS))));
    w.field("visibility", "public").field("default_branch", rng.prefer(&["main", "master", "develop"]));
    w.object_field("permissions", |w| {
        w.field("admin", false).field("push", false).field("pull", true);
    });
}

/// A person or an organisation; every field derives from the login, so the same login is the same account everywhere.
fn account(w: &mut Writer, login: &str) {
    let own = &mut Rng::named(login, 0);
    let id = own.below(9_999_991);
    let kind = if words::ORGS.contains(&login) { "Organization" } else { own.prefer(&["User", "User", "Bot"]) };
    w.field("login", login).field("id", id).field("node_id", format!("U_{}", words::opaque(own, 12)));
    w.field("avatar_url", format!("https://avatars.forge.example.com/u/{id}?v=4")).field("gravatar_id", "");
    w.field("url", format!("{API}/users/{login}")).field("html_url", format!("{WEB}/{login}"));
    for key in ["followers", "gists", "repos"] {
        w.field(&format!("{key}_url"), format!("{API}/users/{login}/{key}"));
    }
    w.field("type", kind).field("site_admin", false);
}

/// One side of a pull request. A deleted fork is null; the sha and the branch stay.
fn side(rng: &mut Rng, w: &mut Writer, repo: &str, branch: &str, gone: bool) {
    w.field("label", format!("{}:{branch}", owner(repo))).field("ref", branch).field("sha", words::hex(rng, 40));
    if gone {
        w.field("repo", Null);
    } else {
        w.object_field("repo", |w| repository_members(w, repo));
    }
}

fn owner(repo: &str) -> &str {
    repo.split('/').next().unwrap_or(repo)
}

fn label(rng: &mut Rng, w: &mut Writer, repo: &str) {
    let (name, color) =
        rng.pick(&[("bug", "d73a4a"), ("docs", "0075ca"), ("good first issue", "7057ff"), ("perf", "fbca04")]);
    w.object(|w| {
        w.field("name", name).field("url", format!("{API}/repos/{repo}/labels/{}", name.replace(' ', "%20")));
        w.field("color", color).field("default", name == "bug").field("description", Null);
    });
}

fn comment(rng: &mut Rng) -> String {
    let sentences = rng.between(1, 3) as u64;
    let text = words::paragraph(rng, sentences);
    let noun = rng.pick(words::NOUNS);
    match rng.below(4) {
        0 => format!("{text}\r\n\r\n```rust\r\nlet {noun} = \"{}\";\r\n```\r\n", rng.pick(words::ADJECTIVES)),
        1 => format!("> {text}\n\n+1, see `{noun}.rs` & the *{noun}* docs"),
        2 => format!("### Steps\n\n- [ ] {text}\n- [x] run `make {noun}`"),
        _ => text,
    }
}

fn repo_name(rng: &mut Rng) -> String {
    format!("{}/{}", rng.pick(words::ORGS), rng.pick(words::SERVICES))
}
