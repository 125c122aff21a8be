//! Small helpers over the XML tree: reading, searching, and numbers in attributes.

use std::path::{Path, PathBuf};

use thiserror::Error;
use xmltree::{Element, EmitterConfig, ParserConfig, XMLNode};

use crate::data::{self, DataError};

/// Why a model could not be composed.
#[derive(Debug, Error)]
pub enum MjcfError {
    /// A model file could not be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A model file is not what it should be.
    #[error("model {path:?}: {message}: a broken download is mended by `./rua setup`")]
    Model {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// The task asks for a category that the benchmark doesn't have.
    #[error("{instance:?} is a {category:?}, which the benchmark has no model for")]
    UnknownCategory {
        /// The thing's name.
        instance: String,
        /// Its category.
        category: String,
    },
    /// The task's workspace is of an unknown class.
    #[error("the task's workspace is a {class:?}, which is not known")]
    UnknownWorkspace {
        /// The class.
        class: String,
    },
    /// A region on the workspace has no rectangle.
    #[error("region {region:?} has no :ranges")]
    NoRanges {
        /// The region.
        region: String,
    },
}

impl MjcfError {
    pub(super) fn model(path: &Path, message: impl Into<String>) -> Self {
        Self::Model { path: path.to_owned(), message: message.into() }
    }
}

/// A mesh or texture that a model file names and that is not there.
pub(super) fn missing_file(path: &Path, name: &str) -> MjcfError {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().position(|line| line.contains(name)).map_or(1, |index| index + 1);
    MjcfError::model(path, format!("line {line}: there is no file {name:?}"))
}

/// Reads a file, keeping elements and attributes only.
pub(super) fn read(path: &Path) -> Result<Element, MjcfError> {
    let text = data::read_text("a model file", path)?;
    let config = ParserConfig::new().ignore_comments(true);
    let mut root = Element::parse_with_config(text.as_bytes(), config).map_err(|error| {
        let words = error.to_string().replace('\n', " ");
        // Line and column come after this.
        let placed = words.strip_prefix("Malformed XML. ").map(|rest| format!("line {rest}"));
        MjcfError::model(path, placed.unwrap_or(words))
    })?;
    drop_text(&mut root);
    Ok(root)
}

fn drop_text(element: &mut Element) {
    element.children.retain(|node| matches!(node, XMLNode::Element(_)));
    for child in children_mut(element) {
        drop_text(child);
    }
}

/// The text of a tree.
pub(super) fn write(root: &Element) -> Result<String, xmltree::Error> {
    let mut bytes = Vec::new();
    root.write_with_config(&mut bytes, EmitterConfig::new().write_document_declaration(false))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

pub(super) fn children(element: &Element) -> impl Iterator<Item = &Element> {
    element.children.iter().filter_map(XMLNode::as_element)
}

pub(super) fn children_mut(element: &mut Element) -> impl Iterator<Item = &mut Element> {
    element.children.iter_mut().filter_map(XMLNode::as_mut_element)
}

pub(super) fn get<'a>(element: &'a Element, attribute: &str) -> Option<&'a str> {
    element.attributes.get(attribute).map(String::as_str)
}

pub(super) fn set(element: &mut Element, attribute: &str, value: impl Into<String>) {
    element.attributes.insert(attribute.to_owned(), value.into());
}

/// Removes an attribute, leaving the others in their order.
pub(super) fn unset(element: &mut Element, attribute: &str) -> Option<String> {
    element.attributes.shift_remove(attribute)
}

pub(super) fn append(parent: &mut Element, child: Element) {
    parent.children.push(XMLNode::Element(child));
}

/// A new element with these attributes.
pub(super) fn element(tag: &str, attributes: &[(&str, &str)]) -> Element {
    let mut element = Element::new(tag);
    for (name, value) in attributes {
        set(&mut element, name, *value);
    }
    element
}

/// Calls `visit` on the element and everything below it, parents first.
pub(super) fn walk<'a>(root: &'a Element, visit: &mut impl FnMut(&'a Element)) {
    visit(root);
    for child in children(root) {
        walk(child, visit);
    }
}

/// [`walk`], for changes.
pub(super) fn walk_mut(root: &mut Element, visit: &mut impl FnMut(&mut Element)) {
    visit(root);
    for child in children_mut(root) {
        walk_mut(child, visit);
    }
}

/// The first element of that tag and name, the root included.
pub(super) fn find_mut<'a>(
    root: &'a mut Element,
    tag: &str,
    name: &str,
) -> Option<&'a mut Element> {
    if root.name == tag && get(root, "name") == Some(name) {
        return Some(root);
    }
    children_mut(root).find_map(|child| find_mut(child, tag, name))
}

/// The child of that tag and name.
pub(super) fn child_mut<'a>(
    parent: &'a mut Element,
    tag: &str,
    name: &str,
) -> Option<&'a mut Element> {
    children_mut(parent).find(|child| child.name == tag && get(child, "name") == Some(name))
}

/// Numbers of an attribute's text.
pub(super) fn numbers(text: &str) -> Option<Vec<f64>> {
    text.split_whitespace().map(|number| number.parse().ok()).collect()
}

/// Three numbers of an attribute, zeros when it is absent.
pub(super) fn vector(element: &Element, attribute: &str) -> Option<[f64; 3]> {
    match get(element, attribute) {
        Some(text) => numbers(text)?.try_into().ok(),
        None => Some([0.0; 3]),
    }
}

/// Numbers as an attribute's text; MuJoCo reads back exactly these.
pub(super) fn text(numbers: &[f64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(f64::to_string).collect();
    numbers.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_their_text() {
        let values = [0.1 + 0.2, -0.0, 5.0, 1e-8, -2.444_597_47, 1.0 / 3.0];
        let back = numbers(&text(&values)).expect("numbers");
        assert_eq!(back.len(), values.len());
        for (back, value) in back.iter().zip(values) {
            assert_eq!(back.to_bits(), value.to_bits());
        }
        assert_eq!(numbers("1 x"), None);
    }

    #[test]
    fn attributes_keep_their_order() {
        let mut element = element("geom", &[("name", "a"), ("class", "b"), ("size", "1")]);
        assert_eq!(unset(&mut element, "class").as_deref(), Some("b"));
        set(&mut element, "name", "c");
        assert_eq!(write(&element).expect("text"), "<geom name=\"c\" size=\"1\" />");
    }
}
