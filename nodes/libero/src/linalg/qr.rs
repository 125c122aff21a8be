//! Singular values of two diagonals by shifted QR steps (LAPACK's `dbdsqr` and what it calls).
//!
//! Demmel and Kahan, "Accurate Singular Values of Bidiagonal Matrices", 1990.

use nalgebra::SMatrix;

use super::sign;

/// Half the distance from 1 to the next number (`dlamch('Epsilon')`).
const EPSILON: f64 = f64::EPSILON / 2.0;
/// Relative accuracy asked for: the epsilon times its power of -1/8.
const TOLERANCE: f64 = 98.701_492_826_108_21 * EPSILON;
/// How many passes each singular value is allowed.
const PASSES: usize = 6;

/// Makes `above` zero; `diagonal` becomes the singular values, the greatest first, and the
/// rotations go into the columns of `v` and `u`.
#[inline(always)]
pub(super) fn diagonalize<const N: usize>(
    diagonal: &mut [f64; N],
    above: &mut [f64; N],
    v: &mut SMatrix<f64, N, N>,
    u: &mut SMatrix<f64, N, N>,
) {
    let mut work = Work { d: diagonal, e: above, v, u };
    let limits = work.limits();
    let mut last_block = None;
    let mut downward = true;
    let mut end = N;
    // Never reached: it only keeps a matrix with a NaN from looping for ever.
    for _ in 0..PASSES * N * N {
        if end <= 1 {
            break;
        }
        let (start, greatest) = work.block(end, &limits);
        if start + 1 == end {
            end -= 1;
            continue;
        }
        if start + 2 == end {
            work.finish_pair(start);
            end -= 2;
            continue;
        }
        // The shift goes from the larger end to the smaller.
        if last_block.is_none_or(|(first, last)| start + 1 > last || end < first + 1) {
            downward = work.d[start].abs() >= work.d[end - 1].abs();
        }
        let Some(least) = work.not_converged(start, end, downward, limits.relative) else {
            continue;
        };
        last_block = Some((start, end));
        let shift = work.shift(start, end, downward, least / greatest, limits.relative);
        match downward {
            true => work.sweep_down(start, end, shift),
            false => work.sweep_up(start, end, shift),
        }
        let tested = if downward { end - 2 } else { start };
        if work.e[tested].abs() <= limits.absolute {
            work.e[tested] = 0.0;
        }
    }
    work.make_positive();
    work.sort();
}

struct Limits {
    relative: f64,
    absolute: f64,
}

struct Work<'a, const N: usize> {
    d: &'a mut [f64; N],
    e: &'a mut [f64; N],
    v: &'a mut SMatrix<f64, N, N>,
    u: &'a mut SMatrix<f64, N, N>,
}

/// Cosine and sine.
type Rotation = (f64, f64);

