# Read by the commands beside it: makes eval/.venv and eval/node_modules once, by package name.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
stamp=$here/.venv/installed
if ! cmp -s "$here/requirements.txt" "$stamp"; then
    echo "eval: installing requirements.txt into eval/.venv" >&2
    python3 -m venv "$here/.venv"
    "$here/.venv/bin/pip" install -q --disable-pip-version-check -r "$here/requirements.txt"
    cp "$here/requirements.txt" "$stamp"
fi
if ! cmp -s "$here/package-lock.json" "$here/node_modules/installed"; then
    echo "eval: installing package.json into eval/node_modules" >&2
    (cd "$here" && npm ci --ignore-scripts --no-audit --no-fund --silent)
    cp "$here/package-lock.json" "$here/node_modules/installed"
fi
export PYTHONPATH=$here${PYTHONPATH:+:$PYTHONPATH}
python=$here/.venv/bin/python

# Builds the command line, unless STC names one.
build_stc() {
    if [ -z "${STC:-}" ]; then
        echo "eval: building stc and stc-corpus (set STC to use another stc, with stc-corpus beside it)" >&2
        cargo build --quiet --release -p stc-cli -p stc-corpus --manifest-path "$here/../Cargo.toml"
    fi
}
