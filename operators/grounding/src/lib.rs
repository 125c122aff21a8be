//! Which of several instances a phrase means.
