//! Eigenvalues of general matrices, as in LAPACK's `dgeev`: balancing, Hessenberg form and
//! double-shift QR iterations.

use super::kernels::{Matrix, Reflections, norm, reflect_columns, reflect_rows, reflection};

const EPS: f64 = f64::EPSILON;
const SAFE_MIN: f64 = f64::MIN_POSITIVE;

/// What can keep real eigenvalues from being found.
pub(super) enum Failure {
    Complex,
    NoConvergence,
}

/// Eigenvalues, and unit eigenvectors as columns.
pub(super) fn eigen(mut a: Matrix, vectors: bool) -> Result<(Vec<f64>, Matrix), Failure> {
    let n = a.nrows();
    let balance = Balance::new(&mut a);
    let q = hessenberg(&mut a, &balance);
    let mut z = q.columns(n, n);
    schur(&mut a, &mut z, &balance)?;
    let values: Vec<f64> = (0..n).map(|i| a[(i, i)]).collect();
    if !vectors {
        return Ok((values, Matrix::zeros(n, 0)));
    }
    let mut out = Matrix::zeros(n, n);
    for (k, &value) in values.iter().enumerate() {
        // Back substitution in the triangle, in the basis of the Schur vectors.
        let smallest = (EPS * value.abs()).max(SAFE_MIN * (n as f64 / EPS));
        let mut x = vec![0.0; n];
        x[k] = 1.0;
        for i in (0..k).rev() {
            let dot: f64 = (i + 1..=k).map(|j| a[(i, j)] * x[j]).sum();
            let gap = a[(i, i)] - value;
            let gap = if gap.abs() < smallest { smallest } else { gap };
            x[i] = -dot / gap;
            if x[i].abs() > 1e100 {
                let scale = 1.0 / x[i].abs();
                x.iter_mut().for_each(|x| *x *= scale);
            }
        }
        let mut vector: Vec<f64> =
            (0..n).map(|i| (0..=k).map(|j| z[(i, j)] * x[j]).sum()).collect();
        balance.undo(&mut vector);
        let scale = 1.0 / norm(&vector);
        for (i, value) in vector.into_iter().enumerate() {
            out[(i, k)] = value * scale;
        }
    }
    Ok((values, out))
}

/// How a matrix was permuted and scaled.
struct Balance {
    /// The part that is not triangular already.
    low: usize,
    /// Behind its last row.
    high: usize,
    scale: Vec<f64>,
    /// Rows and columns that changed places, in order.
    swaps: Vec<(usize, usize)>,
}

impl Balance {
    fn new(a: &mut Matrix) -> Balance {
        let n = a.nrows();
        let mut balance = Balance { low: 0, high: n, scale: vec![1.0; n], swaps: Vec::new() };
        balance.permute(a);
        if balance.high > balance.low {
            balance.equilibrate(a);
        }
        balance
    }

    fn permute(&mut self, a: &mut Matrix) {
        let n = a.nrows();
        let swap = |a: &mut Matrix, swaps: &mut Vec<(usize, usize)>, i: usize, to: usize| {
            a.swap_columns(i, to);
            a.swap_rows(i, to);
            swaps.push((i, to));
        };
        // Rows with nothing beside the diagonal go to the end.
        let mut again = true;
        while again {
            again = false;
            for i in (0..self.high).rev() {
                if i < self.high && (0..self.high).all(|j| i == j || a[(i, j)] == 0.0) {
                    swap(a, &mut self.swaps, i, self.high - 1);
                    again = true;
                    self.high -= 1;
                    if self.high == 0 {
                        return;
                    }
                }
            }
        }
        // Such columns go to the beginning.
        again = n > 0;
        while again {
            again = false;
            for j in self.low..self.high {
                if j >= self.low && (self.low..self.high).all(|i| i == j || a[(i, j)] == 0.0) {
                    swap(a, &mut self.swaps, j, self.low);
                    again = true;
                    self.low += 1;
                }
            }
        }
    }

