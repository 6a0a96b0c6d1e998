//! What a configuration accepts and how it refuses.

use std::num::NonZeroUsize;
use std::time::Duration;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, MapDeserializer};

use super::{CompletionDelivery, ToolsConfig};
use crate::fit::Truncation;

fn parse(text: &str) -> Result<ToolsConfig, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

#[test]
fn absence_and_null_are_the_default() {
    assert_eq!(parse("{}").unwrap(), ToolsConfig::default());
    let nulls = r#"{"waitTimeoutMs":null,"maxWaitTimeoutMs":null,"completionDelivery":null,
        "maxConsecutiveWakes":null,"wakeRegainMs":null,"truncation":null}"#;
    assert_eq!(parse(nulls).unwrap(), ToolsConfig::default());
}

#[test]
fn null_takes_a_limit_away() {
    let config = parse(r#"{"defaultOutputLimitBytes":null,"listLimitBytes":null}"#).unwrap();
    assert_eq!(config.default_output_limit(), None);
    assert_eq!(config.list_limit(), None);
    assert_eq!(
        ToolsConfig::default().list_limit(),
        NonZeroUsize::new(32_768)
    );
}

#[test]
fn every_field_is_read_and_written() {
    let text = r#"{"waitTimeoutMs":50,"maxWaitTimeoutMs":50.0,"completionDelivery":"quiet",
        "maxConsecutiveWakes":1,"wakeRegainMs":60000,"defaultOutputLimitBytes":1,
        "listLimitBytes":4294967295,"truncation":"plain"}"#;
    let config = parse(text).unwrap();
    assert_eq!(config.wait_timeout(), Duration::from_millis(50));
    assert_eq!(config.max_wait_timeout(), Duration::from_millis(50));
    assert_eq!(config.completion_delivery(), CompletionDelivery::Quiet);
    assert_eq!(config.max_consecutive_wakes().get(), 1);
    assert_eq!(config.wake_regain(), Some(Duration::from_secs(60)));
    assert_eq!(config.default_output_limit(), NonZeroUsize::new(1));
    assert_eq!(config.list_limit(), NonZeroUsize::new(4_294_967_295));
    assert_eq!(config.truncation(), Truncation::Plain);
    let written = serde_json::to_string(&config).unwrap();
    assert_eq!(parse(&written).unwrap(), config);
}

#[test]
fn a_refusal_names_field_and_value() {
    for (text, field, value) in [
        (r#"{"waitTimeoutMs":0}"#, "waitTimeoutMs", "got 0"),
        (r#"{"waitTimeoutMs":1.5}"#, "waitTimeoutMs", "got 1.5"),
        (r#"{"waitTimeoutMs":-1}"#, "waitTimeoutMs", "got -1"),
        (r#"{"waitTimeoutMs":"x"}"#, "waitTimeoutMs", "got \"x\""),
        (r#"{"waitTimeoutMs":true}"#, "waitTimeoutMs", "got true"),
        (r#"{"waitTimeoutMs":[1]}"#, "waitTimeoutMs", "got a list"),
        (
            r#"{"waitTimeoutMs":{"a":1}}"#,
            "waitTimeoutMs",
            "got a table",
        ),
        (r#"{"waitTimeoutMs":700000}"#, "waitTimeoutMs", "got 700000"),
        (r#"{"maxWaitTimeoutMs":10}"#, "waitTimeoutMs", "got 30000"),
        (
            r#"{"maxWaitTimeoutMs":2147483648}"#,
            "maxWaitTimeoutMs",
            "got 2147483648",
        ),
        (
            r#"{"completionDelivery":"loud"}"#,
            "completionDelivery",
            "got \"loud\"",
        ),
        (r#"{"completionDelivery":5}"#, "completionDelivery", "got 5"),
        (
            r#"{"maxConsecutiveWakes":0}"#,
            "maxConsecutiveWakes",
            "got 0",
        ),
        (
            r#"{"maxConsecutiveWakes":2.5}"#,
            "maxConsecutiveWakes",
            "got 2.5",
        ),
        (
            r#"{"maxConsecutiveWakes":4294967296}"#,
            "maxConsecutiveWakes",
            "got 4294967296",
        ),
        (
            r#"{"maxConsecutiveWakes":9007199254740992.0}"#,
            "maxConsecutiveWakes",
            "got 9007199254740992",
        ),
        (r#"{"wakeRegainMs":0}"#, "wakeRegainMs", "got 0"),
        (
            r#"{"defaultOutputLimitBytes":0}"#,
            "defaultOutputLimitBytes",
            "got 0",
        ),
        (
            r#"{"listLimitBytes":4294967296}"#,
            "listLimitBytes",
            "got 4294967296",
        ),
        (r#"{"truncation":"none"}"#, "truncation", "got \"none\""),
        (r#"{"waitTimeout":1}"#, "key", "got waitTimeout"),
    ] {
        let error = parse(text).unwrap_err();
        let start = format!("invalid configuration: {field}: expected ");
        assert!(
            error.starts_with(&start) && error.contains(value),
            "{error}"
        );
    }
}

#[test]
fn numbers_that_json_lacks_are_refused() {
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for field in ["waitTimeoutMs", "maxConsecutiveWakes", "listLimitBytes"] {
            let map = MapDeserializer::<_, Error>::new(std::iter::once((field, number)));
            let error = ToolsConfig::deserialize(map.into_deserializer())
                .unwrap_err()
                .to_string();
            assert!(error.contains(field), "{error}");
            assert!(error.contains(&format!("got {number}")), "{error}");
        }
    }
}

#[test]
fn the_builder_checks_the_same() {
    for (duration, got) in [
        (Duration::ZERO, "got 0ns"),
        (Duration::from_micros(1500), "got 1.5ms"),
        (Duration::from_millis(1 << 31), "got 2147483.648s"),
        (Duration::MAX, "got 1844"),
    ] {
        let built = ToolsConfig::builder().max_wait_timeout(duration).build();
        let error = built.unwrap_err();
        assert_eq!(error.field, "maxWaitTimeoutMs");
        assert!(error.to_string().contains(got), "{error}");
    }
    let limit = NonZeroUsize::new(1 << 32);
    let error = ToolsConfig::builder()
        .list_limit(limit)
        .build()
        .unwrap_err();
    assert_eq!(error.field, "listLimitBytes");
}
