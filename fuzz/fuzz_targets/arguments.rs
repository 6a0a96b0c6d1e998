//! Fuzzes `jobs_tests::fuzz::arguments`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| jobs_tests::fuzz::arguments(data));