    /// Scales by powers of two until rows and columns are of like size.
    fn equilibrate(&mut self, a: &mut Matrix) {
        let n = a.nrows();
        let (least, most) = (SAFE_MIN / EPS * 2.0, EPS / SAFE_MIN / 2.0);
        let mut again = true;
        while again {
            again = false;
            for i in self.low..self.high {
                let middle = self.low..self.high;
                let mut c = norm(&middle.clone().map(|k| a[(k, i)]).collect::<Vec<_>>());
                let mut r = norm(&middle.map(|k| a[(i, k)]).collect::<Vec<_>>());
                let mut ca = (0..self.high).fold(0.0f64, |m, k| m.max(a[(k, i)].abs()));
                let mut ra = (self.low..n).fold(0.0f64, |m, k| m.max(a[(i, k)].abs()));
                if c == 0.0 || r == 0.0 {
                    continue;
                }
                let sum = c + r;
                let mut f = 1.0f64;
                while c < r / 2.0 && f.max(c).max(ca) < most && r.min(r / 2.0).min(ra) > least {
                    (f, c, ca) = (f * 2.0, c * 2.0, ca * 2.0);
                    (r, ra) = (r / 2.0, ra / 2.0);
                }
                while c / 2.0 >= r && r.max(ra) < most && f.min(c).min(c / 2.0).min(ca) > least {
                    (f, c, ca) = (f / 2.0, c / 2.0, ca / 2.0);
                    (r, ra) = (r * 2.0, ra * 2.0);
                }
                if c + r >= 0.95 * sum {
                    continue;
                }
                self.scale[i] *= f;
                again = true;
                for k in self.low..n {
                    a[(i, k)] /= f;
                }
                for k in 0..self.high {
                    a[(k, i)] *= f;
                }
            }
        }
    }

    /// Brings an eigenvector back to the matrix as it was.
    fn undo(&self, vector: &mut [f64]) {
        for (value, scale) in vector.iter_mut().zip(&self.scale) {
            *value *= scale;
        }
        for &(i, j) in self.swaps.iter().rev() {
            vector.swap(i, j);
        }
    }
}

/// Reduces to Hessenberg form.
fn hessenberg(a: &mut Matrix, balance: &Balance) -> Reflections {
    let mut q = Reflections::default();
    for i in balance.low..balance.high.saturating_sub(1) {
        let mut v = a.column(i).as_slice()[i + 1..balance.high].to_vec();
        let (tau, beta) = reflection(&mut v);
        reflect_columns(a, &v, tau, 0, i + 1);
        reflect_rows(a, &v, tau, i + 1, i + 1);
        a[(i + 1, i)] = beta;
        for j in i + 2..balance.high {
            a[(j, i)] = 0.0;
        }
        q.push(i + 1, v, tau);
    }
    q
}

/// Reduces a Hessenberg matrix to a triangle (`dlahqr`).
fn schur(h: &mut Matrix, z: &mut Matrix, balance: &Balance) -> Result<(), Failure> {
    let n = h.nrows();
    let (low, mut end) = (balance.low, balance.high);
    let size = (end - low).max(10) as f64;
    let smallest = SAFE_MIN * (size / EPS);
    let limit = 30 * (end - low).max(10);
    let mut deflated = 0;
    let mut done = 0;
    while end > low {
        let i = end - 1;
        // A negligible subdiagonal element splits the matrix.
        let l = (low + 1..=i).rev().find(|&k| negligible(h, k, low, balance.high, smallest));
        let l = l.unwrap_or(low);
        if l > low {
            h[(l, l - 1)] = 0.0;
        }
        if l == i {
            end -= 1;
            deflated = 0;
            continue;
        }
        if l + 1 == i {
            standardise(h, z, l)?;
            end -= 2;
            deflated = 0;
            continue;
        }
        done += 1;
        if done > limit {
            return Err(Failure::NoConvergence);
        }
        deflated += 1;
        let shifts = shifts(h, l, i, deflated);
        sweep(h, z, l, i, n, shifts);
    }
    Ok(())
}

