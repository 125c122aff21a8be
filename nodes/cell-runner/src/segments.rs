//! What `segment` found: measured in the world, and kept as files.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use grounding::measure;
use image_codec::Format;
use ruaflow_schemas::{Segment, SegmentInstance};
use serde_json::{Value, json};

use crate::eyes::{Seen, SeenError};
use crate::looking::{Look, LookError, Reply, round};
use crate::memory::{Part, pack};
use crate::protocol::{Answer, Refusal};

/// How much of a masked pixel becomes red.
const RED: f64 = 0.45;

/// Segments of an episode whose files are kept.
const KEPT: usize = 64;

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
    mask: Rc<[u8]>,
    record: String,
}

/// A thing as a cell reads it, and its mask.
struct Measured {
    fields: Value,
    mask: Rc<[u8]>,
}

impl Segments {
    /// What `segment` answers with, from the picture and the service's masks.
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
        let answered = match segment.instances.first().map(|best| best.score) {
            Some(score) if score >= min_score => self.found(look, seen, segment, min_score),
            best => nothing(look, &segment.reason, best, min_score),
        };
        answered.unwrap_or_else(|error| Reply::refused(Refusal::Tool, error.to_string()))
    }

    fn found(
        &mut self,
        look: &Look,
        seen: &Rc<Seen>,
        segment: Segment,
        min_score: f64,
    ) -> Result<Reply, LookError> {
        let sure = segment.instances.into_iter().take_while(|thing| thing.score >= min_score);
        let mut things = Vec::new();
        for thing in sure {
            things.push(self.thing(look, seen, thing)?);
        }
        let (mut masks, mut others) = (Vec::new(), Vec::new());
        for (at, thing) in things.into_iter().enumerate() {
            let name = if at == 0 { "mask".to_owned() } else { format!("others.{}.mask", at - 1) };
            masks.push((name, thing.mask));
            others.push(thing.fields);
        }
        let mut fields = others.remove(0);
        fields["found"] = json!(true);
        fields["reason"] = json!(said(&segment.reason));
        fields["others"] = json!(others);
        let value = look.complete(fields)?;
        let shape = [seen.frame.height as usize, seen.frame.width as usize];
        let parts: Vec<Part<'_>> = masks
            .iter()
            .map(|(name, bytes)| Part { name, dtype: "bool", shape: &shape, bytes })
            .collect();
        let (memory, arrays) = pack(&parts).map_err(SeenError::from)?;
        Ok(Reply::Arrays { value, arrays, memory })
    }

    /// Measures a thing and keeps its files.
    fn thing(
        &mut self,
        look: &Look,
        seen: &Rc<Seen>,
        thing: SegmentInstance,
    ) -> Result<Measured, LookError> {
        let (width, height) = (seen.frame.width as usize, seen.frame.height as usize);
        let (found, pixels) = (thing.mask.0.len(), width * height);
        if found != pixels {
            return Err(LookError::Mask { found, pixels });
        }
        // A service is not trusted to say yes by 1 alone, as a bool array has to.
        let mask: Rc<[u8]> = thing.mask.0.iter().map(|inside| u8::from(*inside != 0)).collect();
        let camera = seen.calibrated();
        let measured = measure(&mask, width, &seen.frame.depth, camera.as_ref().ok());
        let error = match (&measured.body, &camera) {
            (Some(_), _) => None,
            (None, Err(error)) => Some(error.to_string()),
            (None, Ok(_)) => {
                Some(format!("only {} pixels of the mask have depth", measured.points))
            }
        };
        let number = self.counts.get(&look.step).copied().unwrap_or(0);
        let fields = json!({
            "world_xyz": measured.body.map(|body| round(body.center)),
            "score": thing.score,
            "box": measured.bounds,
            "overlay_artifact": overlay_name(number),
            "error": error,
            "label": said(&thing.label),
            "extent": measured.body.map(|body| round(body.extent())),
            "pixels": measured.pixels,
            "seen": measured.seen,
        });
        let record = fields.to_string();
        self.keep(Kept {
            step: look.step,
            number,
            seen: Rc::clone(seen),
            mask: Rc::clone(&mask),
            record,
        });
        Ok(Measured { fields, mask })
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

    fn keep(&mut self, kept: Kept) {
        *self.counts.entry(kept.step).or_default() += 1;
        self.kept.push_back(kept);
        if self.kept.len() > KEPT {
            self.kept.pop_front();
        }
    }
}

/// Nothing that scores enough, and why.
fn nothing(
    look: &Look,
    reason: &str,
    best: Option<f64>,
    min_score: f64,
) -> Result<Reply, LookError> {
    let error = match (best, said(reason)) {
        (_, Some(reason)) => reason.to_owned(),
        (Some(score), None) => format!("the best mask scores {score:.2}, below {min_score}"),
        (None, None) => "no mask".to_owned(),
    };
    let value = look.complete(json!({
        "found": false,
        "world_xyz": null,
        "score": best,
        "box": null,
        "overlay_artifact": null,
        "error": error,
        "label": null,
        "extent": null,
        "pixels": 0,
        "seen": null,
        "reason": null,
        "others": [],
    }))?;
    Ok(Reply::Answer(Answer::Value(value)))
}

/// A text that says something.
fn said(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

impl Kept {
    fn overlay(&self) -> Result<Vec<u8>, image_codec::CodecError> {
        let frame = &self.seen.frame;
        let mut pixels = frame.color.0.clone();
        for (pixel, _) in
            pixels.chunks_exact_mut(3).zip(self.mask.iter()).filter(|(_, mask)| **mask != 0)
        {
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
