use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How often batches are confirmed when nothing is missing.
const CONFIRM_EVERY: Duration = Duration::from_secs(1);
/// How often missing batches are asked for again.
const ASK_EVERY: Duration = Duration::from_millis(200);
/// A batch that has not come after this long is given up.
const GIVE_UP_AFTER: Duration = Duration::from_secs(3);
/// Numbers asked for at once.
const MAX_ASKED: usize = 256;
/// A number further ahead than this is nonsense.
const MAX_AHEAD: u64 = 4096;
/// Batches held back behind a gap; beyond it the gap is given up.
const MAX_HELD_BYTES: usize = 16 << 20;

/// Puts the numbered batches of one node in order, and knows which are missing.
///
/// A batch behind a gap is held back until the gap is filled or given up, so
/// that rows are written in the order in which they were made.
pub(crate) struct Arrivals<B> {
    /// All numbers below have been handed on or given up.
    through: u64,
    /// All numbers below are known to exist.
    expected: u64,
    held: BTreeMap<u64, (usize, B)>,
    held_bytes: usize,
    gap_since: Option<Instant>,
    asked: Option<Instant>,
    confirmed: u64,
    confirmed_at: Option<Instant>,
}

/// What to tell a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Confirmation {
    pub through: u64,
    pub missing: Vec<u64>,
}

/// What became of an arriving batch.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Arrival<B> {
    /// These are next, in order; none when it came twice or must wait.
    Ready(Vec<B>),
    /// Its number makes no sense.
    Absurd,
}

impl<B> Default for Arrivals<B> {
    fn default() -> Self {
        Arrivals {
            through: 0,
            expected: 0,
            held: BTreeMap::new(),
            held_bytes: 0,
            gap_since: None,
            asked: None,
            confirmed: 0,
            confirmed_at: None,
        }
    }
}

impl<B> Arrivals<B> {
    pub fn arrive(&mut self, number: u64, bytes: usize, batch: B, now: Instant) -> Arrival<B> {
        if number > self.through + MAX_AHEAD {
            return Arrival::Absurd;
        }
        if number >= self.through && !self.held.contains_key(&number) {
            self.held_bytes += bytes;
            self.held.insert(number, (bytes, batch));
        }
        self.expect(number + 1, now);
        Arrival::Ready(self.take_ready(now))
    }

    /// All numbers below `count` exist, whether they have come or not.
    pub fn expect(&mut self, count: u64, now: Instant) {
        self.expected = self.expected.max(count.min(self.through + MAX_AHEAD));
        self.note_gap(now);
    }

    /// Whether all numbers below `count` have been handed on or given up.
    pub fn has(&self, count: u64) -> bool {
        self.through >= count
    }

    /// What the node should be told now, if anything.
    pub fn confirm(&mut self, now: Instant) -> Option<Confirmation> {
        let ask = self.gap_since.is_some() && self.asked.is_none_or(|at| now >= at + ASK_EVERY);
        let confirm = self.through > self.confirmed
            && self.confirmed_at.is_none_or(|at| now >= at + CONFIRM_EVERY);
        if !ask && !confirm {
            return None;
        }
        Some(self.confirm_at_once(now))
    }

    /// The same, whether it is time or not.
    pub fn confirm_at_once(&mut self, now: Instant) -> Confirmation {
        self.confirmed = self.through;
        self.confirmed_at = Some(now);
        self.asked = self.gap_since.map(|_| now);
        Confirmation { through: self.through, missing: self.missing() }
    }

    /// Gives up a gap that is too old or too dear: how many batches are lost,
    /// and those that are now next.
    pub fn give_up(&mut self, now: Instant) -> Option<(Vec<u64>, Vec<B>)> {
        let too_old = self.gap_since.is_some_and(|since| now >= since + GIVE_UP_AFTER);
        if !too_old && self.held_bytes <= MAX_HELD_BYTES {
            return None;
        }
        let next = self.held.keys().next().copied().unwrap_or(self.expected);
        let lost: Vec<u64> = (self.through..next).collect();
        self.through = next;
        self.gap_since = None;
        Some((lost, self.take_ready(now)))
    }

    /// When `confirm` or `give_up` has something to do.
    pub fn due(&self) -> Option<Instant> {
        let ask = self.gap_since.map(|since| self.asked.map_or(since, |at| at + ASK_EVERY));
        let confirm = (self.through > self.confirmed)
            .then_some(self.confirmed_at.map(|at| at + CONFIRM_EVERY))
            .flatten();
        ask.into_iter().chain(confirm).min()
    }

    fn take_ready(&mut self, now: Instant) -> Vec<B> {
        let before = self.through;
        let mut ready = Vec::new();
        while let Some((bytes, batch)) = self.held.remove(&self.through) {
            self.held_bytes -= bytes;
            self.through += 1;
            ready.push(batch);
        }
        if self.through > before {
            self.gap_since = None;
        }
        self.note_gap(now);
        ready
    }

