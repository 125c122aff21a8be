//! Whether a motion still makes progress. What holds it up, a joint limit or a
//! contact, can't be known from here, so only what was measured is reported.

/// Control steps without progress after which a motion counts as stalled.
pub const WINDOW: u32 = 10;

/// Watches one error (a distance or an angle) shrink.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    best: f64,
    /// The least that counts as progress.
    least: f64,
    without: u32,
}

impl Progress {
    pub fn new(error: f64, least: f64) -> Self {
        Progress { best: error.abs(), least, without: 0 }
    }

    pub fn observe(&mut self, error: f64) {
        // Measured against the best so far, so that creeping adds up.
        if error.abs() <= self.best - self.least {
            self.best = error.abs();
            self.without = 0;
        } else {
            self.without += 1;
        }
    }

    /// Control steps since the last progress.
    pub fn without(&self) -> u32 {
        self.without
    }

    pub fn least(&self) -> f64 {
        self.least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn creeping_is_progress_and_trembling_is_not() {
        let mut creeping = Progress::new(0.1, 1e-3);
        for i in 1..100 {
            creeping.observe(0.1 - 2e-4 * f64::from(i));
            assert!(creeping.without() < WINDOW);
        }
        let mut trembling = Progress::new(0.1, 1e-3);
        for i in 0..WINDOW {
            trembling.observe(if i % 2 == 0 { 0.0995 } else { -0.1005 });
        }
        assert_eq!(trembling.without(), WINDOW);
        trembling.observe(0.05);
        assert_eq!(trembling.without(), 0);
    }
}