/// Whether the element left of `(k, k)` may be set to zero (Ahues and Tisseur).
fn negligible(h: &Matrix, k: usize, low: usize, high: usize, smallest: f64) -> bool {
    let below = h[(k, k - 1)].abs();
    if below <= smallest {
        return true;
    }
    let mut sum = h[(k - 1, k - 1)].abs() + h[(k, k)].abs();
    if sum == 0.0 {
        if k >= low + 2 {
            sum += h[(k - 1, k - 2)].abs();
        }
        if k + 1 < high {
            sum += h[(k + 1, k)].abs();
        }
    }
    if below > EPS * sum {
        return false;
    }
    let above = h[(k - 1, k)].abs();
    let (ab, ba) = (below.max(above), below.min(above));
    let gap = (h[(k - 1, k - 1)] - h[(k, k)]).abs();
    let (aa, bb) = (h[(k, k)].abs().max(gap), h[(k, k)].abs().min(gap));
    let s = aa + ab;
    ba * (ab / s) <= smallest.max(EPS * (bb * (aa / s)))
}

/// Real parts and the size of the imaginary part of two shifts.
fn shifts(h: &Matrix, l: usize, i: usize, deflated: usize) -> [(f64, f64); 2] {
    let (h11, h21, h12, h22) = if deflated.is_multiple_of(20) {
        let s = h[(i, i - 1)].abs() + h[(i - 1, i - 2)].abs();
        let h11 = 0.75 * s + h[(i, i)];
        (h11, s, -0.4375 * s, h11)
    } else if deflated.is_multiple_of(10) {
        let s = h[(l + 1, l)].abs() + h[(l + 2, l + 1)].abs();
        let h11 = 0.75 * s + h[(l, l)];
        (h11, s, -0.4375 * s, h11)
    } else {
        (h[(i - 1, i - 1)], h[(i, i - 1)], h[(i - 1, i)], h[(i, i)])
    };
    let s = h11.abs() + h12.abs() + h21.abs() + h22.abs();
    if s == 0.0 {
        return [(0.0, 0.0); 2];
    }
    let (h11, h21, h12, h22) = (h11 / s, h21 / s, h12 / s, h22 / s);
    let half = (h11 + h22) / 2.0;
    let determinant = (h11 - half) * (h22 - half) - h12 * h21;
    let root = determinant.abs().sqrt();
    if determinant >= 0.0 {
        return [(half * s, root * s), (half * s, -root * s)];
    }
    let (first, second) = (half + root, half - root);
    let nearer = if (first - h22).abs() <= (second - h22).abs() { first * s } else { second * s };
    [(nearer, 0.0), (nearer, 0.0)]
}

/// One double-shift QR sweep over the rows `l..=i`.
fn sweep(h: &mut Matrix, z: &mut Matrix, l: usize, i: usize, n: usize, shifts: [(f64, f64); 2]) {
    let [(rt1r, rt1i), (rt2r, rt2i)] = shifts;
    let mut start = i - 1;
    let mut v;
    loop {
        start -= 1;
        let m = start;
        let h21s = h[(m + 1, m)].abs();
        let s = (h[(m, m)] - rt2r).abs() + rt2i.abs() + h21s;
        let h21s = h[(m + 1, m)] / s;
        v = [
            h21s * h[(m, m + 1)] + (h[(m, m)] - rt1r) * ((h[(m, m)] - rt2r) / s)
                - rt1i * (rt2i / s),
            h21s * (h[(m, m)] + h[(m + 1, m + 1)] - rt1r - rt2r),
            h21s * h[(m + 2, m + 1)],
        ];
        let s: f64 = v.iter().map(|v| v.abs()).sum();
        v = v.map(|v| v / s);
        if m == l {
            break;
        }
        // Two small subdiagonal elements in a row are as good as one negligible.
        let h00 = h[(m - 1, m - 1)].abs();
        let neighbours = h00 + h[(m, m)].abs() + h[(m + 1, m + 1)].abs();
        if h[(m, m - 1)].abs() * (v[1].abs() + v[2].abs()) <= EPS * v[0].abs() * neighbours {
            break;
        }
    }
    for k in start..i {
        let length = 3.min(i - k + 1);
        let mut x: Vec<f64> = if k > start {
            (0..length).map(|j| h[(k + j, k - 1)]).collect()
        } else {
            v[..length].to_vec()
        };
        let (tau, beta) = reflection(&mut x);
        if k > start {
            h[(k, k - 1)] = beta;
            for j in 1..length {
                h[(k + j, k - 1)] = 0.0;
            }
        } else if start > l {
            h[(k, k - 1)] *= 1.0 - tau;
        }
        for j in k..n {
            let dot: f64 = (0..length).map(|r| x[r] * h[(k + r, j)]).sum();
            for (r, x) in x.iter().enumerate() {
                h[(k + r, j)] -= tau * dot * x;
            }
        }
        for (matrix, rows) in [(&mut *h, (k + 4).min(i + 1)), (&mut *z, n)] {
            for j in 0..rows {
                let dot: f64 = (0..length).map(|c| x[c] * matrix[(j, k + c)]).sum();
                for (c, x) in x.iter().enumerate() {
                    matrix[(j, k + c)] -= tau * dot * x;
                }
            }
        }
    }
}

