//! Gives the shared library its name for the loader. Programs built with one minor version of 0.x do not load another.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        let version = |part| std::env::var(part).expect("set by cargo");
        let (major, minor) = (version("CARGO_PKG_VERSION_MAJOR"), version("CARGO_PKG_VERSION_MINOR"));
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libstc.so.{major}.{minor}");
    }
}
