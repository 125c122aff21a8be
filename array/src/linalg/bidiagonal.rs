//! The singular values of a bidiagonal matrix (LAPACK's `dbdsqr`).

use super::kernels::{Matrix, rotate_columns, rotation};

const EPS: f64 = f64::EPSILON / 2.0;
const ITERATIONS: f64 = 6.0;

/// A square bidiagonal matrix.
pub(super) struct Bidiagonal {
    pub d: Vec<f64>,
    /// Beside the diagonal.
    pub e: Vec<f64>,
    /// Whether `e` is above the diagonal, or below.
    pub upper: bool,
}

/// Turns the diagonal into the singular values, falling, multiplies `u` from the right and
/// `vt` from the left by their vectors. `None` when the iterations do not converge.
pub(super) fn diagonalise(b: &mut Bidiagonal, u: &mut Matrix, vt: &mut Matrix) -> Option<()> {
    if let [value] = &mut b.d[..] {
        // LAPACK gives the sign of the only value to U.
        if value.is_sign_negative() {
            *value = -*value;
            u.neg_mut();
        }
        return Some(());
    }
    let turned = if b.upper { Vec::new() } else { turn_upper(b) };
    // Columns are rotated faster than rows.
    let mut v = vt.transpose();
    iterate(&mut b.d, &mut b.e, u, &mut v)?;
    sort(&mut b.d, u, &mut v);
    vt.copy_from(&v.transpose());
    for (i, c, s) in turned.into_iter().rev() {
        rotate_rows(u, i, c, -s);
    }
    Some(())
}

/// Makes a lower bidiagonal matrix upper, and gives the rotations.
fn turn_upper(b: &mut Bidiagonal) -> Vec<(usize, f64, f64)> {
    let mut rotations = Vec::new();
    for i in 0..b.e.len() {
        let (c, s, r) = rotation(b.d[i], b.e[i]);
        b.d[i] = r;
        b.e[i] = s * b.d[i + 1];
        b.d[i + 1] *= c;
        rotations.push((i, c, s));
    }
    b.upper = true;
    rotations
}

fn rotate_rows(a: &mut Matrix, i: usize, c: f64, s: f64) {
    if a.nrows() == 0 {
        // No vectors are wanted.
        return;
    }
    for mut column in a.column_iter_mut() {
        let (x, y) = (column[i], column[i + 1]);
        column[i + 1] = c * y - s * x;
        column[i] = s * y + c * x;
    }
}

fn sort(d: &mut [f64], u: &mut Matrix, v: &mut Matrix) {
    for (i, value) in d.iter_mut().enumerate() {
        if value.is_sign_negative() {
            *value = -*value;
            v.column_mut(i).neg_mut();
        }
    }
    let n = d.len();
    for last in (1..n).rev() {
        let least = (0..=last).fold(0, |least, j| if d[j] <= d[least] { j } else { least });
        if least != last {
            d.swap(least, last);
            u.swap_columns(least, last);
            v.swap_columns(least, last);
        }
    }
}

fn iterate(d: &mut [f64], e: &mut [f64], u: &mut Matrix, v: &mut Matrix) -> Option<()> {
    let n = d.len();
    let tolerance = EPS.powf(-0.125).clamp(10.0, 100.0) * EPS;
    let threshold = {
        let mut mu = d[0].abs();
        let mut least = mu;
        for i in 1..n {
            if least == 0.0 {
                break;
            }
            mu = d[i].abs() * (mu / (mu + e[i - 1].abs()));
            least = least.min(mu);
        }
        let floor = ITERATIONS * (n as f64 * (n as f64 * f64::MIN_POSITIVE));
        (tolerance * (least / (n as f64).sqrt())).max(floor)
    };
    let mut left = ITERATIONS * (n * n) as f64;
    let mut end = n;
    let mut last_block = (usize::MAX, 0);
    let mut down = true;
    while end > 1 {
        left -= 1.0;
        if left < 0.0 {
            return None;
        }
        // The last block without a negligible element beside the diagonal, start..=m.
        let m = end - 1;
        let mut largest = d[m].abs();
        let mut start = 0;
        for l in (0..m).rev() {
            if e[l].abs() <= threshold {
                e[l] = 0.0;
                start = l + 1;
                break;
            }
            largest = largest.max(d[l].abs()).max(e[l].abs());
        }
        if start == m {
            end -= 1;
            continue;
        }
        if start + 1 == m {
            let values = two_by_two(d[m - 1], e[m - 1], d[m]);
            (d[m - 1], e[m - 1], d[m]) = (values.largest, 0.0, values.least);
            rotate_columns(v, m - 1, values.right.0, values.right.1);
            rotate_columns(u, m - 1, values.left.0, values.left.1);
            end -= 2;
            continue;
        }
        // A new block is chased from its larger end to the smaller.
        if last_block == (usize::MAX, 0) || start > last_block.1 || m < last_block.0 {
            down = d[start].abs() >= d[m].abs();
        }
        let block = Block { start, end: m, down };
        let Some(least) = block.converged(d, e, tolerance) else { continue };
        last_block = (start, m);

        let mut shift = 0.0;
        if n as f64 * tolerance * (least / largest) > EPS.max(0.01 * tolerance) {
            let far = if down {
                shift = smaller_value(d[m - 1], e[m - 1], d[m]);
                d[start].abs()
            } else {
                shift = smaller_value(d[start], e[start], d[start + 1]);
                d[m].abs()
            };
            if far > 0.0 && (shift / far).powi(2) < EPS {
                shift = 0.0;
            }
        }
        if shift == 0.0 {
            block.chase_unshifted(d, e, u, v);
        } else {
            block.chase(d, e, u, v, shift);
        }
        let edge = block.beside(block.steps() - 1);
        if e[edge].abs() <= threshold {
            e[edge] = 0.0;
        }
    }
    Some(())
}

