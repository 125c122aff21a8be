//! How often each value of a one-byte type occurs.

use super::order::{Key as _, Ordered};

/// The counts of all values.
pub(crate) struct Tally {
    /// To be summed: adding one to the same place again would have to wait.
    tables: Box<[[usize; 256]; 4]>,
}

impl Tally {
    pub fn new() -> Tally {
        Tally { tables: Box::new([[0; 256]; 4]) }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self.tables = [[0; 256]; 4];
    }

    /// Counts elements of a one-byte type.
    pub fn add<T: Ordered>(&mut self, values: &[T]) {
        debug_assert_eq!(T::DTYPE.itemsize(), 1);
        let [first, second, third, fourth] = &mut *self.tables;
        let place = |value: &T| usize::from(value.key().digits() as u8);
        let (fours, rest) = values.as_chunks::<4>();
        for [a, b, c, d] in fours {
            first[place(a)] += 1;
            second[place(b)] += 1;
            third[place(c)] += 1;
            fourth[place(d)] += 1;
        }
        for value in rest {
            first[place(value)] += 1;
        }
    }

    /// The values in order, with their counts, which may be zero.
    pub fn counts(&self) -> impl Iterator<Item = (i64, usize)> {
        (0..256).map(|value| (value as i64, self.tables.iter().map(|table| table[value]).sum()))
    }

    /// How many elements were counted.
    pub fn len(&self) -> usize {
        self.counts().map(|(_, count)| count).sum()
    }

    /// The value at a place of the sorted order.
    pub fn get(&self, place: usize) -> i64 {
        let mut before = 0;
        let found = self.counts().find(|(_, count)| {
            before += count;
            before > place
        });
        found.map_or(0, |(value, _)| value)
    }

    /// Overwrites elements with those that were counted, in order.
    pub fn write<T: Ordered>(&self, values: &mut [T]) {
        let mut start = 0;
        for (value, count) in self.counts() {
            values[start..start + count].fill(T::from_i64(value));
            start += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_the_sorted_order() {
        let mut values: Vec<u8> = (0..1003u32).map(|i| (i * i % 251) as u8).collect();
        let mut tally = Tally::new();
        tally.add(&values[..500]);
        tally.add(&values[500..]);
        assert_eq!(tally.len(), values.len());
        let mut written = values.clone();
        tally.write(&mut written);
        values.sort_unstable();
        assert_eq!(written, values);
        assert!((0..1003).all(|place| tally.get(place) == values[place].into()));
        tally.clear();
        assert_eq!(tally.len(), 0);
    }
}
