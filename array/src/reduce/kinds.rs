//! The ways to bring elements together.

use std::marker::PhantomData;

use half::f16;
use multiversion::multiversion;

use super::fold::Fold;
use crate::dtype::Element;
use crate::ufunc::{Number, fmax, fmin, maximum, minimum};

/// A sum. Floats are summed in pairs, as numpy does; integers wrap.
pub(super) struct Sum<T>(PhantomData<T>);

/// A sum of `float16`: added up in `float32`, rounded to `float16` after every inner loop.
pub(super) struct HalfSum;

/// A product.
pub(super) struct Product<T>(PhantomData<T>);

/// A product of `float16`, rounded after every factor.
pub(super) struct HalfProduct;

/// The extreme element by one of four rules.
pub(super) struct Extreme<T, R>(PhantomData<(T, R)>);

/// Whether any element is true.
pub(super) struct Any;

/// Whether all elements are true.
pub(super) struct All;

/// How many elements are true.
pub(super) struct Count;

/// Numbers with numpy's way to sum neighbours.
pub(super) trait Summed: Number {
    /// # Safety
    /// `n` elements at steps of `stride` must be readable.
    unsafe fn sum(items: *const Self, n: usize, stride: isize) -> Self;
}

impl Summed for i64 {
    unsafe fn sum(items: *const i64, n: usize, stride: isize) -> i64 {
        if stride == 1 {
            // SAFETY: promised by the caller, here and below.
            return sum_wrapping(unsafe { std::slice::from_raw_parts(items, n) });
        }
        (0..n as isize).fold(0i64, |sum, i| sum.wrapping_add(unsafe { *items.offset(i * stride) }))
    }
}

#[multiversion(targets("x86_64+avx+avx2"))]
fn sum_wrapping(items: &[i64]) -> i64 {
    items.iter().fold(0i64, |sum, &item| sum.wrapping_add(item))
}

macro_rules! summed_in_pairs {
    ($($type:ty)*) => {$(
        impl Summed for $type {
            unsafe fn sum(items: *const $type, n: usize, stride: isize) -> $type {
                // SAFETY: promised by the caller.
                unsafe {
                    if stride == 1 {
                        sum_pairs_contiguous(items, n)
                    } else {
                        sum_pairs(items, n, stride)
                    }
                }
            }
        }
    )*};
}

summed_in_pairs!(f32 f64);

/// Numbers beyond which a sum is split in two halves.
const PAIR_BLOCK: usize = 128;

/// # Safety
/// `n` elements must be readable.
#[multiversion(targets("x86_64+avx+avx2"))]
unsafe fn sum_pairs_contiguous<T: Number>(items: *const T, n: usize) -> T {
    // SAFETY: promised by the caller.
    unsafe { sum_pairs(items, n, 1) }
}

/// Pairwise summation with eight running sums, block by block: numpy's order of additions.
///
/// # Safety
/// `n` elements at steps of `stride` must be readable.
#[inline(always)]
unsafe fn sum_pairs<T: Number>(items: *const T, n: usize, stride: isize) -> T {
    if n <= PAIR_BLOCK {
        // SAFETY: promised by the caller.
        return unsafe { sum_block(items, n, stride) };
    }
    // The halves are gone through without recursion, so that the loops are inlined here: a
    // stack of pending parts, and the sums of the finished ones at their depth.
    let mut pending: [(usize, usize, u8); 64] = [(0, 0, 0); 64];
    let mut sums: [T; 64] = [T::ZERO; 64];
    let (mut waiting, mut done) = (1, 0);
    pending[0] = (0, n, 0);
    while waiting > 0 {
        let (start, n, state) = pending[waiting - 1];
        let half = n / 2 - n / 2 % 8;
        if n <= PAIR_BLOCK {
            // SAFETY: within the elements.
            sums[done] = unsafe { sum_block(items.offset(start as isize * stride), n, stride) };
            done += 1;
            waiting -= 1;
        } else if state == 0 {
            pending[waiting - 1].2 = 1;
            pending[waiting] = (start, half, 0);
            waiting += 1;
        } else if state == 1 {
            pending[waiting - 1].2 = 2;
            pending[waiting] = (start + half, n - half, 0);
            waiting += 1;
        } else {
            done -= 1;
            sums[done - 1] = sums[done - 1].add(sums[done]);
            waiting -= 1;
        }
    }
    sums[0]
}