    fn note_gap(&mut self, now: Instant) {
        if self.through >= self.expected {
            self.gap_since = None;
            self.asked = None;
        } else if self.gap_since.is_none() {
            self.gap_since = Some(now);
            self.asked = None;
        }
    }

    fn missing(&self) -> Vec<u64> {
        (self.through..self.expected)
            .filter(|n| !self.held.contains_key(n))
            .take(MAX_ASKED)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals() -> (Arrivals<u64>, Instant) {
        (Arrivals::default(), Instant::now())
    }

    fn arrive(arrivals: &mut Arrivals<u64>, number: u64, now: Instant) -> Vec<u64> {
        match arrivals.arrive(number, 100, number, now) {
            Arrival::Ready(ready) => ready,
            Arrival::Absurd => panic!("{number} is absurd"),
        }
    }

    #[test]
    fn batches_in_order_pass_through_and_are_confirmed_once_a_second() {
        let (mut a, t) = arrivals();
        assert_eq!(arrive(&mut a, 0, t), [0]);
        assert_eq!(a.confirm(t), Some(Confirmation { through: 1, missing: vec![] }));
        assert_eq!(arrive(&mut a, 1, t), [1]);
        assert_eq!(a.confirm(t), None);
        assert_eq!(a.due(), Some(t + CONFIRM_EVERY));
        assert_eq!(
            a.confirm(t + CONFIRM_EVERY),
            Some(Confirmation { through: 2, missing: vec![] })
        );
        assert_eq!(a.due(), None);
    }

    #[test]
    fn a_gap_is_asked_for_at_once_and_again_and_order_is_kept() {
        let (mut a, t) = arrivals();
        assert_eq!(arrive(&mut a, 0, t), [0]);
        a.confirm(t);
        assert!(arrive(&mut a, 3, t).is_empty());
        assert_eq!(a.confirm(t), Some(Confirmation { through: 1, missing: vec![1, 2] }));
        assert_eq!(a.confirm(t), None);
        assert_eq!(a.due(), Some(t + ASK_EVERY));
        assert_eq!(a.confirm(t + ASK_EVERY).unwrap().missing, [1, 2]);
        assert!(arrive(&mut a, 2, t).is_empty());
        assert_eq!(a.confirm(t + ASK_EVERY * 2).unwrap().missing, [1]);
        assert_eq!(arrive(&mut a, 1, t), [1, 2, 3]);
        assert!(arrive(&mut a, 1, t).is_empty(), "it came twice");
        assert!(a.has(4) && !a.has(5));
    }

    #[test]
    fn the_last_batch_is_missed_when_its_number_is_told() {
        let (mut a, t) = arrivals();
        arrive(&mut a, 0, t);
        a.confirm(t);
        a.expect(2, t);
        assert_eq!(a.confirm(t).unwrap().missing, [1]);
        assert_eq!(arrive(&mut a, 1, t), [1]);
        assert_eq!(a.due(), Some(t + CONFIRM_EVERY));
    }

    #[test]
    fn a_batch_that_never_comes_is_given_up_and_the_others_go_on() {
        let (mut a, t) = arrivals();
        arrive(&mut a, 2, t);
        assert_eq!(a.give_up(t + GIVE_UP_AFTER - Duration::from_millis(1)), None);
        assert_eq!(a.give_up(t + GIVE_UP_AFTER), Some((vec![0, 1], vec![2])));
        assert!(a.has(3));
        assert_eq!(a.give_up(t + GIVE_UP_AFTER * 2), None);
        assert!(arrive(&mut a, 0, t).is_empty(), "too late");
    }

    #[test]
    fn time_is_given_anew_when_a_gap_gets_smaller() {
        let (mut a, t) = arrivals();
        arrive(&mut a, 2, t);
        let later = t + GIVE_UP_AFTER / 2;
        assert_eq!(arrive(&mut a, 0, later), [0]);
        assert_eq!(a.give_up(t + GIVE_UP_AFTER), None);
        assert_eq!(a.give_up(later + GIVE_UP_AFTER), Some((vec![1], vec![2])));
    }

    #[test]
    fn memory_behind_a_gap_is_bounded() {
        let (mut a, t) = arrivals();
        let mut held = 0;
        for number in 1.. {
            assert_eq!(a.arrive(number, 1 << 20, number, t), Arrival::Ready(vec![]));
            held += 1;
            if let Some((lost, ready)) = a.give_up(t) {
                assert_eq!((lost, ready.len()), (vec![0], held));
                break;
            }
            assert!(held < 100);
        }
        assert!(held <= 17);
    }

    #[test]
    fn an_absurd_number_changes_nothing() {
        let (mut a, t) = arrivals();
        assert_eq!(a.arrive(u64::MAX - 1, 1, 9, t), Arrival::Absurd);
        assert_eq!(a.arrive(MAX_AHEAD + 1, 1, 9, t), Arrival::Absurd);
        a.expect(u64::MAX, t);
        assert!(a.confirm(t).unwrap().missing.len() <= MAX_ASKED);
        assert_eq!(arrive(&mut a, 0, t), [0]);
    }
}
