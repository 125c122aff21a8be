use libero::node::Libero;
use robot_template::Template;
use ruaflow_kit::{Robot, Settings};

/// Robots whose simulator is part of this program.
pub const SIMULATORS: [&str; 2] = ["libero", "template"];

/// A simulator of each kind, without pictures; a scene that was loaded is kept for
/// the next episode of its task.
#[derive(Default)]
pub struct Simulators {
    libero: Option<Box<Libero>>,
    template: Template,
}

impl Simulators {
    /// The simulator of a robot, by the name on its card.
    pub fn find(&mut self, robot: &str) -> Option<&mut dyn Robot> {
        match robot {
            "libero" => {
                let none = || Box::new(Libero::new(&Settings::fixed([("PICTURES", "off")])));
                Some(&mut **self.libero.get_or_insert_with(none))
            }
            "template" => Some(&mut self.template),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_simulator_is_there() {
        let mut simulators = Simulators::default();
        assert!(SIMULATORS.iter().all(|name| simulators.find(name).is_some()));
        assert!(simulators.find("real").is_none());
    }
}
