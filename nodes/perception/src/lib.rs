//! Answers where the thing is that a phrase names.
