//! Einstein summation.

use super::product::matmul;
use crate::array::Array;
use crate::dtype::DType;
use crate::error::{Error, Result, bail};
use crate::promote::promote;
use crate::reduce::{Options, Reduction, reduce};

/// `np.einsum`: sums of products of elements, with the dimensions named by letters.
/// Operands are taken from left to right, two at a time.
///
/// # Errors
/// [`Error::Value`] for subscripts that do not fit the operands.
pub fn einsum(subscripts: &str, operands: &[Array]) -> Result<Array> {
    let plan = Plan::new(subscripts, operands)?;
    let dtype = operands.iter().map(Array::dtype).reduce(promote).unwrap_or(DType::F64);
    let mut terms = operands
        .iter()
        .zip(&plan.inputs)
        .map(|(operand, labels)| Term::new(operand, labels))
        .collect::<Result<Vec<Term>>>()?;
    plan.check_lengths(&terms, operands)?;
    while terms.len() > 1 {
        let (first, second) = (terms.remove(0), terms.remove(0));
        let needed: Vec<Label> =
            terms.iter().flat_map(|term| &term.labels).chain(&plan.output).copied().collect();
        terms.insert(0, first.times(second, &needed, dtype)?);
    }
    let Some(term) = terms.pop() else {
        bail!(Value, "must specify the einstein sum subscripts string and at least one operand");
    };
    term.result(&plan.output, dtype, operands.len() == 1)
}

/// A letter, or a dimension under the ellipsis counted from the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    /// Before letters, as in implicit output.
    Ellipsis(std::cmp::Reverse<usize>),
    Letter(char),
}

struct Plan {
    inputs: Vec<Vec<Label>>,
    output: Vec<Label>,
}

impl Plan {
    fn new(subscripts: &str, operands: &[Array]) -> Result<Plan> {
        let text: String = subscripts.chars().filter(|c| !c.is_whitespace()).collect();
        let (left, right) = match text.split_once("->") {
            Some((left, right)) => (left, Some(right)),
            None => (text.as_str(), None),
        };
        let parts: Vec<&str> = left.split(',').collect();
        if parts.len() < operands.len() {
            bail!(
                Value,
                "more operands provided to einstein sum function than specified in the \
                 subscripts string"
            );
        }
        if parts.len() > operands.len() {
            bail!(
                Value,
                "fewer operands provided to einstein sum function than specified in the \
                 subscripts string"
            );
        }
        let inputs = parts
            .iter()
            .zip(operands)
            .enumerate()
            .map(|(number, (part, operand))| labels(part, Some(operand.ndim()), number))
            .collect::<Result<Vec<Vec<Label>>>>()?;
        let all: Vec<Label> = inputs.iter().flatten().copied().collect();
        let mut ellipsis: Vec<Label> =
            all.iter().copied().filter(|label| matches!(label, Label::Ellipsis(_))).collect();
        ellipsis.sort();
        ellipsis.dedup();
        let output = match right {
            Some(right) => {
                let (before, after) = right.split_once("...").unwrap_or((right, ""));
                let middle = if right.contains("...") { ellipsis } else { Vec::new() };
                let mut output = labels(before, None, 0)?;
                output.extend(middle);
                output.extend(labels(after, None, 0)?);
                output
            }
            None => {
                // What occurs once, in alphabetical order, behind the ellipsis.
                let once = |label: &Label| all.iter().filter(|other| *other == label).count() == 1;
                let mut letters: Vec<Label> = all
                    .iter()
                    .copied()
                    .filter(|label| matches!(label, Label::Letter(_)) && once(label))
                    .collect();
                letters.sort();
                [ellipsis, letters].concat()
            }
        };
        for (i, label) in output.iter().enumerate() {
            let Label::Letter(letter) = label else { continue };
            if output[..i].contains(label) {
                bail!(
                    Value,
                    "einstein sum subscripts string includes output subscript '{letter}' \
                     multiple times"
                );
            }
            if !all.contains(label) {
                bail!(
                    Value,
                    "einstein sum subscripts string included output subscript '{letter}' which \
                     never appeared in an input"
                );
            }
        }
        Ok(Plan { inputs, output })
    }

    /// Every label must have one length, or length one.
    fn check_lengths(&self, terms: &[Term], operands: &[Array]) -> Result<()> {
        let lengths = |label: Label| {
            terms.iter().filter_map(move |term| term.length(label)).filter(|&n| n != 1)
        };
        let clash = self.inputs.iter().flatten().any(|&label| {
            let first = lengths(label).next();
            lengths(label).any(|n| Some(n) != first)
        });
        if !clash {
            return Ok(());
        }
        let remapped: String = operands
            .iter()
            .map(|operand| {
                let shape = crate::shape::tight_text(operand.shape());
                format!("{shape}->{shape} ")
            })
            .collect();
        bail!(
            Value,
            "operands could not be broadcast together with remapped shapes \
             [original->remapped]: {remapped}"
        )
    }
}

/// The labels of one operand of `ndim` dimensions.
fn labels(part: &str, ndim: Option<usize>, number: usize) -> Result<Vec<Label>> {
    let (before, after) = match part.split_once("...") {
        Some((before, after)) => (before, Some(after)),
        None => (part, None),
    };
    let letters = |text: &str| -> Result<Vec<Label>> {
        text.chars()
            .map(|letter| match letter {
                letter if letter.is_ascii_alphabetic() => Ok(Label::Letter(letter)),
                '.' => Err(Error::Value(
                    "einstein sum subscripts string contains a '.' that is not part of an \
                     ellipsis ('...')"
                        .to_owned(),
                )),
                other => Err(Error::Value(format!(
                    "invalid subscript '{other}' in einstein sum subscripts string, subscripts \
                     must be letters"
                ))),
            })
            .collect()
    };
    let mut labels = letters(before)?;
    let behind = letters(after.unwrap_or(""))?;
    if let Some(ndim) = ndim {
        let named = labels.len() + behind.len();
        if named > ndim {
            bail!(
                Value,
                "einstein sum subscripts string contains too many subscripts for operand {number}"
            );
        }
        if named < ndim && after.is_none() {
            bail!(
                Value,
                "operand has more dimensions than subscripts given in einstein sum, but no '...' \
                 ellipsis provided to broadcast the extra dimensions."
            );
        }
        labels.extend((0..ndim - named).rev().map(|i| Label::Ellipsis(std::cmp::Reverse(i))));
    }
    labels.extend(behind);
    Ok(labels)
}