/// Makes the block at `(l, l)` a triangle (`dlanv2`).
fn standardise(h: &mut Matrix, z: &mut Matrix, l: usize) -> Result<(), Failure> {
    let n = h.nrows();
    let (a, b, c, d) = (h[(l, l)], h[(l, l + 1)], h[(l + 1, l)], h[(l + 1, l + 1)]);
    let (cs, sn, first, second, upper);
    if c == 0.0 {
        (cs, sn, first, second, upper) = (1.0, 0.0, a, d, b);
    } else if b == 0.0 {
        (cs, sn, first, second, upper) = (0.0, 1.0, d, a, -c);
    } else if a - d == 0.0 && (b > 0.0) != (c > 0.0) {
        return Err(Failure::Complex);
    } else {
        let p = 0.5 * (a - d);
        let most = b.abs().max(c.abs());
        let least = b.abs().min(c.abs()) * 1f64.copysign(b) * 1f64.copysign(c);
        let scale = p.abs().max(most);
        let root = p / scale * p + most / scale * least;
        if root >= 4.0 * EPS {
            let shift = p + (scale.sqrt() * root.sqrt()).copysign(p);
            first = d + shift;
            second = d - most / shift * least;
            let tau = c.hypot(shift);
            (cs, sn) = (shift / tau, c / tau);
            upper = b - c;
        } else {
            // Complex or nearly equal: make the diagonal elements equal.
            let sigma = b + c;
            let tau = sigma.hypot(a - d);
            let cosine = (0.5 * (1.0 + sigma.abs() / tau)).sqrt();
            let sine = -(p / (tau * cosine)) * 1f64.copysign(sigma);
            let (aa, bb) = (a * cosine + b * sine, -a * sine + b * cosine);
            let (cc, dd) = (c * cosine + d * sine, -c * sine + d * cosine);
            let (b, c) = (bb * cosine + dd * sine, -aa * sine + cc * cosine);
            let middle = 0.5 * ((aa * cosine + cc * sine) + (-bb * sine + dd * cosine));
            if c == 0.0 {
                (cs, sn, first, second, upper) = (cosine, sine, middle, middle, b);
            } else if b == 0.0 {
                (cs, sn, first, second, upper) = (-sine, cosine, middle, middle, -c);
            } else if (b > 0.0) == (c > 0.0) {
                let (sab, sac) = (b.abs().sqrt(), c.abs().sqrt());
                let p = (sab * sac).copysign(c);
                let tau = 1.0 / (b + c).abs().sqrt();
                (first, second, upper) = (middle + p, middle - p, b - c);
                let (cs1, sn1) = (sab * tau, sac * tau);
                (cs, sn) = (cosine * cs1 - sine * sn1, cosine * sn1 + sine * cs1);
            } else {
                return Err(Failure::Complex);
            }
        }
    }
    let rotate = |x: f64, y: f64| (cs * x + sn * y, cs * y - sn * x);
    for j in l + 2..n {
        (h[(l, j)], h[(l + 1, j)]) = rotate(h[(l, j)], h[(l + 1, j)]);
    }
    for i in 0..l {
        (h[(i, l)], h[(i, l + 1)]) = rotate(h[(i, l)], h[(i, l + 1)]);
    }
    for i in 0..n {
        (z[(i, l)], z[(i, l + 1)]) = rotate(z[(i, l)], z[(i, l + 1)]);
    }
    (h[(l, l)], h[(l, l + 1)]) = (first, upper);
    (h[(l + 1, l)], h[(l + 1, l + 1)]) = (0.0, second);
    Ok(())
}
