#![no_main]

use std::io::Cursor;

use libero::init_states::InitStates;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(states) = InitStates::from_reader(Cursor::new(bytes)) {
        for index in 0..states.count().min(8) {
            assert_eq!(states.row(index).len(), states.width());
        }
    }
});
