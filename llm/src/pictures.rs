//! How many tokens a picture costs, by the providers' published rules.
//!
//! Sources, as of 2026-11-30: OpenAI, "Images and vision", calculating costs
//! (<https://developers.openai.com/api/docs/guides/images-vision>); Anthropic,
//! "Vision", image costs (<https://platform.claude.com/docs/en/build-with-claude/vision>).
//! A measured table, <https://huggingface.co/datasets/JOHNISKING/image-token-cost>,
//! agrees up to 1920 × 1080; above that the providers scale in ways that their
//! rules only outline.

/// Tokens of one picture, at the detail that the provider chooses by itself.
///
/// A model that is not known is counted like OpenAI's newest.
pub fn image_tokens(model: &str, width: u32, height: u32) -> u64 {
    let name = model.rsplit('/').next().unwrap_or(model);
    let known = RULES.iter().filter(|(prefix, _)| name.starts_with(prefix));
    let rule = known.max_by_key(|(prefix, _)| prefix.len()).map_or(NEWEST, |(_, rule)| *rule);
    rule.tokens(width, height)
}

#[derive(Clone, Copy)]
enum Rule {
    /// Squares of 512 pixels, after scaling to at most 2048 pixels, the shorter
    /// side to at most 768.
    Tiles { base: u64, tile: u64 },
    /// Squares of so many pixels, of which there may be so many; scaled down until
    /// they fit. Each costs a factor, in percent.
    Patches { side: u32, most: u64, longest: u32, percent: u64 },
}

const NEWEST: Rule = openai(10_000, 6000, 120);

/// The longest prefix of a model's name decides.
const RULES: &[(&str, Rule)] = &[
    ("gpt-4o", Rule::Tiles { base: 85, tile: 170 }),
    ("gpt-4o-mini", Rule::Tiles { base: 2833, tile: 5667 }),
    ("gpt-4.1", Rule::Tiles { base: 85, tile: 170 }),
    ("gpt-4.1-mini", openai(1536, 2048, 162)),
    ("gpt-4.1-nano", openai(1536, 2048, 246)),
    ("o1", Rule::Tiles { base: 75, tile: 150 }),
    ("o3", Rule::Tiles { base: 75, tile: 150 }),
    ("o4-mini", openai(1536, 2048, 172)),
    ("gpt-5", Rule::Tiles { base: 70, tile: 140 }),
    ("gpt-5-mini", openai(1536, 2048, 162)),
    ("gpt-5-nano", openai(1536, 2048, 246)),
    ("gpt-5.2", openai(1536, 2048, 120)),
    ("gpt-5.3", openai(1536, 2048, 120)),
    ("gpt-5.4", NEWEST),
    ("gpt-5.4-mini", openai(1536, 2048, 162)),
    ("gpt-5.4-nano", openai(1536, 2048, 246)),
    ("gpt-5.5", NEWEST),
    ("gpt-5.6", NEWEST),
    ("claude", anthropic(1568, 1568)),
    ("claude-opus-4-7", anthropic(4784, 2576)),
    ("claude-opus-4-8", anthropic(4784, 2576)),
    ("claude-opus-5", anthropic(4784, 2576)),
    ("claude-sonnet-5", anthropic(4784, 2576)),
    ("claude-haiku-5", anthropic(4784, 2576)),
    ("claude-fable-5", anthropic(4784, 2576)),
];

const fn openai(most: u64, longest: u32, percent: u64) -> Rule {
    Rule::Patches { side: 32, most, longest, percent }
}

const fn anthropic(most: u64, longest: u32) -> Rule {
    Rule::Patches { side: 28, most, longest, percent: 100 }
}

impl Rule {
    fn tokens(self, width: u32, height: u32) -> u64 {
        let (width, height) = (f64::from(width.max(1)), f64::from(height.max(1)));
        match self {
            Rule::Tiles { base, tile } => {
                let fit = (2048.0 / width.max(height)).min(1.0);
                let scale = fit * (768.0 / (fit * width.min(height))).min(1.0);
                base + tile * squares(width * scale, height * scale, 512.0)
            }
            Rule::Patches { side, most, longest, percent } => {
                let side = f64::from(side);
                let scale = (f64::from(longest) / width.max(height)).min(1.0);
                let (width, height) = (width * scale, height * scale);
                let patches = squares(width, height, side);
                let patches = if patches <= most {
                    patches
                } else {
                    // Scaled until the area fits, then until a side is whole squares.
                    let scale = (most as f64 * side * side / (width * height)).sqrt();
                    let (width, height) = (width * scale, height * scale);
                    let whole =
                        |length: f64| ((length / side).floor().max(1.0) * side / length).min(1.0);
                    let scale = whole(width).min(whole(height));
                    squares(width * scale, height * scale, side).min(most)
                };
                (patches * percent).div_ceil(100)
            }
        }
    }
}

/// Squares that cover an area.
fn squares(width: f64, height: f64, side: f64) -> u64 {
    // A hair's breadth over, from scaling, is no further square.
    let count = |length: f64| (length / side - 1e-9).ceil().max(1.0) as u64;
    count(width) * count(height)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_providers_own_examples_come_out() {
        // OpenAI's guide.
        assert_eq!(image_tokens("gpt-4o", 1024, 1024), 765);
        assert_eq!(image_tokens("gpt-4o", 2048, 4096), 1105);
        assert_eq!(image_tokens("gpt-4.1-mini", 1024, 1024), 1659);
        assert_eq!(image_tokens("gpt-4.1-mini", 1800, 2400), 2353);
    }

    #[test]
    fn measured_sizes_come_out() {
        for (size, claude, gpt) in [
            ((256, 256), 100, 77),
            ((512, 512), 361, 308),
            ((768, 768), 784, 692),
            ((1024, 1024), 1369, 1229),
            ((1280, 720), 1196, 1104),
        ] {
            let (width, height) = size;
            assert_eq!(image_tokens("claude-haiku-4-5", width, height), claude, "{size:?}");
            assert_eq!(image_tokens("anthropic/claude-opus-5-5", width, height), claude);
            assert_eq!(image_tokens("gpt-6-sol", width, height), gpt, "{size:?}");
            assert_eq!(image_tokens("gpt-5.5", width, height), gpt, "{size:?}");
        }
        assert_eq!(image_tokens("claude-opus-5-5", 1920, 1080), 2691);
        assert_eq!(image_tokens("gpt-5.5", 1920, 1080), 2448);
    }

    #[test]
    fn a_picture_of_any_size_stays_under_its_limit() {
        for size in [(0, 0), (1, 100_000), (4032, 3024), (u32::MAX, u32::MAX)] {
            assert!((1..=1568).contains(&image_tokens("claude-haiku-4-5", size.0, size.1)));
            assert!(image_tokens("gpt-5.5", size.0, size.1) <= 12_000);
            assert!(image_tokens("gpt-4o", size.0, size.1) <= 85 + 170 * 8);
        }
    }
}
