//! Which cells belong together: each one votes for the middle of its thing, and the votes for
//! one thing lie close to each other.

/// Fewer cells are no thing.
const LEAST_CELLS: usize = 6;
/// Things of one kind in a picture, at most.
const MOST: usize = 20;
/// Votes lie at least this close, in cells.
const LEAST_REACH: f32 = 4.0;
/// Of the way from a thing's cells to its middle, on average.
const REACH: f32 = 0.55;
/// Beyond so many reaches a cell belongs to no thing.
const STRAY: f32 = 2.5;
/// A piece joins a larger neighbour that has this share of its outline.
const ENCLOSED: f32 = 0.3;
/// A smaller share of the neighbour is no piece of it, but what lies behind its edge.
const SLIVER: usize = 20;
/// A part of a thing apart from the rest is at least the largest part's size by this.
const CRUMB: usize = 10;
/// Votes are counted in squares of so many cells.
const BIN: f32 = 4.0;

/// Of what a cell tells the middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Thing,
    Part,
}

impl Level {
    /// The first of its two planes of offsets.
    pub fn plane(self) -> usize {
        match self {
            Self::Thing => 0,
            Self::Part => 2,
        }
    }
}

/// A square map of how likely each cell is, and of its vote.
pub struct Grid {
    side: usize,
    /// Above 0 for cells that are likelier to belong than not.
    logits: Vec<f32>,
    votes: Vec<Vote>,
}

#[derive(Debug, Clone, Copy)]
struct Vote {
    cell: usize,
    /// Row and column.
    to: [f32; 2],
    /// From the cell to there.
    way: f32,
}

/// One thing.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub cells: Vec<usize>,
    /// 0 to 1.
    pub score: f32,
}

struct Middle {
    at: [f32; 2],
    reach: f32,
}

impl Grid {
    /// `middle` gives row and column of the middle that the cell at a row and column votes for.
    pub fn new(side: usize, logits: Vec<f32>, middle: impl Fn(usize, usize) -> [f32; 2]) -> Self {
        let likely = logits.iter().enumerate().filter(|(_, logit)| **logit > 0.0);
        let vote = |(cell, _): (usize, &f32)| {
            let (row, col) = (cell / side, cell % side);
            let to = middle(row, col);
            Vote { cell, to, way: distance(to, [row as f32, col as f32]) }
        };
        let votes = likely.map(vote).collect();
        Self { side, logits, votes }
    }

    /// The things, the surest first.
    pub fn instances(&self) -> Vec<Found> {
        let middles = self.middles();
        let mut things = vec![Vec::new(); middles.len()];
        for vote in &self.votes {
            let near = middles
                .iter()
                .enumerate()
                .map(|(index, middle)| (distance(vote.to, middle.at) / middle.reach, index));
            if let Some((way, index)) = near.min_by(|left, right| left.0.total_cmp(&right.0))
                && way < STRAY
            {
                things[index].push(vote.cell);
            }
        }
        self.join(&mut things);
        let whole = things.into_iter().map(|cells| self.without_crumbs(cells));
        let large = whole.filter(|cells| cells.len() >= LEAST_CELLS);
        let mut found: Vec<Found> =
            large.map(|cells| Found { score: self.score(&cells), cells }).collect();
        found.sort_by(|left, right| right.score.total_cmp(&left.score));
        found
    }

    /// Gives pieces to the larger neighbour that they lie at: the votes of one thing sometimes
    /// fall apart.
    fn join(&self, things: &mut [Vec<usize>]) {
        let mut owner = vec![None; self.side * self.side];
        for (index, cells) in things.iter().enumerate() {
            cells.iter().for_each(|&cell| owner[cell] = Some(index));
        }
        let mut smallest_first: Vec<usize> = (0..things.len()).collect();
        smallest_first.sort_by_key(|&index| things[index].len());
        for piece in smallest_first {
            let Some(neighbour) = self.neighbour(piece, things, &owner) else { continue };
            let cells = std::mem::take(&mut things[piece]);
            cells.iter().for_each(|&cell| owner[cell] = Some(neighbour));
            things[neighbour].extend(cells);
        }
    }

