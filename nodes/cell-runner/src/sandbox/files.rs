//! Landlock with nothing allowed: no path can be opened, no port bound or
//! connected to, no abstract socket reached, no signal sent to another process.

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, RestrictionStatus,
    Ruleset, RulesetAttr as _, RulesetError, RulesetStatus, Scope,
};

/// The newest interface this asks for; an older kernel gives what it has.
const NEWEST: ABI = ABI::V6;

pub(super) fn restrict() -> Result<String, String> {
    let status = enforce().map_err(|error| error.to_string())?;
    match status.ruleset {
        RulesetStatus::FullyEnforced => Ok("files, ports, abstract sockets, signals".to_owned()),
        RulesetStatus::PartiallyEnforced => {
            Ok("files; an older kernel has no rules for ports, sockets and signals".to_owned())
        }
        RulesetStatus::NotEnforced => Err("the kernel has no Landlock, or it is off".to_owned()),
    }
}

fn enforce() -> Result<RestrictionStatus, RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?
        .restrict_self()
}
