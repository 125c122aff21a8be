//! Strided arrays with numpy's semantics, without Python.