    /// The thing, twice as large and more, that has much of a piece's outline; none for a sliver.
    fn neighbour(
        &self,
        piece: usize,
        things: &[Vec<usize>],
        owner: &[Option<usize>],
    ) -> Option<usize> {
        let (mut outline, mut shared) = (0, vec![0; things.len()]);
        for &cell in &things[piece] {
            let (row, col) = (cell / self.side, cell % self.side);
            let beside = around(row, self.side).map(|row| (row, col));
            let beside = beside.chain(around(col, self.side).map(|col| (row, col)));
            for (row, col) in beside {
                let other = owner[row * self.side + col];
                outline += usize::from(other != Some(piece));
                if let Some(other) = other.filter(|&other| other != piece) {
                    shared[other] += 1;
                }
            }
        }
        let (neighbour, &most) = shared.iter().enumerate().max_by_key(|(_, edges)| **edges)?;
        let encloses = most as f32 > ENCLOSED * outline as f32;
        let (large, small) = (things[neighbour].len(), things[piece].len());
        (encloses && 2 * small < large && SLIVER * small > large).then_some(neighbour)
    }

    /// The parts of a thing that hang together, without those that are a small share of the
    /// largest: single cells elsewhere that happen to vote alike.
    fn without_crumbs(&self, cells: Vec<usize>) -> Vec<usize> {
        let mut part = vec![None; self.side * self.side];
        cells.iter().for_each(|&cell| part[cell] = Some(usize::MAX));
        let mut sizes = Vec::new();
        for &cell in &cells {
            let (mut reached, mut size) = (vec![cell], 0);
            while let Some(at) = reached.pop() {
                if part[at] != Some(usize::MAX) {
                    continue;
                }
                part[at] = Some(sizes.len());
                size += 1;
                for row in around(at / self.side, self.side) {
                    reached
                        .extend(around(at % self.side, self.side).map(|col| row * self.side + col));
                }
            }
            sizes.push(size);
        }
        let least = sizes.iter().max().copied().unwrap_or_default() / CRUMB;
        let kept = |cell: &usize| part[*cell].is_some_and(|part| sizes[part] >= least);
        cells.into_iter().filter(kept).collect()
    }

    /// The picture's pixels that some of the cells cover: `height` x `width` bytes of 0 or 1.
    pub fn mask(&self, cells: &[usize], width: usize, height: usize) -> Vec<u8> {
        let mut near = vec![false; self.side * self.side];
        let [mut low, mut high] = [[self.side, self.side], [0, 0]];
        for &cell in cells {
            for row in around(cell / self.side, self.side) {
                for col in around(cell % self.side, self.side) {
                    near[row * self.side + col] = true;
                    low = [low[0].min(row), low[1].min(col)];
                    high = [high[0].max(row), high[1].max(col)];
                }
            }
        }
        let mut mask = vec![0; width * height];
        let scale = [height as f32 / self.side as f32, width as f32 / self.side as f32];
        let span = |axis: usize, size: usize| {
            let start = (low[axis] as f32 * scale[axis]) as usize;
            start..(((high[axis] + 1) as f32 * scale[axis]).ceil() as usize).min(size)
        };
        for row in span(0, height) {
            let y = ((row as f32 + 0.5) / scale[0] - 0.5).max(0.0);
            for col in span(1, width) {
                let x = ((col as f32 + 0.5) / scale[1] - 0.5).max(0.0);
                let nearest = self.clamped(y.round()) * self.side + self.clamped(x.round());
                mask[row * width + col] = u8::from(near[nearest] && self.between(y, x) > 0.0);
            }
        }
        mask
    }

