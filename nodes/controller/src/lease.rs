//! Who may move the robot. One caller at a time; a person's stop takes it away.

/// The caller that a new episode begins with: the cell runner.
pub const CELL: &str = "cell";
/// Holder after an emergency stop.
pub const PERSON: &str = "person";

/// The right to call motions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lease {
    /// Empty when nobody holds it.
    holder: String,
}

/// A caller that has not got the lease.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LeaseError {
    #[error("{caller:?} may not move the robot: {holder:?} holds the lease")]
    Held { caller: String, holder: String },
    #[error("{caller:?} may not move the robot: it has to take the lease first")]
    Free { caller: String },
}

impl Lease {
    pub fn holder(&self) -> &str {
        &self.holder
    }

    pub fn check(&self, caller: &str) -> Result<(), LeaseError> {
        if self.holder.is_empty() {
            return Err(LeaseError::Free { caller: caller.to_owned() });
        }
        if self.holder != caller {
            return Err(LeaseError::Held {
                caller: caller.to_owned(),
                holder: self.holder.clone(),
            });
        }
        Ok(())
    }

    /// A free lease is anybody's; a held one only its holder gives away.
    pub fn hand_over(&mut self, caller: &str, to: &str) -> Result<bool, LeaseError> {
        if !self.holder.is_empty() {
            self.check(caller)?;
        }
        Ok(self.set(to))
    }

    /// Returns whether that changed anything.
    pub fn set(&mut self, holder: &str) -> bool {
        let changed = self.holder != holder;
        holder.clone_into(&mut self.holder);
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_holder_moves_and_gives_away() {
        let mut lease = Lease::default();
        assert_eq!(
            lease.check("cell").unwrap_err().to_string(),
            "\"cell\" may not move the robot: it has to take the lease first"
        );
        assert_eq!(lease.hand_over("cell", "cell"), Ok(true));
        assert_eq!(lease.check("cell"), Ok(()));
        assert_eq!(
            lease.check("mcp").unwrap_err().to_string(),
            "\"mcp\" may not move the robot: \"cell\" holds the lease"
        );
        assert!(lease.hand_over("mcp", "mcp").is_err());
        assert_eq!(lease.hand_over("cell", "mcp"), Ok(true));
        assert_eq!(lease.hand_over("mcp", "mcp"), Ok(false));
        assert_eq!(lease.holder(), "mcp");
    }
}