impl<const N: usize> Work<'_, N> {
    #[inline(always)]
    fn limits(&self) -> Limits {
        let mut least = self.d[0].abs();
        let mut mu = least;
        for i in 1..N {
            if least == 0.0 {
                break;
            }
            mu = self.d[i].abs() * (mu / (mu + self.e[i - 1].abs()));
            least = least.min(mu);
        }
        let n = N as f64;
        let floor = PASSES as f64 * (n * (n * f64::MIN_POSITIVE));
        Limits { relative: TOLERANCE, absolute: (TOLERANCE * (least / n.sqrt())).max(floor) }
    }

    /// Where the block that ends before `end` starts, and the greatest number in it.
    #[inline(always)]
    fn block(&mut self, end: usize, limits: &Limits) -> (usize, f64) {
        let mut greatest = self.d[end - 1].abs();
        for i in (0..end - 1).rev() {
            if self.e[i].abs() <= limits.absolute {
                self.e[i] = 0.0;
                return (i + 1, greatest);
            }
            greatest = greatest.max(self.d[i].abs()).max(self.e[i].abs());
        }
        (0, greatest)
    }

    /// A lower bound of the block's singular values, or none when a number above the
    /// diagonal turned out small enough to be zero.
    #[inline(always)]
    fn not_converged(
        &mut self,
        start: usize,
        end: usize,
        downward: bool,
        tolerance: f64,
    ) -> Option<f64> {
        let (d, e) = (&self.d, &mut self.e);
        let last = if downward { (end - 2, end - 1) } else { (start, start) };
        if e[last.0].abs() <= tolerance * d[last.1].abs() {
            e[last.0] = 0.0;
            return None;
        }
        let mut mu = if downward { d[start] } else { d[end - 1] }.abs();
        let mut least = mu;
        for step in 0..end - 1 - start {
            let (i, next) = match downward {
                true => (start + step, start + step + 1),
                false => (end - 2 - step, end - 2 - step),
            };
            if e[i].abs() <= tolerance * mu {
                e[i] = 0.0;
                return None;
            }
            mu = d[next].abs() * (mu / (mu + e[i].abs()));
            least = least.min(mu);
        }
        Some(least)
    }

    #[inline(always)]
    fn shift(&self, start: usize, end: usize, downward: bool, spread: f64, tolerance: f64) -> f64 {
        // A shift would cost relative accuracy.
        if N as f64 * tolerance * spread <= EPSILON.max(0.01 * tolerance) {
            return 0.0;
        }
        let (far, i) = if downward { (start, end - 2) } else { (end - 1, start) };
        let shift = least_singular(self.d[i], self.e[i], self.d[i + 1]);
        let far = self.d[far].abs();
        let negligible = far > 0.0 && (shift / far) * (shift / far) < EPSILON;
        if negligible { 0.0 } else { shift }
    }

    #[inline(always)]
    fn sweep_down(&mut self, start: usize, end: usize, shift: f64) {
        let (d, e) = (&mut *self.d, &mut *self.e);
        let mut turns = [((1.0, 0.0), (1.0, 0.0)); N];
        if shift == 0.0 {
            let (mut cosine, mut old) = (1.0, (1.0, 0.0));
            for i in start..end - 1 {
                let (right, r) = rotation(d[i] * cosine, e[i]);
                if i > start {
                    e[i - 1] = old.1 * r;
                }
                cosine = right.0;
                let (left, r) = rotation(old.0 * r, d[i + 1] * right.1);
                (old, d[i]) = (left, r);
                turns[i] = (right, left);
            }
            let h = d[end - 1] * cosine;
            d[end - 1] = h * old.0;
            e[end - 2] = h * old.1;
        } else {
            let mut f = (d[start].abs() - shift) * (sign(1.0, d[start]) + shift / d[start]);
            let mut g = e[start];
            for i in start..end - 1 {
                let (right, r) = rotation(f, g);
                if i > start {
                    e[i - 1] = r;
                }
                f = right.0 * d[i] + right.1 * e[i];
                e[i] = right.0 * e[i] - right.1 * d[i];
                g = right.1 * d[i + 1];
                d[i + 1] *= right.0;
                let (left, r) = rotation(f, g);
                d[i] = r;
                f = left.0 * e[i] + left.1 * d[i + 1];
                d[i + 1] = left.0 * d[i + 1] - left.1 * e[i];
                if i + 2 < end {
                    g = left.1 * e[i + 1];
                    e[i + 1] *= left.0;
                }
                turns[i] = (right, left);
            }
            e[end - 2] = f;
        }
        for (i, &(right, left)) in turns.iter().enumerate().take(end - 1).skip(start) {
            self.turn(i, right, left);
        }
    }

    #[inline(always)]
    fn sweep_up(&mut self, start: usize, end: usize, shift: f64) {
        let (d, e) = (&mut *self.d, &mut *self.e);
        let mut turns = [((1.0, 0.0), (1.0, 0.0)); N];
        if shift == 0.0 {
            let (mut cosine, mut old) = (1.0, (1.0, 0.0));
            for i in (start + 1..end).rev() {
                let (left, r) = rotation(d[i] * cosine, e[i - 1]);
                if i + 1 < end {
                    e[i] = old.1 * r;
                }
                cosine = left.0;
                let (right, r) = rotation(old.0 * r, d[i - 1] * left.1);
                (old, d[i]) = (right, r);
                turns[i - 1] = (right, left);
            }
            let h = d[start] * cosine;
            d[start] = h * old.0;
            e[start] = h * old.1;
        } else {
            let last = end - 1;
            let mut f = (d[last].abs() - shift) * (sign(1.0, d[last]) + shift / d[last]);
            let mut g = e[last - 1];
            for i in (start + 1..end).rev() {
                let (left, r) = rotation(f, g);
                if i < last {
                    e[i] = r;
                }
                f = left.0 * d[i] + left.1 * e[i - 1];
                e[i - 1] = left.0 * e[i - 1] - left.1 * d[i];
                g = left.1 * d[i - 1];
                d[i - 1] *= left.0;
                let (right, r) = rotation(f, g);
                d[i] = r;
                f = right.0 * e[i - 1] + right.1 * d[i - 1];
                d[i - 1] = right.0 * d[i - 1] - right.1 * e[i - 1];
                if i > start + 1 {
                    g = right.1 * e[i - 2];
                    e[i - 2] *= right.0;
                }
                turns[i - 1] = (right, left);
            }
            e[start] = f;
        }
        for i in (start..end - 1).rev() {
            let (right, left) = turns[i];
            self.turn(i, (right.0, -right.1), (left.0, -left.1));
        }
    }

    /// Rotates columns `i` and `i + 1` of `v` and `u` (`dlasr`).
    #[inline(always)]
    fn turn(&mut self, i: usize, right: Rotation, left: Rotation) {
        let turned = |(c, s): Rotation, x: f64, y: f64| (s * y + c * x, c * y - s * x);
        rotate(self.v, i, |x, y| turned(right, x, y));
        rotate(self.u, i, |x, y| turned(left, x, y));
    }

    /// A block of two, by its own formula; these rotations are fused (`drot`).
    #[inline(always)]
    fn finish_pair(&mut self, i: usize) {
        let pair = Pair::new(self.d[i], self.e[i], self.d[i + 1]);
        (self.d[i], self.e[i], self.d[i + 1]) = (pair.greatest, 0.0, pair.least);
        let turned =
            |(c, s): Rotation, x: f64, y: f64| (c.mul_add(x, s * y), c.mul_add(y, -(s * x)));
        rotate(self.v, i, |x, y| turned(pair.right, x, y));
        rotate(self.u, i, |x, y| turned(pair.left, x, y));
    }

    #[inline(always)]
    fn make_positive(&mut self) {
        for i in 0..N {
            if self.d[i] < 0.0 {
                self.d[i] = -self.d[i];
                for value in &mut self.v.data.0[i] {
                    *value = -*value;
                }
            }
        }
    }

    #[inline(always)]
    fn sort(&mut self) {
        for last in (1..N).rev() {
            let mut least = 0;
            for j in 1..=last {
                if self.d[j] <= self.d[least] {
                    least = j;
                }
            }
            self.d.swap(least, last);
            self.v.swap_columns(least, last);
            self.u.swap_columns(least, last);
        }
    }
}

