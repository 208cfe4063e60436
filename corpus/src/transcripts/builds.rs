//! Builds and installations.

use super::names::{NAMES, hex, version};
use crate::rng::Rng;

pub(super) fn cargo(rng: &mut Rng, lines: usize) -> String {
    let mut out = "    Updating crates.io index\n     Locking 212 packages to latest compatible versions\n".to_owned();
    for _ in 0..lines / 4 {
        out += &format!("  Downloaded {} v{}\n", rng.pick(NAMES), version(rng));
    }
    for _ in 0..lines * 3 / 4 {
        out += &format!("   Compiling {}-{} v{}\n", rng.pick(NAMES), rng.pick(NAMES), version(rng));
        if rng.chance(6) {
            out += &warning(rng);
        }
    }
    out + "    Finished `dev` profile [unoptimized + debuginfo] target(s) in 41.20s\n"
}

fn warning(rng: &mut Rng) -> String {
    let (name, file, line) = (rng.pick(NAMES), rng.pick(NAMES), 1 + rng.below(400));
    format!(
        "warning: unused variable: `{name}`\n   --> src/{file}.rs:{line}:9\n    |\n{line} |     let {name} = self.next();\n    |         ^^^^^ help: \
         if this is intentional, prefix it with an underscore: `_{name}`\n    |\n    = note: `#[warn(unused_variables)]` on by default\n\n"
    )
}

pub(super) fn cargo_errors(rng: &mut Rng, lines: usize) -> String {
    let mut out = String::new();
    for _ in 0..lines / 2 {
        out += &format!("    Checking {}-{} v{}\n", rng.pick(NAMES), rng.pick(NAMES), version(rng));
    }
    for _ in 0..1 + lines / 20 {
        let (name, file, line) = (rng.pick(NAMES), rng.pick(NAMES), 1 + rng.below(400));
        out += &format!(
            "error[E0308]: mismatched types\n   --> src/{file}.rs:{line}:27\n    |\n{line} |     let {name}: u32 = self.{name}.len();\n    |              \
             ---   ^^^^^^^^^^^^^^ expected `u32`, found `usize`\n    |              |\n    |              expected due to this\n\n"
        );
        if rng.chance(50) {
            out += &warning(rng);
        }
    }
    out + "For more information about this error, try `rustc --explain E0308`.\nerror: could not compile `app` (lib) due to previous errors\n"
}

pub(super) fn npm(rng: &mut Rng, lines: usize) -> String {
    let mut out = String::new();
    for _ in 0..lines / 3 {
        let (name, other) = (rng.pick(NAMES), rng.pick(NAMES));
        out += &match rng.below(4) {
            0 => format!(
                "npm warn deprecated {name}-{other}@{}: This version is no longer supported, use {other} instead\n",
                version(rng)
            ),
            _ => format!(
                "npm http fetch GET 200 https://registry.example/{name}-{other} {}ms (cache miss)\n",
                rng.below(900)
            ),
        };
    }
    out += &format!("\nadded {} packages, and audited {} packages in 12s\n\n", lines * 4, lines * 4 + 1);
    out += "131 packages are looking for funding\n  run `npm fund` for details\n\n";
    out + "3 vulnerabilities (2 moderate, 1 high)\n\nTo address all issues, run:\n  npm audit fix\n\nRun `npm audit` for details.\n"
}

pub(super) fn webpack(rng: &mut Rng, lines: usize) -> String {
    let mut out = String::new();
    for percent in (0..100).step_by((300 / lines).clamp(1, 25)) {
        out += &format!("{percent}% building {}/{} modules\n", percent * 8, 800);
    }
    for _ in 0..lines / 3 {
        let (name, size) = (rng.pick(NAMES), rng.below(400));
        out +=
            &format!("asset {name}.{}.js {size} KiB [emitted] [immutable] [minimized] (name: {name})\n", hex(rng, 20));
    }
    for _ in 0..lines / 4 {
        out += &format!(
            "  ./src/{}/{}.ts {} bytes [built] [code generated]\n",
            rng.pick(NAMES),
            rng.pick(NAMES),
            rng.below(9000)
        );
    }
    out += &format!(
        "\nWARNING in ./src/{0}/index.ts 14:2-8\nexport 'missing' (imported as 'missing') was not found in './{0}' (possible exports: open, close)\n",
        rng.pick(NAMES)
    );
    out + "\nwebpack 5.101.0 compiled with 1 warning in 8123 ms\n"
}

