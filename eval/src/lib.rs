//! Campaigns and their statistics.
