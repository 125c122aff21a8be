//! Texts that lie in an agent's workspace, to be read when it needs them.

/// The guides for a robot: file names in `guides/` and their texts.
#[must_use]
pub fn guides(robot: &str) -> &'static [(&'static str, &'static str)] {
    match robot {
        "libero" => &[
            ("env_calibration.md", include_str!("../guides/libero/env_calibration.md")),
            ("strict_hybrid_guide.md", include_str!("../guides/libero/strict_hybrid_guide.md")),
            ("pro_hybrid_guide.md", include_str!("../guides/libero/pro_hybrid_guide.md")),
        ],
        _ => &[],
    }
}
