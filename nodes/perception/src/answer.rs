//! From a question to what is answered: asks the eyes, decides by words that
//! relate, and keeps the best.

use std::collections::BTreeMap;

use grounding::{Body, Measured, Part, Query, Thing, ground, measure};
use ruaflow_schemas::{Bytes, SegmentInstance};

use crate::eyes::{Asked, Eyes, EyesError, Instance};
use crate::question::{Question, What};

/// What was found, the one that is meant first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    pub instances: Vec<SegmentInstance>,
    /// How words that relate were decided, or why nothing fits.
    pub reason: String,
}

/// Answers a question about a picture whose features are known.
///
/// # Errors
/// Those of the eyes.
pub fn answer<E: Eyes>(
    eyes: &mut E,
    features: &E::Features,
    question: &Question,
) -> Result<Found, EyesError> {
    let mut asking = Asking { eyes, features, question, known: BTreeMap::new() };
    match &question.what {
        What::Point { row, col } => {
            let seen = asking.see(Asked::Point { row: *row, col: *col })?;
            Ok(seen.best(question, String::new()))
        }
        What::Prompt(query) => asking.prompt(query),
    }
}

struct Asking<'a, E: Eyes> {
    eyes: &'a mut E,
    features: &'a E::Features,
    question: &'a Question,
    /// What was seen under each noun.
    known: BTreeMap<String, Seen>,
}

/// What the eyes see when asked for one thing, best first.
#[derive(Default)]
struct Seen {
    /// Those that score enough.
    sure: Vec<(Instance, Measured)>,
    /// The best of the others.
    doubtful: Option<(Instance, Measured)>,
}

impl<E: Eyes> Asking<'_, E> {
    fn prompt(&mut self, query: &Query) -> Result<Found, EyesError> {
        if E::KNOWS_PARTS
            && query.relations.is_empty()
            && let Some(words) = query.part_phrase()
        {
            let seen = self.see(Asked::Phrase(&words))?;
            if !seen.sure.is_empty() {
                return Ok(seen.best(self.question, String::new()));
            }
        }
        let grounded = ground(query, |noun| self.things(noun))?;
        let seen = self.known.remove(&query.noun).unwrap_or_default();
        if seen.sure.is_empty() {
            return Ok(seen.best(self.question, grounded.reason));
        }
        let mut sure: Vec<_> = seen.sure.into_iter().map(Some).collect();
        let chosen = grounded.order.iter().filter_map(|&at| sure.get_mut(at)?.take());
        let mut chosen: Vec<_> = chosen.take(self.question.top_k).collect();
        let mut reason = grounded.reason;
        if let Some(part) = query.part {
            chosen.retain_mut(|(instance, measured)| match &measured.body {
                Some(body) => cut(self.question, part, body, &mut instance.mask),
                None => {
                    reason = "without depth its part can't be told from the whole".to_owned();
                    true
                }
            });
        }
        Ok(Found { instances: chosen.into_iter().map(told).collect(), reason })
    }

    fn things(&mut self, noun: &str) -> Result<Vec<Thing>, EyesError> {
        if !self.known.contains_key(noun) {
            let seen = self.see(Asked::Phrase(noun))?;
            self.known.insert(noun.to_owned(), seen);
        }
        let sure = self.known.get(noun).map(|seen| seen.sure.as_slice()).unwrap_or_default();
        let thing = |(instance, measured): &(Instance, Measured)| Thing {
            score: f64::from(instance.score),
            body: measured.body,
        };
        Ok(sure.iter().map(thing).collect())
    }

    fn see(&mut self, asked: Asked<'_>) -> Result<Seen, EyesError> {
        let Question { picture, depth, camera, min_score, .. } = self.question;
        let pixels = picture.width as usize * picture.height as usize;
        let mut seen = Seen::default();
        let mut instances = self.eyes.ask(self.features, asked)?;
        instances.sort_by(|a, b| b.score.total_cmp(&a.score));
        for instance in instances {
            let found = instance.mask.len();
            if found != pixels || !(0.0..=1.0).contains(&instance.score) {
                let (model, score) = ("of the eyes", instance.score);
                let message = format!("a mask of {found} bytes for {pixels} pixels, score {score}");
                return Err(EyesError::Answer { model, message });
            }
            let measured = measure(&instance.mask, picture.width as usize, depth, camera.as_ref());
            if measured.pixels == 0 {
                continue;
            }
            if f64::from(instance.score) >= *min_score {
                seen.sure.push((instance, measured));
            } else {
                seen.doubtful.get_or_insert((instance, measured));
            }
        }
        Ok(seen)
    }
}