/// Replaces columns `i` and `i + 1`, pair by pair.
#[inline(always)]
fn rotate<const N: usize>(
    matrix: &mut SMatrix<f64, N, N>,
    i: usize,
    turned: impl Fn(f64, f64) -> (f64, f64),
) {
    let [.., before, after] = &mut matrix.data.0[..i + 2] else { return };
    for (x, y) in before.iter_mut().zip(after) {
        (*x, *y) = turned(*x, *y);
    }
}

/// The rotation that turns `(f, g)` into `(r, 0)`, and `r` (`dlartg`).
#[inline(always)]
fn rotation(f: f64, g: f64) -> (Rotation, f64) {
    if g == 0.0 {
        return ((1.0, 0.0), f);
    }
    if f == 0.0 {
        return ((0.0, sign(1.0, g)), g.abs());
    }
    let (least, greatest) = (f64::MIN_POSITIVE.sqrt(), (0.5 / f64::MIN_POSITIVE).sqrt());
    let ordinary = |x: f64| x.abs() > least && x.abs() < greatest;
    if ordinary(f) && ordinary(g) {
        let length = (f * f + g * g).sqrt();
        let r = sign(length, f);
        return ((f.abs() / length, g / r), r);
    }
    let unit = f.abs().max(g.abs()).clamp(f64::MIN_POSITIVE, 1.0 / f64::MIN_POSITIVE);
    let (f, g) = (f / unit, g / unit);
    let length = (f * f + g * g).sqrt();
    let r = sign(length, f);
    ((f.abs() / length, g / r), r * unit)
}