/// A part of the matrix, and from which end to which it is chased.
#[derive(Clone, Copy)]
struct Block {
    start: usize,
    /// Its last row.
    end: usize,
    down: bool,
}

impl Block {
    fn steps(self) -> usize {
        self.end - self.start
    }

    /// Where a step is on the diagonal.
    fn diagonal(self, step: usize) -> usize {
        if self.down { self.start + step } else { self.end - step }
    }

    /// The place beside the diagonal between a step and the next, and the first of the two
    /// columns that are rotated there.
    fn beside(self, step: usize) -> usize {
        if self.down { self.start + step } else { self.end - 1 - step }
    }

    /// A lower bound of the singular values, or `None` when an element beside the diagonal
    /// could be set to zero.
    fn converged(self, d: &[f64], e: &mut [f64], tolerance: f64) -> Option<f64> {
        let edge = self.beside(self.steps() - 1);
        if e[edge].abs() <= tolerance * d[self.diagonal(self.steps())].abs() {
            e[edge] = 0.0;
            return None;
        }
        let mut mu = d[self.diagonal(0)].abs();
        let mut least = mu;
        for step in 0..self.steps() {
            let (at, next) = (self.beside(step), self.diagonal(step + 1));
            if e[at].abs() <= tolerance * mu {
                e[at] = 0.0;
                return None;
            }
            mu = d[next].abs() * (mu / (mu + e[at].abs()));
            least = least.min(mu);
        }
        Some(least)
    }

    /// A sweep with a shift of zero, which keeps small values exact.
    fn chase_unshifted(self, d: &mut [f64], e: &mut [f64], u: &mut Matrix, v: &mut Matrix) {
        let (first, second, sign) = self.sides(u, v);
        let (mut c, mut old_c, mut old_s) = (1.0, 1.0, 0.0);
        for step in 0..self.steps() {
            let (i, at, next) = (self.diagonal(step), self.beside(step), self.diagonal(step + 1));
            let (next_c, s, r) = rotation(d[i] * c, e[at]);
            c = next_c;
            if step > 0 {
                e[self.beside(step - 1)] = old_s * r;
            }
            (old_c, old_s, d[i]) = rotation(old_c * r, d[next] * s);
            rotate_columns(first, at, c, sign * s);
            rotate_columns(second, at, old_c, sign * old_s);
        }
        let last = self.diagonal(self.steps());
        let h = d[last] * c;
        d[last] = h * old_c;
        e[self.beside(self.steps() - 1)] = h * old_s;
    }

