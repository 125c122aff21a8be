//! From what the decoder gives to instances: scores, masks in the picture's size,
//! and one mask a thing.

use ort::session::SessionOutputs;

use super::files::DECODER;
use crate::eyes::{EyesError, Instance};

/// Less sure than this is nothing; callers set their own, higher limit.
const LEAST_SCORE: f32 = 0.05;
/// Masks that overlap more are of the same thing (`samexporter`'s `nms_threshold`).
const SAME: f64 = 0.7;
/// Overlap is measured on masks of about this size, pixels a side.
const NMS_SIDE: usize = 288;
/// More things than this nobody asks for.
const MOST: usize = 50;

/// The decoder's answer.
pub(super) struct Heads<'o> {
    scores: Vec<f32>,
    masks: Masks<'o>,
}

enum Masks<'o> {
    /// Logits, above 0 inside.
    Logits { values: &'o [f32], width: usize, height: usize },
    /// Finished ones of the picture's size, by an older export.
    Done { inside: &'o [bool], width: usize, height: usize },
}

impl<'o> Heads<'o> {
    /// Reads the outputs; `raw` when they are logits.
    ///
    /// # Errors
    /// [`EyesError::Answer`] when their shapes don't fit each other.
    pub fn read(outputs: &'o SessionOutputs<'_>, raw: bool) -> Result<Self, EyesError> {
        let floats = |name: &str| {
            let value = outputs.get(name).ok_or_else(|| wrong(format!("no {name:?}")))?;
            value.try_extract_tensor::<f32>().map_err(|error| wrong(error.to_string()))
        };
        if !raw {
            let (_, scores) = floats("scores")?;
            let value = outputs.get("masks").ok_or_else(|| wrong("no \"masks\""))?;
            let (shape, inside) =
                value.try_extract_tensor::<bool>().map_err(|error| wrong(error.to_string()))?;
            let [width, height] = sides(shape, scores.len(), inside.len())?;
            let masks = Masks::Done { inside, width, height };
            return Ok(Heads { scores: scores.to_vec(), masks });
        }
        let ((_, logits), (_, presence)) = (floats("pred_logits")?, floats("presence_logit_dec")?);
        let presence = sigmoid(*presence.first().ok_or_else(|| wrong("no presence"))?);
        let (shape, values) = floats("pred_masks")?;
        let [width, height] = sides(shape, logits.len(), values.len())?;
        let scores = logits.iter().map(|logit| sigmoid(*logit) * presence).collect();
        Ok(Heads { scores, masks: Masks::Logits { values, width, height } })
    }

    /// What is left when each thing has one mask, best first, in the picture's size.
    ///
    /// # Errors
    /// [`EyesError::Answer`] when finished masks have another size than the picture.
    pub fn instances(&self, [width, height]: [u32; 2]) -> Result<Vec<Instance>, EyesError> {
        let (width, height) = (width as usize, height as usize);
        let mut order: Vec<usize> = (0..self.scores.len())
            .filter(|&at| self.scores[at].is_finite() && self.scores[at] >= LEAST_SCORE)
            .collect();
        order.sort_by(|&a, &b| self.scores[b].total_cmp(&self.scores[a]));
        let mut kept: Vec<(Instance, Vec<bool>)> = Vec::new();
        for at in order {
            let mask = self.masks.full(at, width, height)?;
            let sample = sampled(&mask, width, height);
            if kept.iter().all(|(_, other)| overlap(&sample, other) <= SAME) {
                let score = self.scores[at].clamp(0.0, 1.0);
                kept.push((Instance { label: String::new(), score, mask }, sample));
            }
            if kept.len() == MOST {
                break;
            }
        }
        Ok(kept.into_iter().map(|(instance, _)| instance).collect())
    }
}

impl Masks<'_> {
    fn full(&self, at: usize, width: usize, height: usize) -> Result<Vec<u8>, EyesError> {
        match self {
            Self::Logits { values, width: from_width, height: from_height } => {
                let size = from_width * from_height;
                let logits = &values[at * size..(at + 1) * size];
                Ok(stretched(logits, [*from_width, *from_height], [width, height]))
            }
            Self::Done { inside, width: own_width, height: own_height } => {
                if (*own_width, *own_height) != (width, height) {
                    let found = format!("masks of {own_width} x {own_height} pixels");
                    return Err(wrong(format!("{found} for a picture of {width} x {height}")));
                }
                let size = width * height;
                Ok(inside[at * size..(at + 1) * size].iter().map(|&on| u8::from(on)).collect())
            }
        }
    }
}

