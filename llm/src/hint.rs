//! How long a server asks to wait, in any of the usual places.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The pause that a failed response asks for.
///
/// `header` looks a header up by its lower-case name.
pub(crate) fn pause(
    header: impl Fn(&str) -> Option<String>,
    text: &str,
    now: SystemTime,
) -> Option<Duration> {
    let milliseconds = header("retry-after-ms").and_then(|value| unit(&value, "ms"));
    milliseconds
        .or_else(|| header("retry-after").and_then(|value| retry_after(&value, now)))
        .or_else(|| in_words(text))
        .or_else(|| reset(header, now))
}

/// Seconds, or a date.
fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    unit(value, "s").or_else(|| Some(until(http_date(value)?, now)))
}

/// The limits that are used up say when they are whole again: OpenAI and its
/// likes as a duration, Anthropic as a time.
fn reset(header: impl Fn(&str) -> Option<String>, now: SystemTime) -> Option<Duration> {
    let used_up = |remaining: &String| remaining.trim() == "0";
    let openai = ["requests", "tokens"].into_iter().filter_map(|what| {
        header(&format!("x-ratelimit-remaining-{what}")).filter(used_up)?;
        duration(&header(&format!("x-ratelimit-reset-{what}"))?)
    });
    let anthropic =
        ["requests", "tokens", "input-tokens", "output-tokens"].into_iter().filter_map(|what| {
            header(&format!("anthropic-ratelimit-{what}-remaining")).filter(used_up)?;
            let reset = header(&format!("anthropic-ratelimit-{what}-reset"))?;
            Some(until(humantime::parse_rfc3339_weak(reset.trim()).ok()?, now))
        });
    openai.chain(anthropic).max()
}

/// As in "Please try again in 1.5s".
fn in_words(text: &str) -> Option<Duration> {
    let text = text.to_lowercase();
    let after = ["try again in ", "retry in ", "retry after ", "try again after "]
        .iter()
        .find_map(|words| text.split_once(words))?
        .1;
    duration(after)
}

/// A duration at the start of a text, such as `6m0s`, `1.5s`, `20ms` or `2 seconds`.
fn duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim_start();
    let mut total = None;
    loop {
        let digits =
            rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
        let (number, after) = rest.split_at(digits);
        let after = after.trim_start();
        let letters =
            after.len() - after.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
        let (name, after) = after.split_at(letters);
        let Some(part) = unit(number, name) else { return total };
        total = Some(total.unwrap_or(Duration::ZERO).saturating_add(part));
        rest = after;
    }
}

fn unit(number: &str, name: &str) -> Option<Duration> {
    let seconds = match name {
        "ms" | "milliseconds" | "millisecond" => 1e-3,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86400.0,
        _ => return None,
    };
    let number: f64 = number.trim().trim_end_matches('.').parse().ok()?;
    Duration::try_from_secs_f64(number * seconds).ok()
}

/// A date such as `Wed, 21 Oct 2015 07:28:00 GMT`, the one format of RFC 9110
/// that servers still send.
fn http_date(text: &str) -> Option<SystemTime> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let [_, day, month, year, time, "GMT"] = words[..] else { return None };
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    let iso = format!("{year}-{month:02}-{day:0>2}T{time}Z");
    humantime::parse_rfc3339(&iso).ok()
}

fn until(time: SystemTime, now: SystemTime) -> Duration {
    // A clock that is far off would make for a wait without end, or none.
    let seconds = |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap_or_default();
    seconds(time).saturating_sub(seconds(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(headers: &[(&str, &str)], text: &str) -> Option<Duration> {
        let now = humantime::parse_rfc3339("2015-10-21T07:27:30Z").unwrap();
        let header = |name: &str| {
            headers.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned())
        };
        pause(header, text, now)
    }

    #[test]
    fn every_usual_place_is_looked_at() {
        let seconds = |s: f64| Some(Duration::from_secs_f64(s));
        assert_eq!(asked(&[("retry-after-ms", "250"), ("retry-after", "9")], ""), seconds(0.25));
        assert_eq!(asked(&[("retry-after", "1.5")], ""), seconds(1.5));
        let date = "Wed, 21 Oct 2015 07:28:00 GMT";
        assert_eq!(asked(&[("retry-after", date)], ""), seconds(30.0));
        assert_eq!(asked(&[], "Limit reached. Please try again in 2s. Bye"), seconds(2.0));
        assert_eq!(asked(&[], "Please try again in 1m2.5s."), seconds(62.5));
        assert_eq!(asked(&[], "try again in 20ms"), seconds(0.02));
        assert_eq!(asked(&[], "Retry after 5 seconds"), seconds(5.0));
        assert_eq!(asked(&[], "try again later"), None);
        assert_eq!(asked(&[("retry-after", "soon")], ""), None);
        assert_eq!(asked(&[("retry-after", "-3")], ""), None);
        assert_eq!(asked(&[("retry-after", "1e300")], ""), None);
    }

    #[test]
    fn only_a_limit_that_is_used_up_counts() {
        let headers = [
            ("x-ratelimit-remaining-requests", "12"),
            ("x-ratelimit-reset-requests", "6h"),
            ("x-ratelimit-remaining-tokens", "0"),
            ("x-ratelimit-reset-tokens", "6m0s"),
        ];
        assert_eq!(asked(&headers, ""), Some(Duration::from_secs(360)));
        let headers = [
            ("anthropic-ratelimit-input-tokens-remaining", "0"),
            ("anthropic-ratelimit-input-tokens-reset", "2015-10-21T07:27:40Z"),
        ];
        assert_eq!(asked(&headers, ""), Some(Duration::from_secs(10)));
    }
}
