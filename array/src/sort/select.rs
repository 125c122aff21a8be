//! The k-th smallest without sorting.

use super::order::Ordered;
use super::tally::Tally;
use crate::blocks;
use crate::error::Result;
use crate::lanes::Lanes;

/// Rearranges so that each of the places `kth` holds what sorting would put there.
pub(crate) fn partition_at<K: Ord>(keys: &mut [K], kth: &[usize]) {
    /// So few are sorted in no time.
    const FEW: usize = 16;
    if keys.len() <= FEW {
        return keys.sort_unstable();
    }
    let mut kth = kth.to_vec();
    kth.sort_unstable();
    kth.dedup();
    partition_between(keys, &kth, 0);
}

/// `kth` is sorted, without repeats, and counts from `start` before the keys.
fn partition_between<K: Ord>(keys: &mut [K], kth: &[usize], start: usize) {
    let Some(&middle) = kth.get(kth.len() / 2) else { return };
    let (below, _, above) = keys.select_nth_unstable(middle - start);
    let (kth_below, kth_above) = (&kth[..kth.len() / 2], &kth[kth.len() / 2 + 1..]);
    if *kth_below == [middle.wrapping_sub(1)] {
        // The neighbour is the largest below: the two middles of a median.
        if let Some(largest) = (0..below.len()).max_by(|&a, &b| below[a].cmp(&below[b])) {
            below.swap(largest, middle - 1 - start);
        }
    } else {
        partition_between(below, kth_below, start);
    }
    partition_between(above, kth_above, middle + 1);
}

/// One lane, of which single elements of the sorted order can be asked for.
pub(crate) struct Selector<T: Ordered> {
    keys: Vec<T::Key>,
    /// In place of the keys of types that have few values.
    tally: Option<Tally>,
    nans: usize,
}

impl<T: Ordered> Selector<T> {
    /// Calls `body` for one lane after the other. It is the same selector each time.
    ///
    /// # Errors
    /// What `body` returns, [`crate::Error::Memory`] and [`crate::Error::Interrupted`].
    pub fn for_each(
        lanes: &Lanes,
        mut body: impl FnMut(&mut Selector<T>) -> Result<()>,
    ) -> Result<()> {
        /// Shorter lanes are brought together first: a view of each costs more.
        const SHORT: usize = 64;
        /// From this length on counting bytes is quicker.
        const LONG: usize = 512;
        let counted = T::DTYPE.itemsize() == 1 && lanes.length >= LONG;
        let mut selector = Selector { keys: Vec::new(), tally: counted.then(Tally::new), nans: 0 };
        if lanes.length < SHORT {
            let mut values = lanes.values::<T>()?;
            return super::for_lanes(&mut values, lanes.length, |lane| {
                selector.clear();
                selector.add(lane);
                body(&mut selector)
            });
        }
        for i in 0..lanes.count() {
            selector.clear();
            blocks::visit::<T>(&lanes.lane(i), &mut |block| {
                selector.add(block);
                Ok(())
            })?;
            body(&mut selector)?;
        }
        Ok(())
    }

    fn clear(&mut self) {
        self.keys.clear();
        if let Some(tally) = &mut self.tally {
            tally.clear();
        }
        self.nans = 0;
    }

    fn add(&mut self, values: &[T]) {
        if let Some(tally) = &mut self.tally {
            return tally.add(values);
        }
        self.keys.extend(values.iter().map(|value| value.key()));
        self.nans += values.iter().filter(|value| value.is_nan()).count();
    }

    /// How many of the elements are NaN.
    pub fn nans(&self) -> usize {
        self.nans
    }

    /// How many elements there are, NaN included.
    pub fn len(&self) -> usize {
        self.tally.as_ref().map_or(self.keys.len(), Tally::len)
    }

    /// Makes ready for [`Selector::get`] of these places.
    pub fn select(&mut self, kth: &[usize]) {
        if self.tally.is_none() {
            partition_at(&mut self.keys, kth);
        }
    }

    /// The element at a place of the sorted order. NaN are behind all others.
    pub fn get(&self, place: usize) -> T {
        match &self.tally {
            Some(tally) => T::from_i64(tally.get(place)),
            None => T::from_key(self.keys[place]),
        }
    }
}
