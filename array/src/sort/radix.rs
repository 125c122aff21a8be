//! Sorting by digits, which are bytes, from the least to the greatest: some passes over the
//! memory instead of comparisons.

use super::order::Key;
use crate::error::Result;
use crate::interrupt;

/// Fewer keys are sorted by comparing them.
const FEW: usize = 1 << 14;

/// Digits that are sorted by, the greatest of those that differ. They leave few keys equal,
/// and those are sorted among themselves.
const DIGITS: usize = 4;

/// Sorts keys; `spare` is memory to use again.
///
/// # Errors
/// [`crate::Error::Interrupted`], with the keys in disarray.
pub(crate) fn sort<K: Key>(keys: &mut [K], spare: &mut Vec<K>) -> Result<()> {
    if keys.len() > FEW && spare.len() < keys.len() {
        spare.resize(keys.len(), K::default());
    }
    sort_with(keys, spare)
}

/// `spare` has room for the keys, if they are not few.
fn sort_with<K: Key>(keys: &mut [K], spare: &mut [K]) -> Result<()> {
    if keys.len() <= FEW || u32::try_from(keys.len()).is_err() {
        keys.sort_unstable();
        return Ok(());
    }
    let spare = &mut spare[..keys.len()];
    let differing = differing(keys)?;
    let shifts: Vec<u32> =
        (0..64).step_by(8).filter(|shift| (differing >> shift) as u8 != 0).collect();
    let (ignored, sorted) = shifts.split_at(shifts.len().saturating_sub(DIGITS));
    let mut counts = counts(keys, sorted)?;
    let (mut from, mut to) = (&mut *keys, &mut *spare);
    for (&shift, counts) in sorted.iter().zip(&mut counts) {
        distribute(from, to, shift, counts)?;
        std::mem::swap(&mut from, &mut to);
    }
    if sorted.len() % 2 == 1 {
        keys.copy_from_slice(spare);
    }
    if let (false, Some(least)) = (ignored.is_empty(), sorted.first()) {
        let upper = |key: &K| key.digits() >> least;
        for equal in keys.chunk_by_mut(|a, b| upper(a) == upper(b)) {
            if equal.len() > 1 {
                sort_with(equal, spare)?;
            }
        }
    }
    Ok(())
}

/// The bits in which keys differ.
fn differing<K: Key>(keys: &[K]) -> Result<u64> {
    let mut bits = 0;
    for block in keys.chunks(interrupt::STRIDE) {
        interrupt::check()?;
        bits = block.iter().fold(bits, |bits, key| bits | key.digits() ^ keys[0].digits());
    }
    Ok(bits)
}

/// How often each value of the digits occurs. What lies beyond them is of no use.
fn counts<K: Key>(keys: &[K], digits: &[u32]) -> Result<[[u32; 256]; DIGITS]> {
    let mut shifts = [0; DIGITS];
    shifts[..digits.len()].copy_from_slice(digits);
    let mut counts = [[0; 256]; DIGITS];
    for block in keys.chunks(interrupt::STRIDE) {
        interrupt::check()?;
        for key in block {
            for (counts, shift) in counts.iter_mut().zip(shifts) {
                counts[usize::from((key.digits() >> shift) as u8)] += 1;
            }
        }
    }
    Ok(counts)
}

/// Moves keys to where one of their digits sorts them; equals keep their order.
fn distribute<K: Key>(from: &[K], to: &mut [K], shift: u32, counts: &mut [u32; 256]) -> Result<()> {
    let mut before = 0;
    for count in counts.iter_mut() {
        before += std::mem::replace(count, before);
    }
    let places = counts;
    for block in from.chunks(interrupt::STRIDE) {
        interrupt::check()?;
        for &key in block {
            let place = &mut places[usize::from((key.digits() >> shift) as u8)];
            to[*place as usize] = key;
            *place += 1;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers without a pattern.
    fn mixed(count: u64) -> impl Iterator<Item = u64> {
        (0..count).map(|i| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(i as u32 % 64))
    }

    fn check<K: Key + std::fmt::Debug>(keys: Vec<K>) {
        let mut expected = keys.clone();
        expected.sort();
        let mut sorted = keys;
        sort(&mut sorted, &mut Vec::new()).unwrap();
        assert_eq!(sorted, expected);
    }

    #[test]
    fn keys_of_every_size_are_sorted() {
        check(mixed(20_000).map(|x| x as i64).collect());
        check(mixed(20_000).map(|x| x as i32).collect());
        check(mixed(20_000).map(|x| x as i16).collect());
        check(mixed(20_000).map(|x| x as u8).collect());
        check(mixed(100).map(|x| x as i64).collect());
    }

    #[test]
    fn digits_beyond_the_passes_count() {
        // Many keys share their upper digits and differ in the lower ones.
        let crowded = mixed(50_000).map(|x| (x & 0xff_ffff) as i64 | (x as i64 >> 60) << 40);
        check(crowded.collect::<Vec<i64>>());
        check(mixed(40_000).map(|x| if x % 7 == 0 { i64::MIN } else { 3 }).collect());
    }

    #[test]
    fn equals_keep_their_order() {
        check(mixed(40_000).map(|x| x % 50).zip(0u32..).collect());
        check(mixed(40_000).map(|x| ((x % 50) << 30) | (x % 3)).zip(0u32..).collect());
    }
}
