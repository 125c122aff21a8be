//! One model file, made ready to be merged into a scene.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};

use xmltree::{AttributeMap, Element};

use super::dom::{self, MjcfError};

/// Attributes that hold the name of something; a part's prefix goes before each.
const NAMED: [&str; 27] = [
    "class",
    "childclass",
    "name",
    "objname",
    "material",
    "texture",
    "joint",
    "joint1",
    "joint2",
    "jointinparent",
    "geom",
    "geom1",
    "geom2",
    "mesh",
    "fixed",
    "actuator",
    "tendon",
    "tendon1",
    "tendon2",
    "slidesite",
    "cranksite",
    "body",
    "body1",
    "body2",
    "hfield",
    "target",
    "site",
];

/// Sections of a model that a merge takes over, besides bodies and assets.
const LISTS: [&str; 5] = ["actuator", "sensor", "tendon", "equality", "contact"];

/// A model file with defaults written into its elements and absolute asset paths.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// The file, for messages.
    pub path: PathBuf,
    /// The tree below `<mujoco>`.
    pub root: Element,
    assets: HashSet<(String, Option<String>)>,
}

impl Part {
    pub fn read(path: &Path) -> Result<Self, MjcfError> {
        let mut root = dom::read(path)?;
        for section in ["worldbody", "actuator", "sensor", "asset", "tendon", "equality", "contact"]
        {
            if root.get_child(section).is_none() {
                dom::append(&mut root, Element::new(section));
            }
        }
        let defaults = root.take_child("default").map(|default| default_classes(&default));
        inline_defaults(&mut root, &defaults.unwrap_or_default()).map_err(|class| {
            MjcfError::model(path, format!("there is no default class {class:?}"))
        })?;

        let mut part = Self { path: path.to_owned(), root, assets: HashSet::new() };
        let folder = path.parent().unwrap_or(Path::new("/")).to_owned();
        let mut assets = HashSet::new();
        for asset in dom::children_mut(part.section_mut("asset")) {
            if let Some(name) = dom::get(asset, "file") {
                let file = format!("{}/{name}", folder.display());
                if !Path::new(&file).is_file() {
                    return Err(dom::missing_file(path, name));
                }
                dom::set(asset, "file", file);
            }
            assets.insert(asset_key(asset));
        }
        part.assets = assets;
        Ok(part)
    }

    /// A section, which [`Part::read`] has made sure is there.
    pub fn section(&self, name: &str) -> &Element {
        self.root.get_child(name).unwrap_or(&self.root)
    }

    pub fn section_mut(&mut self, name: &str) -> &mut Element {
        let index = self
            .root
            .children
            .iter()
            .position(|node| node.as_element().is_some_and(|element| element.name == name));
        let index = index.unwrap_or_else(|| {
            dom::append(&mut self.root, Element::new(name));
            self.root.children.len() - 1
        });
        match &mut self.root.children[index] {
            xmltree::XMLNode::Element(element) => element,
            // `index` was found by its element, or is the one just appended.
            _ => unreachable!("a section is an element"),
        }
    }

    /// Takes over the bodies, assets and lists of another part; bodies go below
    /// the body `into`, or below the world.
    pub fn merge(&mut self, mut other: Part, into: Option<&str>) -> Result<(), MjcfError> {
        let bodies = std::mem::take(&mut other.section_mut("worldbody").children);
        let path = self.path.clone();
        let world = self.section_mut("worldbody");
        let parent = match into {
            None => world,
            Some(name) => dom::find_mut(world, "body", name)
                .ok_or_else(|| MjcfError::model(&path, format!("there is no body {name:?}")))?,
        };
        parent.children.extend(bodies);
        self.merge_assets(&other);
        for list in LISTS {
            let items = std::mem::take(&mut other.section_mut(list).children);
            self.section_mut(list).children.extend(items);
        }
        Ok(())
    }

    /// Takes over assets whose tag and name are not there yet. Nameless ones count as one name.
    pub fn merge_assets(&mut self, other: &Part) {
        for asset in dom::children(other.section("asset")) {
            if self.assets.insert(asset_key(asset)) {
                dom::append(self.section_mut("asset"), asset.clone());
            }
        }
    }

    /// Puts `prefix` before every name in the part.
    pub fn add_prefix(&mut self, prefix: &str) {
        add_prefix(&mut self.root, prefix);
        let assets = dom::children(self.section("asset")).map(asset_key).collect();
        self.assets = assets;
    }
}

/// Puts `prefix` before every name in a tree that doesn't begin with it.
pub(super) fn add_prefix(root: &mut Element, prefix: &str) {
    dom::walk_mut(root, &mut |element| {
        for (attribute, value) in &mut element.attributes {
            if NAMED.contains(&attribute.as_str()) && !value.starts_with(prefix) {
                value.insert_str(0, prefix);
            }
        }
    });
}

