//! The scene without what is only seen: textures, and meshes that neither
//! collide nor weigh anything.
//!
//! Reading those takes nearly all of a compilation's time and memory, and
//! physics never looks at them. Bodies, geoms, sites and all else keep their ids,
//! so that states of the one model are states of the other.

use std::collections::HashSet;

use xmltree::Element;

use super::dom;

/// A tetrahedron for every mesh that was left out.
const PLACEHOLDER: &str = "0 0 0 .01 0 0 0 .01 0 0 0 .01";

/// Puts placeholders in place of textures and purely visual meshes.
pub(super) fn leave_out_looks(root: &mut Element) {
    let mut needed = HashSet::new();
    dom::walk(root, &mut |element| {
        if element.name == "geom" && !is_visual(element) {
            needed.extend(dom::get(element, "mesh").map(str::to_owned));
        }
    });
    for asset in dom::children_mut(root).filter(|section| section.name == "asset") {
        for asset in dom::children_mut(asset) {
            match asset.name.as_str() {
                "texture" if dom::get(asset, "file").is_some() => {
                    dom::unset(asset, "file");
                    for (attribute, value) in [("builtin", "flat"), ("width", "1"), ("height", "1")]
                    {
                        dom::set(asset, attribute, value);
                    }
                }
                "mesh" if dom::get(asset, "name").is_some_and(|name| !needed.contains(name)) => {
                    dom::unset(asset, "file");
                    dom::unset(asset, "scale");
                    dom::set(asset, "vertex", PLACEHOLDER);
                }
                _ => {}
            }
        }
    }
}

/// Neither collides nor, being in group 1, counts for inertia.
fn is_visual(geom: &Element) -> bool {
    let is = |attribute: &str, value: &str| dom::get(geom, attribute) == Some(value);
    is("group", "1") && is("contype", "0") && is("conaffinity", "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_seen_is_left_out() {
        let text = "<mujoco><asset><texture name='t' file='t.png' type='2d'/>
            <mesh name='seen' file='s.obj' scale='2 2 2'/><mesh name='solid' file='c.stl'/>
            <mesh name='both' file='b.stl'/></asset><worldbody>
            <geom mesh='seen' group='1' contype='0' conaffinity='0'/><geom mesh='solid' group='0'/>
            <geom mesh='both' group='1' contype='0' conaffinity='0'/><geom mesh='both' group='1'/>
            </worldbody></mujoco>";
        let mut root = Element::parse(text.as_bytes()).expect("a tree");
        leave_out_looks(&mut root);
        let asset = root.get_child("asset").expect("assets");
        let files: Vec<_> = dom::children(asset).map(|asset| dom::get(asset, "file")).collect();
        assert_eq!(files, [None, None, Some("c.stl"), Some("b.stl")]);
        let seen = dom::children(asset).nth(1).expect("the mesh");
        assert_eq!((dom::get(seen, "scale"), dom::get(seen, "vertex")), (None, Some(PLACEHOLDER)));
    }
}
