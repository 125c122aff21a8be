//! What `segment` found: measured in the world, and kept as files.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use image_codec::Format;
use ruaflow_schemas::Segment;
use serde_json::json;

use crate::eyes::Seen;
use crate::looking::{Look, Reply, median, round};
use crate::protocol::Refusal;

/// Fewer points of a mask say nothing of where the thing is.
const LEAST_POINTS: usize = 10;

/// How much of a masked pixel becomes red.
const RED: f64 = 0.45;

/// Segments of an episode whose files are kept.
const KEPT: usize = 32;

/// The segments of an episode.
#[derive(Default)]
pub(crate) struct Segments {
    /// Segments made of each recorded step.
    counts: BTreeMap<u64, usize>,
    kept: VecDeque<Kept>,
}

struct Kept {
    step: u64,
    number: usize,
    seen: Rc<Seen>,
    mask: Vec<u8>,
    record: String,
}

impl Segments {
    /// What `segment` answers with, from the picture and the service's mask.
    pub(crate) fn answer(
        &mut self,
        look: &Look,
        seen: &Rc<Seen>,
        segment: Segment,
        min_score: f64,
    ) -> Reply {
        if !segment.error.is_empty() {
            return Reply::refused(Refusal::Tool, segment.error);
        }
        let found = segment.score.is_some_and(|score| score >= min_score);
        let pixels = seen.frame.width as usize * seen.frame.height as usize;
        if found && segment.mask.0.len() != pixels {
            let bytes = segment.mask.0.len();
            let text = format!("its mask has {bytes} bytes for a picture of {pixels} pixels");
            return Reply::refused(Refusal::Tool, text);
        }
        let mut fields = json!({
            "found": found,
            "score": segment.score,
            "box": segment.bounds,
            "world_xyz": null,
            "overlay_artifact": null,
            "error": null,
        });
        if found {
            match surface(seen, &segment.mask.0) {
                Ok(xyz) => fields["world_xyz"] = json!(xyz),
                Err(why) => fields["error"] = json!(why),
            }
            let number = self.counts.get(&look.step).copied().unwrap_or(0);
            fields["overlay_artifact"] = json!(overlay_name(number));
            self.keep(look.step, Rc::clone(seen), segment.mask.0, fields.to_string());
        } else {
            fields["error"] = json!(match segment.score {
                Some(score) => format!("the best mask scores {score:.2}, below {min_score}"),
                None => "no mask".to_owned(),
            });
        }
        look.record(fields).unwrap_or_else(|error| Reply::refused(Refusal::Tool, error.to_string()))
    }

    /// The file of that name about a recorded step, if `segment` made it.
    pub(crate) fn file(&self, step: u64, name: &str) -> Option<Reply> {
        let of_step = |kept: &&Kept| kept.step == step;
        let kept = self.kept.iter().filter(of_step).find_map(|kept| {
            if name == overlay_name(kept.number) {
                Some(kept.overlay())
            } else if name == format!("segment_{:02}.json", kept.number) {
                Some(Ok(kept.record.clone().into_bytes()))
            } else {
                None
            }
        })?;
        Some(match kept {
            Ok(bytes) => Reply::bytes(&bytes),
            Err(error) => Reply::refused(Refusal::Tool, error.to_string()),
        })
    }

    fn keep(&mut self, step: u64, seen: Rc<Seen>, mask: Vec<u8>, record: String) {
        let count = self.counts.entry(step).or_default();
        self.kept.push_back(Kept { step, number: *count, seen, mask, record });
        *count += 1;
        if self.kept.len() > KEPT {
            self.kept.pop_front();
        }
    }
}

impl Kept {
    fn overlay(&self) -> Result<Vec<u8>, image_codec::CodecError> {
        let frame = &self.seen.frame;
        let mut pixels = frame.color.0.clone();
        for (pixel, _) in pixels.chunks_exact_mut(3).zip(&self.mask).filter(|(_, m)| **m != 0) {
            for (value, red) in pixel.iter_mut().zip([255.0, 0.0, 0.0]) {
                *value = (f64::from(*value) * (1.0 - RED) + red * RED) as u8;
            }
        }
        image_codec::encode_parts(frame.width, frame.height, &pixels, Format::Png)
    }
}

fn overlay_name(number: usize) -> String {
    format!("segment_overlay_{number:02}.png")
}

/// The median of the points under a mask.
fn surface(seen: &Seen, mask: &[u8]) -> Result<[f64; 3], String> {
    let points = seen.points().map_err(|error| error.to_string())?;
    let mut axes: [Vec<f64>; 3] = Default::default();
    let masked = points.zip(mask).filter(|(point, mask)| **mask != 0 && point[2].is_finite());
    for (point, _) in masked {
        axes.iter_mut().zip(point).for_each(|(axis, value)| axis.push(f64::from(value)));
    }
    match axes[0].len() {
        found if found < LEAST_POINTS => Err(format!("only {found} pixels of the mask have depth")),
        _ => Ok(round(axes.map(|mut axis| median(&mut axis)))),
    }
}
