//! Eigenvalues of symmetric matrices: reduction to tridiagonal form and implicit QL or QR
//! iterations, as in LAPACK's `dsytd2` and `dsteqr`.

use super::kernels::{Matrix, Reflections, reflection, rotate_columns, rotation};

/// Iterations for each eigenvalue before giving up.
const ITERATIONS: usize = 30;
const EPS: f64 = f64::EPSILON / 2.0;
const SAFE_MIN: f64 = f64::MIN_POSITIVE;

/// Eigenvalues in rising order and their vectors as columns, from the lower triangle.
/// `None` when the iterations do not converge.
pub(super) fn eigen(mut a: Matrix, vectors: bool) -> Option<(Vec<f64>, Matrix)> {
    let n = a.nrows();
    if a.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let (mut d, mut e, q) = tridiagonal(&mut a);
    let mut z = if vectors { Matrix::identity(n, n) } else { Matrix::zeros(0, n) };
    iterate(&mut d, &mut e, &mut z)?;
    if vectors {
        q.apply(&mut z);
    }
    Some((d, z))
}

/// Diagonal, subdiagonal and the reflections that lead there.
fn tridiagonal(a: &mut Matrix) -> (Vec<f64>, Vec<f64>, Reflections) {
    let n = a.nrows();
    let (mut d, mut e, mut q) = (Vec::new(), Vec::new(), Reflections::default());
    for i in 0..n.saturating_sub(1) {
        let mut v = a.column(i).as_slice()[i + 1..].to_vec();
        let (tau, beta) = reflection(&mut v);
        if tau != 0.0 {
            // A rank-two update with w = tau A v - 1/2 tau (w'v) v.
            let size = n - i - 1;
            let at = |a: &Matrix, r: usize, c: usize| a[(i + 1 + r.max(c), i + 1 + r.min(c))];
            let mut w: Vec<f64> = (0..size)
                .map(|r| tau * (0..size).map(|c| at(a, r, c) * v[c]).sum::<f64>())
                .collect();
            let dot: f64 = w.iter().zip(&v).map(|(w, v)| w * v).sum();
            let alpha = -0.5 * tau * dot;
            for (w, v) in w.iter_mut().zip(&v) {
                *w += alpha * v;
            }
            for c in 0..size {
                for r in c..size {
                    a[(i + 1 + r, i + 1 + c)] -= v[r] * w[c] + w[r] * v[c];
                }
            }
        }
        d.push(a[(i, i)]);
        e.push(beta);
        q.push(i + 1, v, tau);
    }
    if n > 0 {
        d.push(a[(n - 1, n - 1)]);
    }
    (d, e, q)
}

/// Diagonalises in place, rotating the columns of `z`, and sorts.
fn iterate(d: &mut [f64], e: &mut [f64], z: &mut Matrix) -> Option<()> {
    let n = d.len();
    let mut left = ITERATIONS * n;
    let mut start = 0;
    while start < n {
        // The next block without a negligible subdiagonal element.
        let mut end = start;
        while end + 1 < n {
            let size = e[end].abs();
            if size <= d[end].abs().sqrt() * d[end + 1].abs().sqrt() * EPS {
                e[end] = 0.0;
                break;
            }
            end += 1;
        }
        if d[end].abs() < d[start].abs() {
            backwards(d, e, z, start, end, &mut left)?;
        } else {
            forwards(d, e, z, start, end, &mut left)?;
        }
        start = end + 1;
    }
    // Selection sort, which moves vectors least.
    for i in 0..n {
        let least = (i..n).fold(i, |least, j| if d[j] < d[least] { j } else { least });
        if least != i {
            d.swap(i, least);
            z.swap_columns(i, least);
        }
    }
    Some(())
}

