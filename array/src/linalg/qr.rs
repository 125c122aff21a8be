//! `A = QR` by reflections.

use super::kernels::{Matrix, Reflections, reflect_rows, reflection};

/// The reflections of Q, and R in the upper triangle (LAPACK's `dgeqr2`).
pub(super) struct Qr {
    pub reflections: Reflections,
    /// As large as the matrix, zero below the diagonal.
    pub r: Matrix,
}

impl Qr {
    pub fn new(mut a: Matrix) -> Qr {
        let (rows, columns) = a.shape();
        let mut reflections = Reflections::default();
        for i in 0..rows.min(columns) {
            let mut v = a.column(i).as_slice()[i..].to_vec();
            let (tau, beta) = reflection(&mut v);
            reflect_rows(&mut a, &v, tau, i, i + 1);
            a[(i, i)] = beta;
            for j in i + 1..rows {
                a[(j, i)] = 0.0;
            }
            reflections.push(i, v, tau);
        }
        Qr { reflections, r: a }
    }
}
