//! Parts of an array as views, and which arrays look at the same memory.

use crate::array::Array;

impl Array {
    /// The view with one dimension fixed at `index`, one dimension less.
    ///
    /// # Panics
    /// When axis or index lie outside.
    pub fn index_axis(&self, axis: usize, index: usize) -> Array {
        assert!(index < self.shape()[axis]);
        let (mut shape, mut strides) = (self.shape().to_vec(), self.strides().to_vec());
        shape.remove(axis);
        let stride = strides.remove(axis);
        let offset = (self.offset() as isize + index as isize * stride) as usize;
        self.with_layout(shape, strides, offset)
    }

    /// The view of `length` elements of one dimension from `start` on.
    ///
    /// # Panics
    /// When they lie outside.
    pub fn slice_axis(&self, axis: usize, start: usize, length: usize) -> Array {
        assert!(start + length <= self.shape()[axis]);
        let mut shape = self.shape().to_vec();
        shape[axis] = length;
        // An empty view stays where it is, so that no offset leaves the buffer.
        let skip = if length == 0 { 0 } else { start as isize * self.strides()[axis] };
        self.with_layout(shape, self.strides().to_vec(), (self.offset() as isize + skip) as usize)
    }

    /// The one-dimensional views along `axis`, in C order of the other dimensions.
    ///
    /// # Panics
    /// When the axis lies outside.
    pub fn lanes(&self, axis: usize) -> impl Iterator<Item = Array> + '_ {
        let mut outer = self.shape().to_vec();
        outer[axis] = 1;
        let count: usize = outer.iter().product();
        (0..count).map(move |mut number| {
            let mut at = self.offset() as isize;
            for (&n, &stride) in outer.iter().zip(self.strides()).rev() {
                at += (number % n) as isize * stride;
                number /= n;
            }
            self.with_layout(vec![self.shape()[axis]], vec![self.strides()[axis]], at as usize)
        })
    }

    /// Whether both look at some of the same memory. Bounds are compared, so that two
    /// interleaved views count as overlapping.
    pub fn may_share_memory(&self, other: &Array) -> bool {
        let ((low, high), (other_low, other_high)) = (self.bounds(), other.bounds());
        low < other_high && other_low < high
    }

    /// Addresses of its first byte and of the one after its last.
    fn bounds(&self) -> (usize, usize) {
        let base = self.buffer().as_ptr().addr();
        if self.is_empty() {
            return (base, base);
        }
        let (mut low, mut high) = (self.offset() as isize, self.offset() as isize);
        for (&n, &stride) in self.shape().iter().zip(self.strides()) {
            let reach = (n as isize - 1) * stride;
            if reach < 0 { low += reach } else { high += reach }
        }
        let size = self.dtype().itemsize();
        (base + low as usize * size, base + (high as usize + 1) * size)
    }

    /// Whether both are the same view: same memory, type, shape and strides.
    pub fn is_same_view(&self, other: &Array) -> bool {
        self.buffer().as_ptr() == other.buffer().as_ptr()
            && self.offset() == other.offset()
            && self.dtype() == other.dtype()
            && self.shape() == other.shape()
            && self.strides() == other.strides()
    }
}
