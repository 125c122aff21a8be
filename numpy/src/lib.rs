//! The module `numpy` of the cell's Python.
