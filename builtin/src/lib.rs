//! Reads an instruction and writes cells.
