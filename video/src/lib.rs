//! H.264 video in MP4 files from RGB pictures.