/// Where logits stretched bilinearly are above 0 (OpenCV's `INTER_LINEAR`: centres
/// of pixels on centres, edges repeated).
fn stretched(logits: &[f32], [w, h]: [usize; 2], [width, height]: [usize; 2]) -> Vec<u8> {
    let taps = |from: usize, to: usize| -> Vec<(usize, usize, f32)> {
        let scale = from as f32 / to as f32;
        let tap = |at: usize| {
            let place = ((at as f32 + 0.5) * scale - 0.5).clamp(0.0, (from - 1) as f32);
            let low = place as usize;
            (low, (low + 1).min(from - 1), place - low as f32)
        };
        (0..to).map(tap).collect()
    };
    let (cols, rows) = (taps(w, width), taps(h, height));
    let mut mask = Vec::with_capacity(width * height);
    for (top, bottom, down) in rows {
        let (upper, lower) = (&logits[top * w..][..w], &logits[bottom * w..][..w]);
        mask.extend(cols.iter().map(|&(left, right, along)| {
            let mixed = |row: &[f32]| row[left] + (row[right] - row[left]) * along;
            let (upper, lower) = (mixed(upper), mixed(lower));
            u8::from(upper + (lower - upper) * down > 0.0)
        }));
    }
    mask
}

/// Every few pixels of a mask, enough to tell masks apart.
fn sampled(mask: &[u8], width: usize, height: usize) -> Vec<bool> {
    let step = width.max(height).div_ceil(NMS_SIDE).max(1);
    let rows = mask.chunks_exact(width).step_by(step);
    rows.flat_map(|row| row.iter().step_by(step)).map(|inside| *inside != 0).collect()
}

/// Share of their common area, 0 for empty ones.
fn overlap(a: &[bool], b: &[bool]) -> f64 {
    let count = |such: fn(bool, bool) -> bool| {
        a.iter().zip(b).filter(|(a, b)| such(**a, **b)).count() as f64
    };
    let either = count(|a, b| a || b);
    if either == 0.0 { 0.0 } else { count(|a, b| a && b) / either }
}

/// Width and height of `count` masks.
fn sides(shape: &[i64], count: usize, values: usize) -> Result<[usize; 2], EyesError> {
    let side = |from_end: usize| {
        let at = shape.len().checked_sub(from_end)?;
        usize::try_from(*shape.get(at)?).ok().filter(|side| *side > 0 || count == 0)
    };
    let fits = |[width, height]: &[usize; 2]| {
        width.checked_mul(*height).and_then(|size| size.checked_mul(count)) == Some(values)
    };
    let sides = side(1).zip(side(2)).map(|(width, height)| [width, height]);
    sides.filter(fits).ok_or_else(|| wrong(format!("{count} scores and masks of shape {shape:?}")))
}

fn sigmoid(logit: f32) -> f32 {
    1.0 / (1.0 + (-logit.clamp(-80.0, 80.0)).exp())
}

fn wrong(message: impl Into<String>) -> EyesError {
    EyesError::Answer { model: DECODER, message: message.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logits_are_stretched_between_the_centres_of_pixels() {
        // OpenCV makes of [-1, 1] in four pixels [-1, -0.5, 0.5, 1].
        assert_eq!(stretched(&[-1.0, 1.0], [2, 1], [4, 1]), [0, 0, 1, 1]);
        assert_eq!(stretched(&[-3.0, 1.0], [2, 1], [4, 2]), [0, 0, 0, 1, 0, 0, 0, 1]);
        assert_eq!(stretched(&[1.0], [1, 1], [2, 2]), [1; 4]);
    }

    #[test]
    fn overlap_is_of_the_common_area() {
        assert_eq!(overlap(&[true, true, false], &[true, false, false]), 0.5);
        assert_eq!(overlap(&[false; 3], &[false; 3]), 0.0);
        assert_eq!(sampled(&[1; 600 * 300], 600, 300).len(), 200 * 100);
    }

    #[test]
    fn shapes_have_to_fit() {
        assert_eq!(sides(&[1, 2, 3, 4], 2, 24).ok(), Some([4, 3]));
        assert!(sides(&[1, 2, 3, 4], 3, 24).is_err());
        assert!(sides(&[], 1, 1).is_err());
        assert!(sides(&[1, -1, 3, 4], 0, 0).is_ok());
    }
}
