//! Fuzzes `jobs_tests::fuzz::configuration`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| jobs_tests::fuzz::configuration(data));
