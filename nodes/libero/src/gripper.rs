//! The Panda gripper's ramp, as in robosuite 1.4.0 (`models/grippers/panda_gripper.py`).

/// Change of a finger's command in one physics substep.
const SPEED: f64 = 0.01;

/// Finger commands in [-1, 1], moved a little in every substep.
#[derive(Debug, Clone, PartialEq)]
pub struct Gripper {
    command: [f64; 2],
    /// Centre and half width of each finger actuator's range, metres.
    range: [(f64, f64); 2],
}

impl Gripper {
    /// `range` is `(low, high)` of each finger actuator, metres.
    pub fn new(range: [(f64, f64); 2]) -> Self {
        let range = range.map(|(low, high)| (0.5 * (high + low), 0.5 * (high - low)));
        Gripper { command: [0.0; 2], range }
    }

    /// Half way between open and closed, as after a reset.
    pub fn reset(&mut self) {
        self.command = [0.0; 2];
    }

    /// One substep towards open (`action` < 0) or closed (> 0); 0 holds.
    /// Only the sign counts. Gives the finger actuators' controls, metres.
    pub fn advance(&mut self, action: f64) -> [f64; 2] {
        let sign = if action == 0.0 { 0.0 } else { action.signum() };
        let direction = [-1.0, 1.0];
        std::array::from_fn(|finger| {
            let moved = self.command[finger] + direction[finger] * SPEED * sign;
            self.command[finger] = moved.clamp(-1.0, 1.0);
            let (centre, half_width) = self.range[finger];
            centre + half_width * self.command[finger]
        })
    }

    pub fn command(&self) -> [f64; 2] {
        self.command
    }

    pub fn set_command(&mut self, command: [f64; 2]) {
        self.command = command;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panda() -> Gripper {
        Gripper::new([(0.0, 0.04), (-0.04, 0.0)])
    }

    #[test]
    fn travels_from_half_to_open_in_four_control_steps() {
        let mut gripper = panda();
        let mut ctrl = [0.0; 2];
        for _ in 0..4 * 25 {
            ctrl = gripper.advance(-0.3);
        }
        assert!((ctrl[0] - 0.04).abs() < 1e-12 && (ctrl[1] + 0.04).abs() < 1e-12, "{ctrl:?}");
        assert_eq!(gripper.advance(-1.0), [0.04, -0.04], "it stays at the end of its range");
    }

    #[test]
    fn zero_holds_and_only_the_sign_counts() {
        let mut gripper = panda();
        let first = gripper.advance(1e-9);
        assert_eq!(gripper.advance(0.0), first);
        let mut other = panda();
        assert_eq!(other.advance(1.0), first);
        assert!(first[0] < 0.02, "closing moves the first finger inwards");
    }
}