    /// Mean probability, lower for very small things.
    fn score(&self, cells: &[usize]) -> f32 {
        let likely = |&cell: &usize| 1.0 / (1.0 + (-self.logits[cell]).exp());
        let sum: f32 = cells.iter().map(likely).sum();
        sum / (cells.len() as f32 + 4.0)
    }

    /// Where many votes meet, the most votes first.
    fn middles(&self) -> Vec<Middle> {
        let mut left: Vec<Vote> = self.votes.clone();
        let mut middles: Vec<Middle> = Vec::new();
        while left.len() >= LEAST_CELLS && middles.len() < MOST {
            let middle = self.densest(&left);
            let before = left.len();
            left.retain(|vote| distance(vote.to, middle.at) > 1.5 * middle.reach);
            let taken = before - left.len();
            if taken == 0 {
                break;
            }
            let apart = middles
                .iter()
                .all(|other| distance(other.at, middle.at) > 1.8 * other.reach.max(middle.reach));
            if taken >= LEAST_CELLS && apart {
                middles.push(middle);
            }
        }
        middles
    }

    fn densest(&self, votes: &[Vote]) -> Middle {
        let bins = (self.side as f32 / BIN) as usize + 2;
        let bin = |at: f32| ((at / BIN).max(0.0) as usize).min(bins - 1);
        let mut counts = vec![0_u32; bins * bins];
        for vote in votes {
            counts[bin(vote.to[0]) * bins + bin(vote.to[1])] += 1;
        }
        let crowd = |at: usize| -> u32 {
            let rows = around(at / bins, bins);
            rows.flat_map(|row| around(at % bins, bins).map(move |col| row * bins + col))
                .map(|near| counts[near])
                .sum()
        };
        let full = (0..counts.len()).filter(|&at| counts[at] > 0);
        let best = full.max_by_key(|&at| crowd(at)).unwrap_or_default();
        let mut middle = Middle {
            at: [(best / bins) as f32 + 0.5, (best % bins) as f32 + 0.5].map(|at| at * BIN),
            reach: 1.5 * BIN,
        };
        for _ in 0..4 {
            let near = votes.iter().filter(|vote| distance(vote.to, middle.at) < middle.reach);
            let (mut sum, mut way, mut count) = ([0.0; 2], 0.0, 0.0_f32);
            for vote in near {
                sum = [sum[0] + vote.to[0], sum[1] + vote.to[1]];
                way += vote.way;
                count += 1.0;
            }
            if count == 0.0 {
                break;
            }
            let at = sum.map(|sum| sum / count);
            middle = Middle { at, reach: (REACH * way / count).max(LEAST_REACH) };
        }
        middle
    }

    /// The logit between cells.
    fn between(&self, y: f32, x: f32) -> f32 {
        let (top, left) = (self.clamped(y.floor()), self.clamped(x.floor()));
        let (bottom, right) = (self.clamped(y.floor() + 1.0), self.clamped(x.floor() + 1.0));
        let (down, across) = (y - y.floor(), x - x.floor());
        let mix = |row: usize| {
            let row = row * self.side;
            self.logits[row + left] * (1.0 - across) + self.logits[row + right] * across
        };
        mix(top) * (1.0 - down) + mix(bottom) * down
    }

    fn clamped(&self, at: f32) -> usize {
        (at as usize).min(self.side - 1)
    }
}

/// A place and its neighbours.
fn around(at: usize, size: usize) -> std::ops::RangeInclusive<usize> {
    at.saturating_sub(1)..=(at + 1).min(size - 1)
}

