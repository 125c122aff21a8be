//! The functions of `numpy`, one table for each kind.

mod choose;
mod creation;
mod math;
mod reduce;
mod samples;
mod shape;
mod sort;
mod stats;

use crate::signature::Entry;

pub(crate) use shape::METHODS as SHAPE_METHODS;

pub(crate) const TABLES: &[&[Entry]] = &[
    creation::CREATION,
    creation::TYPES,
    shape::SHAPE,
    shape::JOIN,
    shape::REARRANGE,
    math::MATH,
    choose::CHOOSE,
    math::PRINT,
    math::STATE,
    reduce::REDUCTIONS,
    reduce::EXTREMA,
    reduce::CUMULATIVE,
    sort::SORT,
    sort::SETS,
    stats::MEDIANS,
    stats::QUANTILES,
    samples::SAMPLES,
];