pub(super) fn pip(rng: &mut Rng, lines: usize) -> String {
    let mut out = String::new();
    for _ in 0..lines / 3 {
        let (name, version) = (format!("{}-{}", rng.pick(NAMES), rng.pick(NAMES)), version(rng));
        let size = 10 + rng.below(900);
        out += &match rng.below(3) {
            0 => format!(
                "Requirement already satisfied: {name}>={version} in ./.venv/lib/python3.13/site-packages (from -r requirements.txt) ({version})\n"
            ),
            _ => format!(
                "Collecting {name}=={version} (from -r requirements.txt)\n  Downloading {name}-{version}-py3-none-any.whl.metadata ({size} kB)\n  Using cached \
                 {name}-{version}-py3-none-any.whl ({size} kB)\n     ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ {size}/{size} kB 12.1 MB/s eta 0:00:00\n"
            ),
        };
    }
    let names: Vec<_> = (0..lines / 5 + 1).map(|_| format!("{}-{}", rng.pick(NAMES), version(rng))).collect();
    out += &format!("Installing collected packages: {}\n", names.join(", "));
    out += &format!("Successfully installed {}\n", names.join(" "));
    out + "\n[notice] A new release of pip is available: 25.0 -> 25.3\n[notice] To update, run: pip install --upgrade pip\n"
}

pub(super) fn make(rng: &mut Rng, lines: usize) -> String {
    let mut out = "make[1]: Entering directory '/app/build'\n-- Looking for pthread.h - found\n-- Performing Test HAVE_ATOMICS - Success\n".to_owned();
    for step in 0..lines {
        let (folder, name) = (rng.pick(NAMES), rng.pick(NAMES));
        out += &format!("[{:3}%] Building C object {folder}/CMakeFiles/{folder}.dir/{name}.c.o\n", step * 100 / lines);
        if rng.chance(4) {
            let line = 1 + rng.below(900);
            out += &format!(
                "/app/{folder}/{name}.c: In function '{name}_open':\n/app/{folder}/{name}.c:{line}:12: warning: comparison of integer expressions of different \
                 signedness: 'int' and 'size_t' [-Wsign-compare]\n  {line} |   if (i < n)\n      |         ^\n"
            );
        }
    }
    if rng.chance(50) {
        out += "/app/queue/cursor.c:88:5: error: implicit declaration of function 'queue_pop' [-Wimplicit-function-declaration]\nmake[1]: *** \
                [queue/CMakeFiles/queue.dir/build.make:76: queue/cursor.c.o] Error 1\n";
    }
    out + "make[1]: Leaving directory '/app/build'\n"
}

pub(super) fn docker(rng: &mut Rng, lines: usize) -> String {
    let mut out = "#0 building with \"default\" instance using docker driver\n\n#1 [internal] load build definition from Dockerfile\n#1 transferring \
                   dockerfile: 812B done\n#1 DONE 0.0s\n\n#2 [internal] load metadata for docker.io/library/python:3.13\n#2 DONE 1.1s\n\n"
        .to_owned();
    let layers: Vec<_> = (0..3 + lines / 30).map(|_| hex(rng, 64)).collect();
    for layer in &layers {
        for step in 1..=lines / layers.len() / 2 {
            let size = 30 + rng.below(90);
            out += &format!(
                "#4 sha256:{layer} {}.{}MB / {size}MB {}.{}s\n",
                step * 4,
                rng.below(100),
                step / 5,
                step % 10
            );
        }
        out += &format!("#4 sha256:{layer} done\n#4 extracting sha256:{layer} 1.2s done\n");
    }
    out += "#4 DONE 9.9s\n\n#5 [2/4] WORKDIR /app\n#5 CACHED\n\n#6 [3/4] RUN pip install -r requirements.txt\n";
    for _ in 0..lines / 4 {
        let name = rng.pick(NAMES);
        out += &format!("#6 {}.{} Collecting {name}=={}\n", rng.below(20), rng.below(1000), version(rng));
    }
    out += "#6 DONE 21.4s\n\n#7 [4/4] COPY . .\n#7 DONE 0.3s\n\n#8 exporting to image\n#8 exporting layers 2.0s done\n";
    out + &format!(
        "#8 writing image sha256:{} done\n#8 naming to docker.io/library/app done\n#8 DONE 2.1s\n",
        hex(rng, 64)
    )
}

pub(super) fn apt(rng: &mut Rng, lines: usize) -> String {
    let mut out = "Reading package lists... Done\nBuilding dependency tree... Done\nReading state information... Done\nThe following NEW packages will be \
                   installed:\n  libpq-dev libpq5 libssl-dev\n"
        .to_owned();
    for number in 1..=lines / 4 {
        let (name, version) = (rng.pick(NAMES), version(rng));
        out += &format!(
            "Get:{number} http://deb.example/debian trixie/main amd64 lib{name} amd64 {version}-1 [{} kB]\n",
            rng.below(900)
        );
    }
    out += "Fetched 9,114 kB in 1s (8,201 kB/s)\n";
    for _ in 0..lines / 4 {
        let (name, version) = (rng.pick(NAMES), version(rng));
        out += &format!(
            "Selecting previously unselected package lib{name}:amd64.\nPreparing to unpack .../lib{name}_{version}-1_amd64.deb ...\nUnpacking lib{name}:amd64 \
             ({version}-1) ...\nSetting up lib{name}:amd64 ({version}-1) ...\n"
        );
    }
    out + "Processing triggers for libc-bin (2.41-12) ...\n"
}
