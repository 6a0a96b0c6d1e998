//! Precedence, refusals, and the agreement with the libraries' own defaults.

use std::io::Write as _;

use jobs_process::{BashToolConfig, ProcessConfig};
use tool_jobs::ToolsConfig;

use super::*;

const ROWS: &[&[Row]] = &[PROCESS, MCP];

fn flags(arguments: &[&str]) -> Flags {
    let command = Flags::augment(clap::Command::new("test"), ROWS);
    let matches = command
        .try_get_matches_from(std::iter::once(&"test").chain(arguments))
        .expect("arguments");
    Flags::take(&matches, ROWS).expect("flags")
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(text.as_bytes()).expect("written");
    file
}

fn load(arguments: &[&str], text: &str) -> Result<Settings, SettingsError> {
    let file = file(text);
    let mut flags = flags(arguments);
    flags.config = Some(file.path().to_owned());
    Settings::load(ROWS, &flags)
}

#[test]
fn a_flag_goes_before_a_file_and_a_file_before_a_default() {
    let text =
        "[tools]\nwaitTimeoutMs = 1000\nlistLimitBytes = \"none\"\n[process.env]\ndeny = [\"A\"]\n";
    let settings =
        load(&["--wait-timeout-ms", "2000", "--allow-env", "B,C"], text).expect("settings");
    let tools: ToolsConfig = settings.read("tools").expect("valid");
    assert_eq!(tools.wait_timeout().as_millis(), 2_000);
    assert_eq!(tools.list_limit(), None);
    assert_eq!(tools.max_wait_timeout().as_millis(), 50_000);
    let printed = settings.print();
    for line in [
        "waitTimeoutMs = 2000 # flag",
        "listLimitBytes = \"none\" # file",
        "maxWaitTimeoutMs = 50000 # default",
        "allow = [\"B\",\"C\"] # flag",
        "deny = [\"A\"] # file",
        "[process.env]",
    ] {
        assert!(
            printed.lines().any(|printed| printed == line),
            "{line}\n{printed}"
        );
    }
}

#[test]
fn what_is_printed_can_be_read_back() {
    let settings = load(&["--max-runtime-ms", "5", "--tool-prefix", "a\"b"], "").expect("settings");
    let printed = settings.print();
    let again = load(&[], &printed).expect("settings");
    let values = |settings: &Settings| -> Vec<Value> {
        settings
            .rows
            .iter()
            .map(|(_, value, _)| value.clone())
            .collect()
    };
    assert_eq!(values(&settings), values(&again));
}

#[test]
fn what_nobody_knows_is_refused() {
    let refused = load(&[], "[tools]\nwaitTimeout = 1\n").expect_err("unknown");
    assert!(
        refused
            .to_string()
            .starts_with("unknown setting tools.waitTimeout in"),
        "{refused}"
    );
    let refused = load(&[], "[tools\n").expect_err("no TOML");
    assert!(matches!(refused, SettingsError::Syntax { .. }));
    let mut nowhere = flags(&[]);
    nowhere.config = Some("/nowhere/at/all".into());
    let refused = Settings::load(ROWS, &nowhere).expect_err("no file");
    assert!(refused.is_environment());
}

#[test]
fn the_libraries_check_the_values() {
    for (flag, value, table) in [
        ("--wait-timeout-ms", "0", "tools"),
        ("--wait-timeout-ms", "soon", "tools"),
        ("--grace-ms", "0", "process"),
        ("--max-concurrent-jobs", "0", "registry"),
        ("--tool-prefix", "a b", "mcp"),
        ("--bash-on-time-limit", "wait", "bash"),
    ] {
        let settings = load(&[flag, value], "").expect("settings");
        let refused = match table {
            "tools" => settings.read::<ToolsConfig>(table).map(drop),
            "process" => settings.read::<ProcessConfig>(table).map(drop),
            "registry" => settings.read::<jobs_local::Config>(table).map(drop),
            "mcp" => settings.read::<jobs_mcp::McpConfig>(table).map(drop),
            _ => settings.read::<BashToolConfig>(table).map(drop),
        };
        let refused = refused.expect_err(value).to_string();
        assert!(refused.starts_with(&format!("[{table}] ")), "{refused}");
    }
}

/// The table's defaults are the libraries', but for the times below the clients' own limit.
#[test]
fn the_defaults_are_those_of_the_libraries() {
    let mut flags = flags(&[]);
    let own = [
        ("bash.timeoutMs", "120000"),
        ("bash.maxTimeoutMs", "600000"),
        ("tools.maxWaitTimeoutMs", "600000"),
    ];
    for (path, value) in own {
        flags
            .given
            .insert(path, (Layer::Flag, vec![value.to_owned()]));
    }
    let settings = Settings::load(ROWS, &flags).expect("settings");
    let registry: jobs_local::Config = settings.read("registry").expect("valid");
    assert_eq!(registry, jobs_local::Config::default());
    let tools: ToolsConfig = settings.read("tools").expect("valid");
    assert_eq!(tools, ToolsConfig::default());
    let bash: BashToolConfig = settings.read("bash").expect("valid");
    assert_eq!(bash, BashToolConfig::default());
    let mcp: jobs_mcp::McpConfig = settings.read("mcp").expect("valid");
    assert_eq!(mcp, jobs_mcp::McpConfig::default());
    let process: ProcessConfig = settings.read("process").expect("valid");
    let (process, expected) = (
        format!("{process:?}"),
        format!("{:?}", ProcessConfig::new()),
    );
    assert_eq!(process, expected);
}
