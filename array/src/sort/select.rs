//! The k-th smallest without sorting.

/// Rearranges so that each of the places `kth` holds what sorting would put there.
pub(crate) fn partition_at<K: Ord>(keys: &mut [K], kth: &[usize]) {
    let mut kth = kth.to_vec();
    kth.sort_unstable();
    kth.dedup();
    partition_between(keys, &kth, 0);
}

/// `kth` is sorted, without repeats, and counts from `start` before the keys.
fn partition_between<K: Ord>(keys: &mut [K], kth: &[usize], start: usize) {
    let Some(&middle) = kth.get(kth.len() / 2) else { return };
    let (below, _, above) = keys.select_nth_unstable(middle - start);
    partition_between(below, &kth[..kth.len() / 2], start);
    partition_between(above, &kth[kth.len() / 2 + 1..], middle + 1);
}
