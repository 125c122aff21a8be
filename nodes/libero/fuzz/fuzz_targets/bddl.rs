#![no_main]

use std::path::Path;

use libero::bddl::Problem;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = Problem::parse(text, Path::new("fuzzed.bddl"));
});