    fn chase(self, d: &mut [f64], e: &mut [f64], u: &mut Matrix, v: &mut Matrix, shift: f64) {
        let (first, second, sign) = self.sides(u, v);
        let start = d[self.diagonal(0)];
        let mut f = (start.abs() - shift) * (1f64.copysign(start) + shift / start);
        let mut g = e[self.beside(0)];
        for step in 0..self.steps() {
            let (i, at, next) = (self.diagonal(step), self.beside(step), self.diagonal(step + 1));
            let (c, s, r) = rotation(f, g);
            if step > 0 {
                e[self.beside(step - 1)] = r;
            }
            f = c * d[i] + s * e[at];
            e[at] = c * e[at] - s * d[i];
            g = s * d[next];
            d[next] *= c;
            rotate_columns(first, at, c, sign * s);
            let (c, s, r) = rotation(f, g);
            d[i] = r;
            f = c * e[at] + s * d[next];
            d[next] = c * d[next] - s * e[at];
            if step + 1 < self.steps() {
                let beyond = self.beside(step + 1);
                g = s * e[beyond];
                e[beyond] *= c;
            }
            rotate_columns(second, at, c, sign * s);
        }
        e[self.beside(self.steps() - 1)] = f;
    }

    /// The vectors that each step rotates first and second, and the rotations' sign.
    fn sides<'a>(
        self,
        u: &'a mut Matrix,
        v: &'a mut Matrix,
    ) -> (&'a mut Matrix, &'a mut Matrix, f64) {
        if self.down { (v, u, 1.0) } else { (u, v, -1.0) }
    }
}

/// The smaller singular value of `[[f, g], [0, h]]` (`dlas2`).
fn smaller_value(f: f64, g: f64, h: f64) -> f64 {
    let (f, g, h) = (f.abs(), g.abs(), h.abs());
    let (least, most) = (f.min(h), f.max(h));
    if least == 0.0 {
        return 0.0;
    }
    let (sum, difference) = (1.0 + least / most, (most - least) / most);
    if g < most {
        let square = (g / most).powi(2);
        let c = 2.0 / ((sum * sum + square).sqrt() + (difference * difference + square).sqrt());
        return least * c;
    }
    let ratio = most / g;
    if ratio == 0.0 {
        return least * most / g;
    }
    let c =
        1.0 / ((1.0 + (sum * ratio).powi(2)).sqrt() + (1.0 + (difference * ratio).powi(2)).sqrt());
    2.0 * (least * c * ratio)
}

/// Singular values of a triangle, with signs, and cosine and sine of their vectors.
struct TwoByTwo {
    least: f64,
    largest: f64,
    left: (f64, f64),
    right: (f64, f64),
}

/// The singular value decomposition of `[[f, g], [0, h]]` (`dlasv2`).
fn two_by_two(f: f64, g: f64, h: f64) -> TwoByTwo {
    let swap = h.abs() > f.abs();
    let (ft, ht) = if swap { (h, f) } else { (f, h) };
    let (fa, ha, ga) = (ft.abs(), ht.abs(), g.abs());
    let mut biggest_is_g = false;
    let (least, largest, cl, sl, cr, sr);
    if ga == 0.0 {
        (least, largest) = (ha, fa);
        (cl, sl, cr, sr) = (1.0, 0.0, 1.0, 0.0);
    } else if ga > fa && fa / ga < EPS {
        biggest_is_g = true;
        largest = ga;
        least = if ha > 1.0 { fa / (ga / ha) } else { (fa / ga) * ha };
        (cl, sl, cr, sr) = (1.0, ht / g, ft / g, 1.0);
    } else {
        biggest_is_g = ga > fa;
        let d = fa - ha;
        let l = if d == fa { 1.0 } else { d / fa };
        let m = g / ft;
        let t = 2.0 - l;
        let s = (t * t + m * m).sqrt();
        let r = if l == 0.0 { m.abs() } else { (l * l + m * m).sqrt() };
        let a = 0.5 * (s + r);
        (least, largest) = (ha / a, fa * a);
        let t = if m * m != 0.0 {
            (m / (s + t) + m / (r + l)) * (1.0 + a)
        } else if l == 0.0 {
            2f64.copysign(ft) * 1f64.copysign(g)
        } else {
            g / d.copysign(ft) + m / t
        };
        let l = (t * t + 4.0).sqrt();
        (cr, sr) = (2.0 / l, t / l);
        cl = (cr + sr * m) / a;
        sl = (ht / ft) * sr / a;
    }
    let (left, right) = if swap { ((sr, cr), (sl, cl)) } else { ((cl, sl), (cr, sr)) };
    let sign = |x: f64| 1f64.copysign(x);
    let total = match (biggest_is_g, swap) {
        (true, _) => sign(right.1) * sign(left.0) * sign(g),
        (false, false) => sign(right.0) * sign(left.0) * sign(f),
        (false, true) => sign(right.1) * sign(left.1) * sign(h),
    };
    TwoByTwo {
        largest: largest.copysign(total),
        least: least.copysign(total * sign(f) * sign(h)),
        left,
        right,
    }
}