impl Seen {
    fn best(self, question: &Question, reason: String) -> Found {
        let none_sure = self.sure.is_empty();
        let doubtful = self.doubtful.into_iter().filter(|_| none_sure);
        let best = self.sure.into_iter().take(question.top_k);
        Found { instances: best.chain(doubtful).map(told).collect(), reason }
    }
}

/// Leaves of a mask what is the part's; false when nothing is.
fn cut(question: &Question, part: Part, whole: &Body, mask: &mut [u8]) -> bool {
    let (Some(camera), width) = (&question.camera, question.picture.width as usize) else {
        return true;
    };
    let mut left = false;
    for (at, inside) in mask.iter_mut().enumerate().filter(|(_, inside)| **inside != 0) {
        let point = camera.point(at / width, at % width, question.depth[at]);
        *inside = u8::from(point.is_ok_and(|point| part.holds(whole, point)));
        left |= *inside != 0;
    }
    left
}

fn told((instance, _): (Instance, Measured)) -> SegmentInstance {
    SegmentInstance {
        label: instance.label,
        score: f64::from(instance.score),
        mask: Bytes(instance.mask),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use ruaflow_schemas::SegmentRequest;

    use super::*;
    use crate::eyes::Sight;

    const SIDE: usize = 64;

    /// Sees squares by name, one metre below a camera that is one metre wide there;
    /// a column further is x, a row further is -y.
    struct Squares<const PARTS: bool>(Vec<(&'static str, f32, [usize; 4])>);

    impl<const PARTS: bool> Eyes for Squares<PARTS> {
        type Features = ();

        const KNOWS_PARTS: bool = PARTS;

        fn name(&self) -> String {
            "squares".to_owned()
        }

        fn look(&mut self, _: &Sight) -> Result<(), EyesError> {
            Ok(())
        }

        fn ask(&mut self, (): &(), asked: Asked<'_>) -> Result<Vec<Instance>, EyesError> {
            let fits = |name: &str, area: &[usize; 4]| match asked {
                Asked::Phrase(phrase) => phrase == name,
                Asked::Point { row, col } => inside(area, row as usize * SIDE + col as usize),
            };
            let found = self.0.iter().filter(|(name, _, area)| fits(name, area));
            let instance = |(name, score, area): &(&str, f32, [usize; 4])| Instance {
                label: (*name).to_owned(),
                score: *score,
                mask: (0..SIDE * SIDE).map(|at| u8::from(inside(area, at))).collect(),
            };
            Ok(found.map(instance).collect())
        }
    }

    fn inside([row0, col0, row1, col1]: &[usize; 4], at: usize) -> bool {
        (*row0..*row1).contains(&(at / SIDE)) && (*col0..*col1).contains(&(at % SIDE))
    }

    fn asked(prompt: &str, change: impl FnOnce(&mut SegmentRequest)) -> Question {
        let side = SIDE as f64;
        let mut request = SegmentRequest {
            prompt: prompt.to_owned(),
            top_k: 1,
            min_score: 0.2,
            width: SIDE as u32,
            height: SIDE as u32,
            color: Bytes(vec![0; 3 * SIDE * SIDE]),
            depth: vec![1.0; SIDE * SIDE],
            intrinsics: [side, 0.0, side / 2.0, 0.0, side, side / 2.0, 0.0, 0.0, 1.0],
            camera_to_world: [
                1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 1.0, 0.0, 0.0, 0.0, 1.0,
            ],
            ..SegmentRequest::default()
        };
        change(&mut request);
        Question::check(request).unwrap()
    }

    fn eyes<const PARTS: bool>() -> Squares<PARTS> {
        Squares(vec![
            ("bowl", 0.9, [4, 4, 12, 12]),
            ("bowl", 0.8, [44, 4, 52, 12]),
            ("bowl", 0.1, [30, 50, 38, 58]),
            ("plate", 0.9, [40, 20, 52, 32]),
            ("caddy", 0.9, [10, 20, 34, 44]),
            ("ghost", 0.15, [0, 0, 8, 8]),
            ("left compartment of caddy", 0.7, [26, 20, 34, 44]),
        ])
    }

    fn rows(mask: &[u8]) -> (usize, usize) {
        let row = |at: Option<usize>| at.map_or(0, |at| at / SIDE);
        let first = mask.iter().position(|inside| *inside != 0);
        (row(first), row(mask.iter().rposition(|inside| *inside != 0)))
    }

    #[test]
    fn words_decide_and_the_best_come_first() {
        let mut eyes = eyes::<false>();
        let found = answer(&mut eyes, &(), &asked("bowl next to the plate", |_| {})).unwrap();
        assert_eq!(found.instances.len(), 1);
        assert_eq!(rows(&found.instances[0].mask.0), (44, 51));
        assert!(found.reason.starts_with("next to the plate: 0."), "{}", found.reason);

        let both = answer(&mut eyes, &(), &asked("the bowl", |r| r.top_k = 5)).unwrap();
        let scores: Vec<f32> = both.instances.iter().map(|i| i.score as f32).collect();
        assert_eq!((scores, both.reason.as_str()), (vec![0.9, 0.8], ""));
        let left = answer(&mut eyes, &(), &asked("left bowl", |r| r.top_k = 5)).unwrap();
        assert_eq!(rows(&left.instances[0].mask.0), (44, 51), "-y is left");
    }

    #[test]
    fn what_scores_too_little_is_only_told_of() {
        let mut eyes = eyes::<false>();
        let weak = answer(&mut eyes, &(), &asked("the ghost", |_| {})).unwrap();
        assert_eq!(weak.instances.len(), 1);
        assert!(weak.instances[0].score < 0.2);
        assert_eq!(answer(&mut eyes, &(), &asked("unicorn", |_| {})).unwrap(), Found::default());
        let on = answer(&mut eyes, &(), &asked("bowl in front of the ghost", |_| {})).unwrap();
        assert!(on.instances.is_empty() && on.reason.contains("\"ghost\" was not found"));
    }

    #[test]
    fn a_part_is_cut_out_unless_the_eyes_know_it() {
        let question = asked("left compartment of the caddy", |_| {});
        let cut = answer(&mut eyes::<false>(), &(), &question).unwrap();
        assert_eq!(
            (cut.instances[0].label.as_str(), rows(&cut.instances[0].mask.0)),
            ("caddy", (26, 33))
        );
        let known = answer(&mut eyes::<true>(), &(), &question).unwrap();
        assert_eq!(known.instances[0].label, "left compartment of caddy");
        let other = asked("right compartment of the caddy", |_| {});
        let cut = answer(&mut eyes::<true>(), &(), &other).unwrap();
        assert_eq!(rows(&cut.instances[0].mask.0), (10, 17), "not known, so cut");
        let flat = asked("left compartment of the caddy", |r| r.depth.clear());
        let whole = answer(&mut eyes::<false>(), &(), &flat).unwrap();
        assert!(rows(&whole.instances[0].mask.0) == (10, 33) && whole.reason.contains("depth"));
    }

    #[test]
    fn a_pixel_is_answered_with_what_is_under_it() {
        let question = asked("", |r| r.point = Some([45, 25]));
        let found = answer(&mut eyes::<false>(), &(), &question).unwrap();
        assert_eq!(found.instances[0].label, "plate");
    }

    #[test]
    fn depth_that_is_no_number_leaves_the_masks() {
        let question = asked("left bowl", |r| r.depth.fill(f32::NAN));
        let found = answer(&mut eyes::<false>(), &(), &question).unwrap();
        assert_eq!(found.instances.len(), 1);
        assert_eq!(found.reason, "without depth, where things are could not be told");
    }
}
