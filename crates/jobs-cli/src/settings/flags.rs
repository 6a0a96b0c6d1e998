//! A flag and a variable for each setting, from the table.

use std::collections::HashMap;
use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, Error, value_parser};

use super::table::{Kind, Row};

/// What was said on the command line and in the environment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flags {
    pub(crate) config: Option<PathBuf>,
    /// By the path of the setting.
    pub(crate) given: HashMap<&'static str, (Layer, Vec<String>)>,
}

/// Who said it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layer {
    Flag,
    Variable,
}

const CONFIG: &str = "config";

impl Flags {
    /// Adds the flags of these settings to a command.
    pub(crate) fn augment(command: Command, rows: &[&[Row]]) -> Command {
        let config = Arg::new(CONFIG)
            .long(CONFIG)
            .env("AGENT_JOBS_CONFIG")
            .hide_env(true)
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .help(
                "Read settings from this TOML file, or from the one that AGENT_JOBS_CONFIG names",
            );
        let command = command.arg(config).next_help_heading("Settings");
        let args = rows.iter().copied().flatten().map(argument);
        args.fold(command, Command::arg)
    }

    /// Takes them out of what was parsed.
    pub(crate) fn take(matches: &ArgMatches, rows: &[&[Row]]) -> Result<Self, Error> {
        let mut flags = Self {
            config: matches.get_one::<PathBuf>(CONFIG).cloned(),
            given: HashMap::new(),
        };
        for row in rows.iter().copied().flatten() {
            let layer = match matches.value_source(row.flag) {
                Some(ValueSource::CommandLine) => Layer::Flag,
                Some(ValueSource::EnvVariable) => Layer::Variable,
                _ => continue,
            };
            let values = matches
                .get_many::<String>(row.flag)
                .map(|values| values.cloned().collect())
                .unwrap_or_default();
            flags.given.insert(row.path, (layer, values));
        }
        Ok(flags)
    }
}

fn argument(row: &Row) -> Arg {
    let help = match row.default {
        "" => row.help.to_owned(),
        default => format!("{} [default: {default}]", row.help),
    };
    let arg = Arg::new(row.flag)
        .long(row.flag)
        .env(row.variable())
        .hide_env(true)
        .help(help);
    match row.kind {
        Kind::Number => arg.value_name("N"),
        Kind::Text => arg.value_name("TEXT"),
        Kind::List => arg
            .value_name("NAME")
            .action(ArgAction::Append)
            .value_delimiter(','),
    }
}