/// QL iterations: eigenvalues appear at the start of the block.
fn forwards(
    d: &mut [f64],
    e: &mut [f64],
    z: &mut Matrix,
    mut l: usize,
    end: usize,
    left: &mut usize,
) -> Option<()> {
    while l <= end {
        let small = |m: usize| e[m] * e[m] <= EPS * EPS * d[m].abs() * d[m + 1].abs() + SAFE_MIN;
        let m = (l..end).find(|&m| small(m)).unwrap_or(end);
        if m < end {
            e[m] = 0.0;
        }
        if m == l {
            l += 1;
            continue;
        }
        if m == l + 1 {
            let (first, second, c, s) = two_by_two(d[l], e[l], d[l + 1]);
            rotate_columns(z, l, c, s);
            (d[l], d[l + 1], e[l]) = (first, second, 0.0);
            l += 2;
            continue;
        }
        *left = left.checked_sub(1)?;
        let p = d[l];
        let g = (d[l + 1] - p) / (2.0 * e[l]);
        let r = g.hypot(1.0);
        let mut g = d[m] - p + e[l] / (g + r.copysign(g));
        let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
        let mut rotations = Vec::with_capacity(m - l);
        for i in (l..m).rev() {
            let (f, b) = (s * e[i], c * e[i]);
            let r;
            (c, s, r) = rotation(g, f);
            if i != m - 1 {
                e[i + 1] = r;
            }
            g = d[i + 1] - p;
            let r = (d[i] - g) * s + 2.0 * c * b;
            p = s * r;
            d[i + 1] = g + p;
            g = c * r - b;
            rotations.push((i, c, -s));
        }
        for (i, c, s) in rotations {
            rotate_columns(z, i, c, s);
        }
        d[l] -= p;
        e[l] = g;
    }
    Some(())
}

/// QR iterations: eigenvalues appear at the end of the block.
fn backwards(
    d: &mut [f64],
    e: &mut [f64],
    z: &mut Matrix,
    start: usize,
    mut l: usize,
    left: &mut usize,
) -> Option<()> {
    loop {
        let small =
            |m: usize| e[m - 1] * e[m - 1] <= EPS * EPS * d[m].abs() * d[m - 1].abs() + SAFE_MIN;
        let m = (start + 1..=l).rev().find(|&m| small(m)).unwrap_or(start);
        if m > start {
            e[m - 1] = 0.0;
        }
        if m == l {
            if l == start {
                return Some(());
            }
            l -= 1;
            continue;
        }
        if m + 1 == l {
            let (first, second, c, s) = two_by_two(d[l - 1], e[l - 1], d[l]);
            rotate_columns(z, m, c, s);
            (d[l - 1], d[l], e[l - 1]) = (first, second, 0.0);
            if l < start + 2 {
                return Some(());
            }
            l -= 2;
            continue;
        }
        *left = left.checked_sub(1)?;
        let p = d[l];
        let g = (d[l - 1] - p) / (2.0 * e[l - 1]);
        let r = g.hypot(1.0);
        let mut g = d[m] - p + e[l - 1] / (g + r.copysign(g));
        let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
        let mut rotations = Vec::with_capacity(l - m);
        for i in m..l {
            let (f, b) = (s * e[i], c * e[i]);
            let r;
            (c, s, r) = rotation(g, f);
            if i != m {
                e[i - 1] = r;
            }
            g = d[i] - p;
            let r = (d[i + 1] - g) * s + 2.0 * c * b;
            p = s * r;
            d[i] = g + p;
            g = c * r - b;
            rotations.push((i, c, s));
        }
        for (i, c, s) in rotations {
            rotate_columns(z, i, c, s);
        }
        d[l] -= p;
        e[l - 1] = g;
    }
}

/// Eigenvalues of `[[a, b], [b, c]]`, the larger in size first, and its unit vector
/// (`dlaev2`).
fn two_by_two(a: f64, b: f64, c: f64) -> (f64, f64, f64, f64) {
    let (sum, difference, twice) = (a + c, a - c, b + b);
    let (larger, smaller) = if a.abs() > c.abs() { (a, c) } else { (c, a) };
    let (adf, ab) = (difference.abs(), twice.abs());
    let root = if adf > ab {
        adf * (1.0 + (ab / adf).powi(2)).sqrt()
    } else if adf < ab {
        ab * (1.0 + (adf / ab).powi(2)).sqrt()
    } else {
        ab * 2f64.sqrt()
    };
    let (first, second, sign) = if sum < 0.0 {
        let first = 0.5 * (sum - root);
        (first, (larger / first) * smaller - (b / first) * b, -1)
    } else if sum > 0.0 {
        let first = 0.5 * (sum + root);
        (first, (larger / first) * smaller - (b / first) * b, 1)
    } else {
        (0.5 * root, -0.5 * root, 1)
    };
    let (cs, other_sign) =
        if difference >= 0.0 { (difference + root, 1) } else { (difference - root, -1) };
    let (cosine, sine) = if cs.abs() > ab {
        let cotangent = -twice / cs;
        let sine = 1.0 / (1.0 + cotangent * cotangent).sqrt();
        (cotangent * sine, sine)
    } else if ab == 0.0 {
        (1.0, 0.0)
    } else {
        let tangent = -cs / twice;
        let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
        (cosine, tangent * cosine)
    };
    if sign == other_sign { (first, second, -sine, cosine) } else { (first, second, cosine, sine) }
}
