//! The flags of a model: one for each of its settings.

use std::collections::BTreeMap;

use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches};
use ruaflow_llm::SETTINGS;

const HEADING: &str = "Model";

/// What was given, by the setting's variable.
#[derive(Clone, Debug, Default)]
pub struct ModelFlags(BTreeMap<String, String>);

impl ModelFlags {
    pub fn settings(&self) -> impl Iterator<Item = (String, String)> {
        self.0.clone().into_iter()
    }

    /// Whether they name a model.
    pub fn name_one(&self) -> bool {
        self.0.contains_key("RUA_MODEL")
    }
}

impl Args for ModelFlags {
    fn augment_args(command: Command) -> Command {
        SETTINGS.iter().fold(command, |command, setting| {
            let help = format!(
                "{} [{}; in the environment {}; default: {}]",
                setting.about,
                setting.value,
                setting.variable(),
                setting.default
            );
            let arg = Arg::new(setting.name).long(setting.name).value_name("VALUE");
            command.arg(arg.help(help).help_heading(HEADING))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ModelFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut flags = ModelFlags::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        for setting in SETTINGS {
            if let Some(value) = matches.get_one::<String>(setting.name) {
                self.0.insert(setting.variable(), value.clone());
            }
        }
        Ok(())
    }
}