/// An array whose dimensions have different labels.
struct Term {
    array: Array,
    labels: Vec<Label>,
}

impl Term {
    /// A view of an operand; repeated labels become a diagonal.
    fn new(operand: &Array, labels: &[Label]) -> Result<Term> {
        let (mut shape, mut strides, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        for ((label, &n), &stride) in labels.iter().zip(operand.shape()).zip(operand.strides()) {
            match kept.iter().position(|other| other == label) {
                None => {
                    kept.push(*label);
                    shape.push(n);
                    strides.push(stride);
                }
                Some(at) if shape[at] == n => strides[at] += stride,
                Some(at) => {
                    let Label::Letter(letter) = label else { continue };
                    bail!(
                        Value,
                        "dimensions in operand for collapsing index '{letter}' don't match \
                         ({} != {n})",
                        shape[at]
                    );
                }
            }
        }
        Ok(Term { array: operand.with_layout(shape, strides, operand.offset()), labels: kept })
    }

    fn length(&self, label: Label) -> Option<usize> {
        self.labels.iter().position(|other| *other == label).map(|at| self.array.shape()[at])
    }

    /// Sums over the labels that are not needed.
    fn without(self, needed: impl Fn(Label) -> bool, dtype: DType) -> Result<Term> {
        let summed: Vec<i64> =
            (0..self.labels.len()).filter(|&i| !needed(self.labels[i])).map(|i| i as i64).collect();
        if summed.is_empty() {
            return Ok(self);
        }
        let options = Options { dtype: Some(dtype), ..Options::default() };
        let array = reduce(Reduction::Sum, &self.array, Some(&summed), &options)?;
        let labels = self.labels.into_iter().filter(|&label| needed(label)).collect();
        Ok(Term { array, labels })
    }

    /// The product of two terms, summed over what nobody needs, by one product of stacks of
    /// matrices.
    fn times(self, other: Term, needed: &[Label], dtype: DType) -> Result<Term> {
        let (a_labels, b_labels) = (self.labels.clone(), other.labels.clone());
        let a =
            self.without(|label| needed.contains(&label) || b_labels.contains(&label), dtype)?;
        let b =
            other.without(|label| needed.contains(&label) || a_labels.contains(&label), dtype)?;
        // A shared label of length one in either is spread out by the product.
        let shared = |label: &Label| a.labels.contains(label) && b.labels.contains(label);
        let batch: Vec<Label> =
            a.labels.iter().copied().filter(|l| shared(l) && needed.contains(l)).collect();
        let summed: Vec<Label> =
            a.labels.iter().copied().filter(|l| shared(l) && !needed.contains(l)).collect();
        let rows: Vec<Label> = a.labels.iter().copied().filter(|l| !shared(l)).collect();
        let columns: Vec<Label> = b.labels.iter().copied().filter(|l| !shared(l)).collect();
        let longest = |labels: &[Label]| -> Vec<usize> {
            labels
                .iter()
                .map(|&label| match (a.length(label), b.length(label)) {
                    (Some(1) | None, Some(n)) | (Some(n), _) => n,
                    (None, None) => 1,
                })
                .collect()
        };
        let (batch_dims, sum_dims) = (longest(&batch), longest(&summed));
        let (row_dims, column_dims) = (longest(&rows), longest(&columns));
        let size = |dims: &[usize]| dims.iter().product::<usize>() as i64;
        let matrices = |term: &Term, parts: [(&[Label], &[usize]); 3]| -> Result<Array> {
            let order: Vec<usize> = parts
                .iter()
                .flat_map(|(labels, _)| labels.iter())
                .filter_map(|label| term.labels.iter().position(|other| other == label))
                .collect();
            let shape: Vec<usize> =
                parts.iter().flat_map(|(_, dims)| dims.iter().copied()).collect();
            term.array
                .permuted(&order)
                .broadcast_to(&shape)?
                .reshape(&parts.map(|(_, dims)| size(dims)))
        };
        let left = matrices(&a, [(&batch, &batch_dims), (&rows, &row_dims), (&summed, &sum_dims)])?;
        let right =
            matrices(&b, [(&batch, &batch_dims), (&summed, &sum_dims), (&columns, &column_dims)])?;
        let product = matmul(&left.cast(dtype)?, &right.cast(dtype)?)?;
        let shape = [batch_dims, row_dims, column_dims].concat();
        let shape: Vec<i64> = shape.into_iter().map(|n| n as i64).collect();
        Ok(Term { array: product.reshape(&shape)?, labels: [batch, rows, columns].concat() })
    }

    /// The array with the dimensions of the output. A single operand that is not summed
    /// gives a view.
    fn result(self, output: &[Label], dtype: DType, view: bool) -> Result<Array> {
        let term = self.without(|label| output.contains(&label), dtype)?;
        let order: Vec<usize> = output
            .iter()
            .filter_map(|label| term.labels.iter().position(|other| other == label))
            .collect();
        let array = term.array.permuted(&order);
        if view { Ok(array) } else { array.contiguous() }
    }
}