/// The smaller singular value of `[f g; 0 h]` (`dlas2`).
#[inline(always)]
fn least_singular(f: f64, g: f64, h: f64) -> f64 {
    let (f, g, h) = (f.abs(), g.abs(), h.abs());
    let (small, great) = (f.min(h), f.max(h));
    if small == 0.0 {
        return 0.0;
    }
    let (sum, difference) = (1.0 + small / great, (great - small) / great);
    if g < great {
        let ratio = (g / great) * (g / great);
        return small
            * (2.0 / ((sum * sum + ratio).sqrt() + (difference * difference + ratio).sqrt()));
    }
    let ratio = great / g;
    if ratio == 0.0 {
        return (small * great) / g;
    }
    let root = |x: f64| (1.0 + (x * ratio) * (x * ratio)).sqrt();
    let half = (small * (1.0 / (root(sum) + root(difference)))) * ratio;
    half + half
}

/// Singular values of `[f g; 0 h]` and the rotations to them (`dlasv2`).
struct Pair {
    least: f64,
    greatest: f64,
    right: Rotation,
    left: Rotation,
}

impl Pair {
    #[inline(always)]
    fn new(f: f64, g: f64, h: f64) -> Self {
        let swapped = h.abs() > f.abs();
        let (f1, h1) = if swapped { (h, f) } else { (f, h) };
        let (fa, ga, ha) = (f1.abs(), g.abs(), h1.abs());
        let dominant = ga > fa;
        let (least, greatest, left, right);
        if ga == 0.0 {
            (least, greatest, left, right) = (ha, fa, (1.0, 0.0), (1.0, 0.0));
        } else if dominant && fa / ga < EPSILON {
            greatest = ga;
            least = if ha > 1.0 { fa / (ga / ha) } else { (fa / ga) * ha };
            (left, right) = ((1.0, h1 / g), (f1 / g, 1.0));
        } else {
            let difference = fa - ha;
            let l = if difference == fa { 1.0 } else { difference / fa };
            let m = g / f1;
            let (t, mm) = (2.0 - l, m * m);
            let s = (t * t + mm).sqrt();
            let r = if l == 0.0 { m.abs() } else { (l * l + mm).sqrt() };
            let a = 0.5 * (s + r);
            (least, greatest) = (ha / a, fa * a);
            let t = match (mm == 0.0, l == 0.0) {
                (true, true) => sign(2.0, f1) * sign(1.0, g),
                (true, false) => g / sign(difference, f1) + m / t,
                (false, _) => (m / (s + t) + m / (r + l)) * (1.0 + a),
            };
            let length = (t * t + 4.0).sqrt();
            right = (2.0 / length, t / length);
            left = ((right.0 + right.1 * m) / a, (h1 / f1) * right.1 / a);
        }
        let (left, right) = match swapped {
            true => ((right.1, right.0), (left.1, left.0)),
            false => (left, right),
        };
        let one = |x: f64| sign(1.0, x);
        let turned = match (dominant, swapped) {
            (true, _) => one(right.1) * one(left.0) * one(g),
            (false, false) => one(right.0) * one(left.0) * one(f),
            (false, true) => one(right.1) * one(left.1) * one(h),
        };
        Pair {
            least: sign(least, turned * one(f) * one(h)),
            greatest: sign(greatest, turned),
            right,
            left,
        }
    }
}
