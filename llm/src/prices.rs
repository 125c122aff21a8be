//! What a reply costs.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::Usage;

/// List prices by model.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// When the list was made, such as `2026-11-30`: the version of a bill.
    pub date: String,
    models: BTreeMap<String, Price>,
}

/// One model's prices, in US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    /// Input read from the cache; as `input` when left out.
    pub cached: Option<f64>,
    /// Input written to the cache; as `input` when left out.
    pub cache_write: Option<f64>,
    pub long: Option<Long>,
}

/// What a request with a long input costs more, all of it.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Long {
    /// Tokens of input.
    pub above: u64,
    /// Factors.
    pub input: f64,
    pub output: f64,
}

impl Prices {
    /// The list that ships, `llm/prices.toml`.
    pub fn shipped() -> Self {
        toml::from_str(include_str!("../prices.toml")).unwrap_or_default()
    }

    /// Puts a user's own prices before the list's.
    pub fn with(mut self, own: impl IntoIterator<Item = (String, Price)>) -> Self {
        self.models.extend(own);
        self
    }

    /// Dollars for one request. `None`: the model is not in the list, and its price
    /// is unknown, which is not nothing.
    ///
    /// A model is known by its name, with or without a provider before it
    /// (`openai/…`) and a date after it (`…-2026-04-01`, `…-latest`).
    pub fn price(&self, model: &str, usage: &Usage) -> Option<f64> {
        let price = self.of(model)?;
        let long = price.long.filter(|long| usage.input > long.above);
        let (on_input, on_output) = long.map_or((1.0, 1.0), |long| (long.input, long.output));
        let fresh = usage.input.saturating_sub(usage.cached + usage.cache_written);
        let input = fresh as f64 * price.input
            + usage.cached as f64 * price.cached.unwrap_or(price.input)
            + usage.cache_written as f64 * price.cache_write.unwrap_or(price.input);
        let output = usage.output as f64 * price.output;
        Some((input * on_input + output * on_output) / 1e6)
    }

    fn of(&self, model: &str) -> Option<&Price> {
        let name = model.rsplit('/').next().unwrap_or(model);
        let undated = undated(name);
        let known = [model, name, undated].into_iter().find_map(|name| self.models.get(name));
        // Some write claude-opus-4.5.
        known.or_else(|| self.models.get(&undated.replace('.', "-")))
    }
}

/// A model's name without the date of its snapshot.
fn undated(name: &str) -> &str {
    let name = name.strip_suffix("-latest").unwrap_or(name);
    for (length, shape) in [(9, "-########"), (9, "@########"), (11, "-####-##-##")] {
        let Some(at) = name.len().checked_sub(length) else { continue };
        let matches = name.bytes().skip(at).zip(shape.bytes()).all(|(byte, wanted)| {
            if wanted == b'#' { byte.is_ascii_digit() } else { byte == wanted }
        });
        if matches {
            return &name[..at];
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, cached: u64, cache_written: u64, output: u64) -> Usage {
        Usage { input, cached, cache_written, output, ..Usage::default() }
    }

    fn dollars(model: &str, usage: &Usage) -> Option<String> {
        Prices::shipped().price(model, usage).map(|dollars| format!("{dollars:.6}"))
    }

    #[test]
    fn each_kind_of_token_has_its_price() {
        let usage = usage(100_000, 60_000, 30_000, 2_000);
        // 10k fresh, 60k cached, 30k written, 2k out.
        assert_eq!(dollars("claude-opus-5", &usage).unwrap(), "0.317500");
        assert_eq!(dollars("gpt-5.4", &usage).unwrap(), "0.145000");
    }

    #[test]
    fn a_long_request_costs_more_in_whole() {
        assert_eq!(dollars("gpt-5.4", &usage(272_000, 0, 0, 1_000)).unwrap(), "0.695000");
        assert_eq!(dollars("gpt-5.4", &usage(300_000, 0, 0, 1_000)).unwrap(), "1.522500");
    }

    #[test]
    fn a_model_is_known_by_its_name_alone_and_an_unknown_one_costs_an_unknown_sum() {
        let usage = usage(1_000_000, 0, 0, 0);
        for name in [
            "claude-opus-4-5",
            "claude-opus-4-5-20251101",
            "claude-opus-4-5@20251101",
            "anthropic/claude-opus-4.5",
        ] {
            assert_eq!(dollars(name, &usage).unwrap(), "5.000000", "{name}");
        }
        assert_eq!(dollars("gpt-4o-2024-08-06", &usage).unwrap(), "2.500000");
        assert_eq!(dollars("openai/gpt-5-mini-latest", &usage).unwrap(), "0.250000");
        for name in ["gpt-5-pro", "claude-opus-5-9", "llama", "", "gpt-5.5-ß-2026-01-01"] {
            assert_eq!(dollars(name, &usage), None, "{name}");
        }
    }

    #[test]
    fn a_users_own_price_goes_before() {
        let own = Price { input: 1.0, output: 2.0, cached: None, cache_write: None, long: None };
        let prices = Prices::shipped().with([("gpt-5.5".to_owned(), own)]);
        assert_eq!(prices.price("gpt-5.5", &usage(1_000_000, 400_000, 0, 0)), Some(1.0));
        assert_eq!(prices.date.len(), 10);
    }
}