/// # Safety
/// `n` elements at steps of `stride` must be readable.
#[inline(always)]
unsafe fn sum_block<T: Number>(items: *const T, n: usize, stride: isize) -> T {
    // SAFETY: promised by the caller.
    let item = |i: usize| unsafe { *items.offset(i as isize * stride) };
    if n < 8 {
        // From -0, which is the sum of nothing but -0.
        return (0..n).fold(T::ZERO.negative(), |sum, i| sum.add(item(i)));
    }
    let mut lanes: [T; 8] = std::array::from_fn(item);
    let whole = n - n % 8;
    for start in (8..whole).step_by(8) {
        for (lane, sum) in lanes.iter_mut().enumerate() {
            *sum = sum.add(item(start + lane));
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    let sum = a.add(b).add(c.add(d)).add(e.add(f).add(g.add(h)));
    (whole..n).fold(sum, |sum, i| sum.add(item(i)))
}

impl<T: Summed> Fold for Sum<T> {
    type Item = T;
    type Sum = T;

    unsafe fn lane(sum: T, items: *const T, n: usize, stride: isize) -> T {
        // SAFETY: promised by the caller.
        sum.add(unsafe { T::sum(items, n, stride) })
    }

    #[inline(always)]
    fn one(sum: T, item: T) -> T {
        sum.add(item)
    }

    fn row(sums: &mut [T], items: &[T]) {
        each(sums, items, Self::one);
    }
}

/// Rounds to what a `float16` can hold.
fn halved(value: f32) -> f32 {
    f16::from_f32(value).to_f32()
}

impl Fold for HalfSum {
    type Item = f32;
    type Sum = f32;

    // numpy reads `float16` where it lies: whole lanes at a time.
    const CONVERTED: usize = usize::MAX;

    unsafe fn lane(sum: f32, items: *const f32, n: usize, stride: isize) -> f32 {
        // SAFETY: promised by the caller.
        halved(sum + unsafe { <f32 as Summed>::sum(items, n, stride) })
    }

    fn one(sum: f32, item: f32) -> f32 {
        halved(sum + item)
    }

    fn row(sums: &mut [f32], items: &[f32]) {
        each(sums, items, Self::one);
    }
}

/// Takes in a lane element by element.
///
/// # Safety
/// `n` elements at steps of `stride` must be readable.
unsafe fn one_by_one<F: Fold>(
    sum: F::Sum,
    items: *const F::Item,
    n: usize,
    stride: isize,
) -> F::Sum {
    // SAFETY: promised by the caller.
    (0..n as isize).fold(sum, |sum, i| F::one(sum, unsafe { *items.offset(i * stride) }))
}

impl<T: Number> Fold for Product<T> {
    type Item = T;
    type Sum = T;

    unsafe fn lane(sum: T, items: *const T, n: usize, stride: isize) -> T {
        // SAFETY: promised by the caller.
        unsafe { one_by_one::<Self>(sum, items, n, stride) }
    }

    #[inline(always)]
    fn one(sum: T, item: T) -> T {
        sum.multiply(item)
    }

    fn row(sums: &mut [T], items: &[T]) {
        each(sums, items, Self::one);
    }
}

impl Fold for HalfProduct {
    type Item = f32;
    type Sum = f32;

    unsafe fn lane(sum: f32, items: *const f32, n: usize, stride: isize) -> f32 {
        // SAFETY: promised by the caller.
        unsafe { one_by_one::<Self>(sum, items, n, stride) }
    }

    fn one(sum: f32, item: f32) -> f32 {
        halved(sum * item)
    }

    fn row(sums: &mut [f32], items: &[f32]) {
        each(sums, items, Self::one);
    }
}

/// Which of two elements is kept.
pub(super) trait Rule {
    fn pick<T: Element>(a: T, b: T) -> T;
}

macro_rules! rules {
    ($($name:ident: $pick:path;)*) => {$(
        pub(super) struct $name;
        impl Rule for $name {
            #[inline(always)]
            fn pick<T: Element>(a: T, b: T) -> T {
                $pick(a, b)
            }
        }
    )*};
}

rules! {
    Minimum: minimum;
    Maximum: maximum;
    Fmin: fmin;
    Fmax: fmax;
}

impl<T: Element, R: Rule> Fold for Extreme<T, R> {
    type Item = T;
    type Sum = T;

    unsafe fn lane(sum: T, items: *const T, n: usize, stride: isize) -> T {
        if stride == 1 && n >= 16 {
            // SAFETY: promised by the caller, here and below.
            return extreme(sum, unsafe { std::slice::from_raw_parts(items, n) }, R::pick);
        }
        unsafe { one_by_one::<Self>(sum, items, n, stride) }
    }

    #[inline(always)]
    fn one(sum: T, item: T) -> T {
        R::pick(sum, item)
    }

    fn row(sums: &mut [T], items: &[T]) {
        each(sums, items, Self::one);
    }
}

/// The extreme of a slice, found in 32 places at once: the order does not matter.
#[multiversion(targets("x86_64+avx+avx2"))]
fn extreme<T: Element, P: Fn(T, T) -> T>(first: T, items: &[T], pick: P) -> T {
    let mut lanes = [first; 32];
    let (chunks, rest) = items.as_chunks::<32>();
    for chunk in chunks {
        for (lane, &item) in lanes.iter_mut().zip(chunk) {
            *lane = pick(*lane, item);
        }
    }
    lanes.iter().chain(rest).fold(first, |sum, &item| pick(sum, item))
}

#[multiversion(targets("x86_64+avx+avx2"))]
fn each<S: Copy, T: Copy, F: Fn(S, T) -> S>(sums: &mut [S], items: &[T], one: F) {
    for (sum, &item) in sums.iter_mut().zip(items) {
        *sum = one(*sum, item);
    }
}

/// Elements looked at between two chances to stop early.
const LOOK: usize = 4096;

impl Fold for Any {
    type Item = bool;
    type Sum = bool;

    unsafe fn lane(sum: bool, items: *const bool, n: usize, stride: isize) -> bool {
        if sum || stride != 1 {
            // SAFETY: promised by the caller, here and below.
            return sum || (0..n as isize).any(|i| unsafe { *items.offset(i * stride) });
        }
        let items = unsafe { std::slice::from_raw_parts(items, n) };
        items.chunks(LOOK).any(|part| part.iter().fold(false, |any, &item| any | item))
    }

    #[inline(always)]
    fn one(sum: bool, item: bool) -> bool {
        sum | item
    }

    fn row(sums: &mut [bool], items: &[bool]) {
        each(sums, items, Self::one);
    }
}

impl Fold for All {
    type Item = bool;
    type Sum = bool;

    unsafe fn lane(sum: bool, items: *const bool, n: usize, stride: isize) -> bool {
        if !sum || stride != 1 {
            // SAFETY: promised by the caller, here and below.
            return sum && (0..n as isize).all(|i| unsafe { *items.offset(i * stride) });
        }
        let items = unsafe { std::slice::from_raw_parts(items, n) };
        items.chunks(LOOK).all(|part| part.iter().fold(true, |all, &item| all & item))
    }

    #[inline(always)]
    fn one(sum: bool, item: bool) -> bool {
        sum & item
    }

    fn row(sums: &mut [bool], items: &[bool]) {
        each(sums, items, Self::one);
    }
}

impl Fold for Count {
    type Item = bool;
    type Sum = i64;

    unsafe fn lane(sum: i64, items: *const bool, n: usize, stride: isize) -> i64 {
        if stride == 1 {
            // SAFETY: promised by the caller, here and below.
            return sum + count(unsafe { std::slice::from_raw_parts(items, n) });
        }
        unsafe { one_by_one::<Self>(sum, items, n, stride) }
    }

    #[inline(always)]
    fn one(sum: i64, item: bool) -> i64 {
        sum + i64::from(item)
    }

    fn row(sums: &mut [i64], items: &[bool]) {
        each(sums, items, Self::one);
    }
}

/// Counts in bytes as far as they reach.
#[multiversion(targets("x86_64+avx+avx2"))]
fn count(items: &[bool]) -> i64 {
    let mut total = 0;
    for part in items.chunks(32 * 255) {
        let mut lanes = [0u8; 32];
        let (chunks, rest) = part.as_chunks::<32>();
        for chunk in chunks {
            for (lane, &item) in lanes.iter_mut().zip(chunk) {
                *lane += u8::from(item);
            }
        }
        total += lanes.iter().map(|&lane| i64::from(lane)).sum::<i64>();
        total += rest.iter().filter(|&&item| item).count() as i64;
    }
    total
}
