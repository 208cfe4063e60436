//! The linker's settings for an addon, which differ by system.

fn main() {
    napi_build::setup();
}