/// Gives collision geometry one colour and no material.
pub(super) fn recolour_collision_geoms(root: &mut Element, rgba: &str, except: Option<&str>) {
    dom::walk_mut(root, &mut |element| {
        let collides =
            element.name == "geom" && matches!(dom::get(element, "group"), None | Some("0"));
        let spared = except.is_some() && dom::get(element, "name") == except;
        if collides && !spared {
            dom::set(element, "rgba", rgba);
            dom::unset(element, "material");
        }
    });
}

fn asset_key(asset: &Element) -> (String, Option<String>) {
    (asset.name.clone(), dom::get(asset, "name").map(str::to_owned))
}

/// Class to tag to attributes.
type Defaults = HashMap<String, HashMap<String, AttributeMap<String, String>>>;

fn default_classes(default: &Element) -> Defaults {
    let class = |class: &Element| {
        let tags = dom::children(class).map(|tag| (tag.name.clone(), tag.attributes.clone()));
        (dom::get(class, "class").unwrap_or_default().to_owned(), tags.collect())
    };
    dom::children(default).map(class).collect()
}

/// Writes the defaults of an element's class into it. `Err` holds a class that isn't defined.
fn inline_defaults(element: &mut Element, defaults: &Defaults) -> Result<(), String> {
    if let Some(class) = dom::unset(element, "class") {
        let tags = defaults.get(&class).ok_or(class)?;
        if let Some(attributes) = tags.get(&element.name) {
            for (name, value) in attributes {
                if !element.attributes.contains_key(name) {
                    dom::set(element, name, value.clone());
                }
            }
        }
    }
    for child in dom::children_mut(element) {
        inline_defaults(child, defaults)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a model beside whose file lie `a.png`, `b.png` and `m.stl`.
    fn read(text: &str) -> Result<Part, MjcfError> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("part.xml");
        for asset in ["a.png", "b.png", "m.stl"] {
            std::fs::write(folder.path().join(asset), "").expect("a file");
        }
        std::fs::write(&path, text).expect("a file");
        Part::read(&path)
    }

    fn part(text: &str) -> Part {
        read(text).expect("a part")
    }

    #[test]
    fn a_file_that_is_not_there_is_named_with_the_line() {
        let text = "<mujoco><asset>\n<mesh file='m.stl'/>\n<mesh file='n.stl'/></asset></mujoco>";
        let error = read(text).expect_err("no such mesh").to_string();
        assert!(error.contains("line 3") && error.contains("n.stl"), "{error}");
        let error = read("<mujoco>\n<asset>").expect_err("torn").to_string();
        assert!(error.contains("line 2"), "{error}");
    }

    #[test]
    fn defaults_go_into_elements_and_files_become_absolute() {
        let part = part(
            "<mujoco><default><default class='c'><geom size='1' rgba='1 0 0 1'/></default></default>
             <asset><mesh file='m.stl' name='m'/></asset>
             <worldbody><geom class='c' size='2'/></worldbody></mujoco>",
        );
        let geom = part.section("worldbody").get_child("geom").expect("the geom");
        assert_eq!(dom::get(geom, "size"), Some("2"));
        assert_eq!(dom::get(geom, "rgba"), Some("1 0 0 1"));
        assert_eq!(dom::get(geom, "class"), None);
        assert!(part.root.get_child("default").is_none());
        let mesh = part.section("asset").get_child("mesh").expect("the mesh");
        let file = dom::get(mesh, "file").expect("a file");
        assert!(file.starts_with('/') && file.ends_with("/m.stl"), "{file}");
    }

    #[test]
    fn a_merge_keeps_the_first_of_two_assets_and_puts_bodies_where_asked() {
        let mut base = part(
            "<mujoco><asset><texture name='t' file='a.png'/></asset>
             <worldbody><body name='hand'><geom name='g'/></body></worldbody></mujoco>",
        );
        let other = part(
            "<mujoco><asset><texture name='t' file='b.png'/><material name='t'/></asset>
             <worldbody><body name='finger'/></worldbody><actuator><motor name='m'/></actuator></mujoco>",
        );
        base.merge(other, Some("hand")).expect("merged");
        let assets: Vec<&str> =
            dom::children(base.section("asset")).map(|asset| asset.name.as_str()).collect();
        assert_eq!(assets, ["texture", "material"]);
        let hand = base.section("worldbody").get_child("body").expect("the hand");
        assert_eq!(dom::children(hand).count(), 2);
        assert_eq!(dom::children(base.section("actuator")).count(), 1);
        let lost = base.merge(part("<mujoco/>"), Some("nowhere")).expect_err("no such body");
        assert!(lost.to_string().contains("nowhere"), "{lost}");
    }

    #[test]
    fn prefixes_go_before_names_once() {
        let mut element = dom::element("geom", &[("name", "a_x"), ("mesh", "m"), ("size", "1")]);
        add_prefix(&mut element, "a_");
        assert_eq!(dom::get(&element, "name"), Some("a_x"));
        assert_eq!(dom::get(&element, "mesh"), Some("a_m"));
        assert_eq!(dom::get(&element, "size"), Some("1"));
    }
}
