//! Eyes that see what only the simulator knows: whole and exact masks, by name.
//! For developing planners, and for telling an error of perception from others.

use crate::eyes::{Asked, Eyes, EyesError, Instance, Labels, Sight};
use crate::names;

/// Fewer pixels can't be seen by anybody.
const LEAST_PIXELS: usize = 4;

/// The privileged backend.
#[derive(Debug, Default)]
pub struct Oracle;

/// A picture's labels by pixel.
#[derive(Debug)]
pub struct Seen {
    labels: Labels,
    width: usize,
}

impl Eyes for Oracle {
    type Features = Seen;

    const KEPT: usize = 2;
    const WANTS_LABELS: bool = true;

    fn name(&self) -> String {
        "oracle".to_owned()
    }

    fn look(&mut self, sight: &Sight) -> Result<Seen, EyesError> {
        let (width, height) = (sight.picture.width as usize, sight.picture.height as usize);
        match &sight.labels {
            Some(labels) if labels.of.len() == width * height => {
                Ok(Seen { labels: labels.clone(), width })
            }
            _ => Err(EyesError::NoLabels),
        }
    }

    fn ask(&mut self, seen: &Seen, asked: Asked<'_>) -> Result<Vec<Instance>, EyesError> {
        let Labels { of, names } = &seen.labels;
        let mut pixels = vec![0_usize; names.len()];
        let instance_of = |label: u32| (label as usize).checked_sub(1);
        for at in of.iter().filter_map(|label| instance_of(*label)) {
            if let Some(count) = pixels.get_mut(at) {
                *count += 1;
            }
        }
        let visible = (0..names.len()).filter(|&at| pixels[at] >= LEAST_PIXELS);
        let chosen: Vec<(usize, f32)> = match asked {
            Asked::Phrase(phrase) => {
                let fitting = visible.filter_map(|at| Some((at, names::fit(phrase, &names[at])?)));
                let fitting: Vec<(usize, f32)> = fitting.collect();
                let best = fitting.iter().map(|(_, fit)| *fit).fold(0.0, f32::max);
                fitting.into_iter().filter(|(_, fit)| *fit == best).collect()
            }
            Asked::Point { row, col } => {
                let label = of.get(row as usize * seen.width + col as usize);
                let here = label.and_then(|label| instance_of(*label));
                visible.filter(|at| here == Some(*at)).map(|at| (at, 1.0)).collect()
            }
        };
        let instance = |(at, score): (usize, f32)| Instance {
            label: names::category(&names[at]).replace('_', " "),
            score,
            mask: of.iter().map(|label| u8::from(instance_of(*label) == Some(at))).collect(),
        };
        Ok(chosen.into_iter().map(instance).collect())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::eyes::Picture;

    fn sight(labels: Option<Labels>) -> Sight {
        Sight { picture: Picture { width: 4, height: 4, rgb: vec![0; 48] }, labels }
    }

    fn labels() -> Labels {
        let mut of = vec![0; 16];
        of[..4].fill(2);
        of[4..8].fill(3);
        of[8..10].fill(4);
        let names = ["robot", "porcelain_mug_1", "white_yellow_mug_1", "plate_1"];
        Labels { of, names: names.map(str::to_owned).to_vec() }
    }

    #[test]
    fn instances_are_named_and_whole() {
        let seen = Oracle.look(&sight(Some(labels()))).unwrap();
        let ask = |asked| Oracle.ask(&seen, asked).unwrap();
        let found = ask(Asked::Phrase("white mug"));
        assert_eq!(found.len(), 1, "the yellow and white one is no white mug beside it");
        assert_eq!((found[0].label.as_str(), found[0].score), ("porcelain mug", 1.0));
        assert_eq!(found[0].mask[..5], [1, 1, 1, 1, 0]);
        assert_eq!(ask(Asked::Phrase("mug")).len(), 2);
        assert_eq!(ask(Asked::Phrase("plate")).len(), 0, "two pixels are not seen");
        assert_eq!(ask(Asked::Phrase("unicorn")).len(), 0);
        assert_eq!(ask(Asked::Point { row: 1, col: 0 })[0].label, "white yellow mug");
        assert_eq!(ask(Asked::Point { row: 3, col: 3 }).len(), 0);
    }

    #[test]
    fn a_robot_without_labels_is_told_of() {
        assert!(matches!(Oracle.look(&sight(None)), Err(EyesError::NoLabels)));
        let short = Labels { of: vec![1; 3], names: Vec::new() };
        assert!(matches!(Oracle.look(&sight(Some(short))), Err(EyesError::NoLabels)));
        let foreign = Labels { of: vec![9; 16], names: Vec::new() };
        let seen = Oracle.look(&sight(Some(foreign))).unwrap();
        assert_eq!(Oracle.ask(&seen, Asked::Point { row: 0, col: 0 }).unwrap(), []);
    }
}
