/// The known name closest to one that is not known.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .max_by(|a, b| strsim::jaro_winkler(name, a).total_cmp(&strsim::jaro_winkler(name, b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_finds_its_name() {
        let known = ["libero", "template"];
        assert_eq!(nearest("libro", known), Some("libero"));
        assert_eq!(nearest("tmplate", known), Some("template"));
        assert_eq!(nearest("x", []), None);
    }
}
