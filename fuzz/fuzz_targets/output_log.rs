//! Fuzzes `jobs_tests::fuzz::output_log`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| jobs_tests::fuzz::output_log(data));
