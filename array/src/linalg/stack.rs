//! Arrays as stacks of matrices.

use super::kernels::Matrix;
use crate::array::Array;
use crate::dtype::{DType, with_dtype};
use crate::error::{Result, bail};

/// The matrices in the last two dimensions of an array.
pub(super) struct Stack {
    /// The other dimensions.
    pub outer: Vec<usize>,
    pub rows: usize,
    pub columns: usize,
    /// Type of results.
    pub dtype: DType,
    values: Vec<f64>,
}

impl Stack {
    /// # Errors
    /// [`crate::Error::LinAlg`] with fewer than two dimensions, [`crate::Error::Type`] for
    /// `float16`.
    pub fn new(array: &Array) -> Result<Stack> {
        let [outer @ .., rows, columns] = array.shape() else {
            bail!(
                LinAlg,
                "{}-dimensional array given. Array must be at least two-dimensional",
                array.ndim()
            );
        };
        Ok(Stack {
            outer: outer.to_vec(),
            rows: *rows,
            columns: *columns,
            dtype: result_type(array.dtype())?,
            values: array.to_vec()?,
        })
    }

    /// # Errors
    /// As [`Stack::new`], and [`crate::Error::LinAlg`] when the matrices are not square.
    pub fn square(array: &Array) -> Result<Stack> {
        if let [.., rows, columns] = array.shape()
            && rows != columns
        {
            bail!(LinAlg, "Last 2 dimensions of the array must be square");
        }
        Stack::new(array)
    }

    /// How many matrices there are.
    pub fn count(&self) -> usize {
        self.outer.iter().product()
    }

    /// One of them.
    pub fn matrix(&self, number: usize) -> Matrix {
        let size = self.rows * self.columns;
        let values = &self.values[number * size..][..size];
        Matrix::from_row_slice(self.rows, self.columns, values)
    }

    /// All of them, with a check for an interrupt before each.
    pub fn matrices(&self) -> impl Iterator<Item = Result<Matrix>> + '_ {
        (0..self.count()).map(|i| {
            crate::interrupt::check()?;
            Ok(self.matrix(i))
        })
    }

    /// Results of this shape, one for each matrix.
    pub fn collect(&self, shape: &[usize], values: Vec<f64>) -> Result<Array> {
        collect(&[&self.outer, shape].concat(), values, self.dtype)
    }

    /// Matrices of `rows` by `columns`, one for each.
    pub fn stack(&self, rows: usize, columns: usize, matrices: &[Matrix]) -> Result<Array> {
        self.collect(&[rows, columns], by_rows(matrices))
    }
}

/// The elements of matrices, row by row.
pub(super) fn by_rows(matrices: &[Matrix]) -> Vec<f64> {
    matrices.iter().flat_map(|matrix| matrix.transpose().as_slice().to_vec()).collect()
}

pub(super) fn collect(shape: &[usize], values: Vec<f64>, dtype: DType) -> Result<Array> {
    Array::from_vec(values, shape)?.cast(dtype)
}

/// The type of what is computed from a type.
pub(super) fn result_type(dtype: DType) -> Result<DType> {
    match dtype {
        DType::F16 => bail!(Type, "array type float16 is unsupported in linalg"),
        DType::F32 => Ok(DType::F32),
        _ => Ok(DType::F64),
    }
}

/// The machine precision of a float type.
pub(super) fn epsilon(dtype: DType) -> f64 {
    if dtype == DType::F32 { f32::EPSILON.into() } else { f64::EPSILON }
}

/// Zeros of a shape and type, for results without elements.
pub(super) fn empty(shape: &[usize], dtype: DType) -> Result<Array> {
    with_dtype!(dtype, T => Array::from_vec(Vec::<T>::new(), shape))
}
