//! An object or fixture: its body, named after the instance, and what the
//! scene must know of it before the model is compiled.

use xmltree::Element;

use super::{
    dom::{self, MjcfError},
    part::{self, Part},
};
use crate::{
    catalog::{self, Category},
    data::Data,
};

/// One instance, ready to be merged.
#[derive(Debug, Clone)]
pub struct Object {
    /// The instance's name (`akita_black_bowl_1`).
    pub name: String,
    /// Its category.
    pub category: &'static Category,
    /// Whether it has no free joint.
    pub fixture: bool,
    /// Name of its root body.
    pub root_body: String,
    /// Names of its joints, the free joint last.
    pub joints: Vec<String>,
    /// Names of the geoms that collide.
    pub contact_geoms: Vec<String>,
    /// Names of the geoms that are seen.
    pub visual_geoms: Vec<String>,
    /// Names of its sites.
    pub sites: Vec<String>,
    /// Height of its lowest point above its origin (negative), metres.
    pub bottom: f64,
    /// Height of its highest point above its origin, metres.
    pub top: f64,
    /// Horizontal radius that placements keep free, metres.
    pub radius: f64,
    pub(super) body: Element,
    pub(super) part: Part,
}

/// A site of an object that the task calls a region.
#[derive(Debug, Clone, PartialEq)]
pub struct RegionSite {
    /// Half sizes, metres.
    pub size: [f64; 3],
    /// Names of the joints that move it.
    pub joints: Vec<String>,
}

impl Object {
    /// Reads the model of an instance.
    ///
    /// # Errors
    /// [`MjcfError`] for an unknown category or an unusable model.
    pub fn load(data: &Data, name: &str, category: &str, fixture: bool) -> Result<Self, MjcfError> {
        let category = catalog::find(category).ok_or_else(|| MjcfError::UnknownCategory {
            instance: name.to_owned(),
            category: category.to_owned(),
        })?;
        let mut part = Part::read(&data.assets().join(category.model_path()))?;
        let prefix = format!("{name}_");
        let mut body = extract_body(&part, fixture)?;
        part::add_prefix(&mut body, &prefix);
        part.add_prefix(&prefix);

        let mut object = Self {
            name: name.to_owned(),
            category,
            fixture,
            root_body: format!("{prefix}main"),
            joints: Vec::new(),
            contact_geoms: Vec::new(),
            visual_geoms: Vec::new(),
            sites: Vec::new(),
            bottom: extent(&part, &prefix, "bottom_site")?[2],
            top: extent(&part, &prefix, "top_site")?[2],
            radius: extent(&part, &prefix, "horizontal_radius_site")?[0],
            body,
            part,
        };
        object.list_names();
        Ok(object)
    }

    fn list_names(&mut self) {
        let body = std::mem::replace(&mut self.body, Element::new("body"));
        dom::walk(&body, &mut |element| {
            let Some(name) = dom::get(element, "name") else { return };
            let names = match (element.name.as_str(), dom::get(element, "group")) {
                ("joint", _) => &mut self.joints,
                ("site", _) => &mut self.sites,
                ("geom", None | Some("0")) => &mut self.contact_geoms,
                ("geom", Some("1")) => &mut self.visual_geoms,
                _ => return,
            };
            names.push(name.to_owned());
        });
        self.body = body;
    }

    /// The site that the task calls region `name`, if it is one of this object's.
    ///
    /// The joints are those of the innermost body around the site, and the
    /// search ends at the first body without any site, as in the reference.
    pub fn region_site(&self, name: &str) -> Option<RegionSite> {
        let root = self.part.section("worldbody").get_child("body")?;
        let mut bodies = Vec::new();
        for child in dom::children(root) {
            dom::walk(child, &mut |element| {
                if element.name == "body" {
                    bodies.push(element);
                }
            });
        }
        let mut found = None;
        for body in bodies {
            let mut sites = Vec::new();
            dom::walk(body, &mut |element| {
                if element.name == "site" {
                    sites.push(element);
                }
            });
            if sites.is_empty() {
                break;
            }
            if let Some(site) = sites.iter().rfind(|site| dom::get(site, "name") == Some(name)) {
                let joints = dom::children(body).filter(|child| child.name == "joint");
                let joints = joints.filter_map(|joint| dom::get(joint, "name").map(str::to_owned));
                let mut size = [0.0; 3];
                let given = dom::get(site, "size").and_then(dom::numbers).unwrap_or_default();
                for (slot, value) in size.iter_mut().zip(given) {
                    *slot = value;
                }
                found = Some(RegionSite { size, joints: joints.collect() });
            }
        }
        found
    }
}

/// The object's body with named geoms, a free joint when it can be moved, and a site at its origin.
fn extract_body(part: &Part, fixture: bool) -> Result<Element, MjcfError> {
    let fault = |message: &str| MjcfError::model(&part.path, message);
    let outer = dom::children(part.section("worldbody")).filter(|child| child.name == "body");
    let body = outer
        .flat_map(dom::children)
        .find(|child| child.name == "body" && dom::get(child, "name") == Some("object"));
    let mut body = body.ok_or_else(|| fault("there is no body named \"object\""))?.clone();
    dom::set(&mut body, "name", "main");

    let mut count = 0;
    name_geoms(&mut body, &mut count).map_err(|()| fault("a geom has no group"))?;
    if !fixture {
        dom::append(
            &mut body,
            dom::element("joint", &[("type", "free"), ("damping", "0.0005"), ("name", "joint0")]),
        );
    }
    let origin = [
        ("pos", "0 0 0"),
        ("size", "0.002 0.002 0.002"),
        ("rgba", "1 0 0 0"),
        ("type", "sphere"),
        ("group", "0"),
        ("name", "default_site"),
    ];
    dom::append(&mut body, dom::element("site", &origin));
    Ok(body)
}

/// Names the nameless geoms by their place in the file, and drops those of other groups
/// than collision (0) and looks (1). `Err` for a geom without a group.
fn name_geoms(parent: &mut Element, count: &mut usize) -> Result<(), ()> {
    let mut index = 0;
    while index < parent.children.len() {
        let Some(child) = parent.children[index].as_mut_element() else {
            index += 1;
            continue;
        };
        let mut keep = true;
        if child.name == "geom" {
            keep = matches!(dom::get(child, "group").ok_or(())?, "0" | "1");
            if dom::get(child, "name").is_none() {
                dom::set(child, "name", format!("g{count}"));
            }
            *count += 1;
        }
        name_geoms(child, count)?;
        if keep {
            index += 1;
        } else {
            parent.children.remove(index);
        }
    }
    Ok(())
}

/// Position of a site that marks the model's extent.
fn extent(part: &Part, prefix: &str, site: &str) -> Result<[f64; 3], MjcfError> {
    let name = format!("{prefix}{site}");
    let bodies = dom::children(part.section("worldbody")).filter(|child| child.name == "body");
    let found = bodies
        .flat_map(dom::children)
        .find(|child| child.name == "site" && dom::get(child, "name") == Some(&name));
    let found =
        found.ok_or_else(|| MjcfError::model(&part.path, format!("there is no site {site:?}")))?;
    dom::vector(found, "pos")
        .ok_or_else(|| MjcfError::model(&part.path, format!("site {site:?} has no position")))
}