fn distance(from: [f32; 2], to: [f32; 2]) -> f32 {
    (from[0] - to[0]).hypot(from[1] - to[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIDE: usize = 64;

    /// Discs of a radius whose cells vote for their middle, a little off.
    fn discs(middles: &[[f32; 2]], radius: f32) -> Grid {
        let nearest = |at: [f32; 2]| {
            let ways = middles.iter().map(|&middle| (distance(at, middle), middle));
            ways.min_by(|left, right| left.0.total_cmp(&right.0)).unwrap_or_default()
        };
        let at = |cell: usize| [(cell / SIDE) as f32, (cell % SIDE) as f32];
        let logits = (0..SIDE * SIDE).map(|cell| radius - nearest(at(cell)).0).collect();
        Grid::new(SIDE, logits, |row, col| {
            let ([y, x], off) = (nearest([row as f32, col as f32]).1, (row * 7 + col * 3) % 5);
            [y + off as f32 - 2.0, x + 2.0 - off as f32]
        })
    }

    #[test]
    fn things_that_touch_are_told_apart() {
        let found = discs(&[[20.0, 20.0], [20.0, 37.0], [50.0, 50.0]], 8.6).instances();
        assert_eq!(found.len(), 3);
        for thing in &found {
            assert!((200..260).contains(&thing.cells.len()), "{}", thing.cells.len());
            assert!(thing.score > 0.5 && thing.score < 1.0);
        }
    }

    #[test]
    fn a_piece_whose_votes_stray_belongs_to_the_thing_around_it() {
        let whole = discs(&[[30.0, 30.0]], 12.0);
        let votes = whole.votes.iter().map(|vote| {
            // The lower right votes for a place of its own, still within the disc.
            let (row, col) = (vote.cell / SIDE, vote.cell % SIDE);
            let to = if row + col > 69 { [38.0, 37.0] } else { vote.to };
            Vote { to, way: distance(to, [row as f32, col as f32]), ..*vote }
        });
        let torn = Grid { votes: votes.collect(), logits: whole.logits.clone(), ..whole };
        assert!(torn.middles().len() > 1, "the votes fall apart");
        let found = torn.instances();
        assert_eq!((found.len(), found[0].cells.len()), (1, torn.votes.len()));
    }

    #[test]
    fn a_few_cells_elsewhere_are_no_part_of_a_thing() {
        let thing = discs(&[[30.0, 30.0]], 12.0);
        let (mut logits, mut votes) = (thing.logits.clone(), thing.votes.clone());
        for cell in [5 * SIDE + 5, 5 * SIDE + 6] {
            logits[cell] = 1.0;
            votes.push(Vote { cell, to: [30.0, 30.0], way: 35.0 });
        }
        let found = Grid { side: SIDE, logits, votes }.instances();
        assert_eq!((found.len(), found[0].cells.len()), (1, thing.votes.len()));
    }

    #[test]
    fn a_large_thing_is_one() {
        assert_eq!(discs(&[[30.0, 30.0]], 25.0).instances().len(), 1);
    }

    #[test]
    fn a_few_cells_are_nothing() {
        assert_eq!(discs(&[[30.0, 30.0]], 1.2).instances(), []);
        assert_eq!(discs(&[[30.0, 30.0]], 0.0).instances(), []);
    }

    #[test]
    fn a_mask_has_the_size_of_the_picture() {
        let grid = discs(&[[32.0, 16.0]], 8.0);
        let cells = &grid.instances()[0].cells;
        for (width, height) in [(64, 64), (256, 128), (33, 47), (1, 1)] {
            let mask = grid.mask(cells, width, height);
            assert_eq!(mask.len(), width * height);
            let share = mask.iter().filter(|&&bit| bit == 1).count() as f32 / mask.len() as f32;
            let whole = cells.len() as f32 / (SIDE * SIDE) as f32;
            assert!(width == 1 || (share - whole).abs() < 0.01, "{share} {whole}");
        }
    }

    #[test]
    fn votes_that_are_no_numbers_do_no_harm() {
        for vote in [f32::NAN, f32::INFINITY, -1e30] {
            let grid = Grid::new(SIDE, vec![1.0; SIDE * SIDE], |_, _| [vote, vote]);
            assert!(grid.instances().len() <= 1);
        }
    }
}
