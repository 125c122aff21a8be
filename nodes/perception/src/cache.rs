//! What was made of the last pictures, because who asks about one asks again.

use crate::eyes::{Eyes, EyesError, Sight};

/// Pictures with their features, the one used last at the end.
pub struct Cache<E: Eyes>(Vec<(Sight, E::Features)>);

impl<E: Eyes> Default for Cache<E> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<E: Eyes> Cache<E> {
    /// The features of a picture, and whether it had to be looked at.
    ///
    /// Pictures are compared byte by byte: a real camera's change within a step,
    /// and comparing costs less than hashing.
    ///
    /// # Errors
    /// Those of the eyes.
    pub fn features(
        &mut self,
        eyes: &mut E,
        sight: Sight,
    ) -> Result<(&E::Features, bool), EyesError> {
        let known = self
            .0
            .iter()
            .position(|(kept, _)| kept.picture == sight.picture && kept.labels == sight.labels);
        match known {
            Some(at) => {
                let found = self.0.remove(at);
                self.0.push(found);
            }
            None => {
                let features = eyes.look(&sight)?;
                if self.0.len() >= E::KEPT {
                    self.0.remove(0);
                }
                self.0.push((sight, features));
            }
        }
        let last = self.0.last().map(|(_, features)| features);
        last.map(|features| (features, known.is_none())).ok_or(EyesError::NoLabels)
    }
}
