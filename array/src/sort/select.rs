//! The k-th smallest without sorting.

use super::order::Ordered;
use crate::blocks;
use crate::error::Result;
use crate::lanes::Lanes;

/// Rearranges so that each of the places `kth` holds what sorting would put there.
pub(crate) fn partition_at<K: Ord>(keys: &mut [K], kth: &[usize]) {
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
    /// For types of few values: how often each occurs.
    counts: Option<Vec<usize>>,
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
        let mut selector =
            Selector { keys: Vec::new(), counts: counted.then(|| vec![0; 256]), nans: 0 };
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
        if let Some(counts) = &mut self.counts {
            counts.fill(0);
        }
        self.nans = 0;
    }

    fn add(&mut self, values: &[T]) {
        if let Some(counts) = &mut self.counts {
            for value in values {
                counts[value.to_i64() as usize] += 1;
            }
            return;
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
        match &self.counts {
            Some(counts) => counts.iter().sum(),
            None => self.keys.len(),
        }
    }

    /// Makes ready for [`Selector::get`] of these places.
    pub fn select(&mut self, kth: &[usize]) {
        partition_at(&mut self.keys, if self.counts.is_some() { &[] } else { kth });
    }

    /// The element at a place of the sorted order. NaN are behind all others.
    pub fn get(&self, place: usize) -> T {
        let Some(counts) = &self.counts else {
            return T::from_key(self.keys[place]);
        };
        let mut before = 0;
        let value = counts.iter().position(|count| {
            before += count;
            before > place
        });
        T::from_i64(value.unwrap_or(0) as i64)
    }
}
