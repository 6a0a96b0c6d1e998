//! Fuzzes `jobs_tests::fuzz::fitting`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| jobs_tests::fuzz::fitting(data));
