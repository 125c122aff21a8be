//! Where the scene's parts lie in the compiled model: ids and addresses, looked
//! up once by name.

use mujoco_rs::wrappers::{
    MjModel,
    mj_model::{MjtJoint, MjtObjBase},
};
use thiserror::Error;

use crate::{catalog::Category, mjcf::Composition};

/// The compiled model lacks a part; the data and this program don't fit together.
#[derive(Debug, Error)]
#[error("the compiled scene has no {kind} {name:?}: run `./rua setup`")]
pub struct NameError {
    /// Joint, body, …
    pub kind: &'static str,
    /// Its name.
    pub name: String,
}

/// Ids and addresses of everything that control, predicates and rendering touch.
#[derive(Debug, Clone)]
pub struct SceneNames {
    /// The arm's seven joints, from the base outwards.
    pub arm_joints: [Joint; 7],
    /// The torque actuators of these joints.
    pub arm_actuators: [usize; 7],
    /// The gripper's two fingers, left and right.
    pub finger_joints: [Joint; 2],
    /// The position actuators of the fingers.
    pub finger_actuators: [usize; 2],
    /// The site between the finger tips (`gripper0_grip_site`), the end effector's position.
    pub eef_site: usize,
    /// The hand (`robot0_right_hand`), the end effector's orientation.
    pub hand_body: usize,
    /// The robot's base.
    pub base_body: usize,
    /// Every camera, by name, in the model's order.
    pub cameras: Vec<(String, usize)>,
    /// Objects, then fixtures.
    pub objects: Vec<SceneObject>,
    /// Regions that predicates can name.
    pub regions: Vec<SceneRegion>,
}

/// A joint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Joint {
    /// Its id.
    pub id: usize,
    /// Where its position starts in `qpos`.
    pub qpos: usize,
    /// Where its velocity starts in `qvel`.
    pub dof: usize,
    /// Whether it is a free joint: 7 positions, 6 velocities.
    pub free: bool,
}

/// An object or fixture.
#[derive(Debug, Clone)]
pub struct SceneObject {
    /// The instance's name (`plate_1`).
    pub name: String,
    /// What it is.
    pub category: &'static Category,
    /// Whether it can't be moved.
    pub fixture: bool,
    /// Its root body.
    pub body: usize,
    /// Its joints, the free joint last.
    pub joints: Vec<Joint>,
    /// The geoms whose contacts count as its own.
    pub contact_geoms: Vec<usize>,
    /// The geoms that are seen.
    pub visual_geoms: Vec<usize>,
    /// A stove's flame, shown while the stove is on.
    pub burner: Option<usize>,
}

/// A region: a site that things are on or in.
#[derive(Debug, Clone)]
pub struct SceneRegion {
    /// `<target>_<name>`, which is the site's name.
    pub name: String,
    /// The site.
    pub site: usize,
    /// Half sizes, metres.
    pub size: [f64; 3],
    /// The object or fixture it is part of, as an index into the objects; none on the workspace.
    pub parent: Option<usize>,
    /// The joints that move it.
    pub joints: Vec<Joint>,
}

impl SceneNames {
    /// Looks everything up.
    ///
    /// # Errors
    /// [`NameError`] names the first part that isn't there.
    pub fn find(
        model: &MjModel,
        composition: &Composition,
        regions: &[crate::bddl::Region],
    ) -> Result<Self, NameError> {
        let finder = Finder(model);
        let numbered = |stem: &str, index: usize| format!("{stem}{}", index + 1);
        let cameras = (0..model.ncam() as usize).filter_map(|id| {
            let name = model.id_to_name(MjtObjBase::mjOBJ_CAMERA, id)?;
            Some((name.to_owned(), id))
        });
        let mut objects = Vec::new();
        for object in &composition.objects {
            let flame = format!("{}_burner", object.name);
            objects.push(SceneObject {
                name: object.name.clone(),
                category: object.category,
                fixture: object.fixture,
                body: finder.body(&object.root_body)?,
                joints: finder.joints(&object.joints)?,
                contact_geoms: finder.geoms(&object.contact_geoms)?,
                visual_geoms: finder.geoms(&object.visual_geoms)?,
                burner: object.sites.contains(&flame).then(|| finder.site(&flame)).transpose()?,
            });
        }
        let mut found = Vec::new();
        for region in regions {
            found.extend(finder.region(&region.name, composition)?);
        }
        Ok(Self {
            arm_joints: try_array(|i| finder.joint(&numbered("robot0_joint", i)))?,
            arm_actuators: try_array(|i| finder.actuator(&numbered("robot0_torq_j", i)))?,
            finger_joints: try_array(|i| finder.joint(&numbered("gripper0_finger_joint", i)))?,
            finger_actuators: try_array(|i| {
                finder.actuator(&numbered("gripper0_gripper_finger_joint", i))
            })?,
            eef_site: finder.site("gripper0_grip_site")?,
            hand_body: finder.body("robot0_right_hand")?,
            base_body: finder.body("robot0_base")?,
            cameras: cameras.collect(),
            objects,
            regions: found,
        })
    }

    /// The object or fixture of that name.
    pub fn object(&self, name: &str) -> Option<&SceneObject> {
        self.objects.iter().find(|object| object.name == name)
    }

    /// The region of that name.
    pub fn region(&self, name: &str) -> Option<&SceneRegion> {
        self.regions.iter().find(|region| region.name == name)
    }

    /// The camera of that name.
    pub fn camera(&self, name: &str) -> Option<usize> {
        self.cameras.iter().find(|(camera, _)| camera == name).map(|(_, id)| *id)
    }
}

struct Finder<'a>(&'a MjModel);

impl Finder<'_> {
    fn id(&self, kind: &'static str, object: MjtObjBase, name: &str) -> Result<usize, NameError> {
        let missing = || NameError { kind, name: name.to_owned() };
        self.0.name_to_id(object, name).ok_or_else(missing)
    }

    fn body(&self, name: &str) -> Result<usize, NameError> {
        self.id("body", MjtObjBase::mjOBJ_BODY, name)
    }

    fn site(&self, name: &str) -> Result<usize, NameError> {
        self.id("site", MjtObjBase::mjOBJ_SITE, name)
    }

    fn actuator(&self, name: &str) -> Result<usize, NameError> {
        self.id("actuator", MjtObjBase::mjOBJ_ACTUATOR, name)
    }

    fn geoms(&self, names: &[String]) -> Result<Vec<usize>, NameError> {
        names.iter().map(|name| self.id("geom", MjtObjBase::mjOBJ_GEOM, name)).collect()
    }

    fn joint(&self, name: &str) -> Result<Joint, NameError> {
        let id = self.id("joint", MjtObjBase::mjOBJ_JOINT, name)?;
        Ok(Joint {
            id,
            qpos: self.0.jnt_qposadr()[id] as usize,
            dof: self.0.jnt_dofadr()[id] as usize,
            free: self.0.jnt_type()[id] == MjtJoint::mjJNT_FREE,
        })
    }

    fn joints(&self, names: &[String]) -> Result<Vec<Joint>, NameError> {
        names.iter().map(|name| self.joint(name)).collect()
    }

    fn region(
        &self,
        name: &str,
        composition: &Composition,
    ) -> Result<Option<SceneRegion>, NameError> {
        if let Some(zone) = composition.zones.iter().find(|zone| zone.name == name) {
            let (name, size) = (name.to_owned(), zone.size);
            let site = self.site(&name)?;
            return Ok(Some(SceneRegion { name, site, size, parent: None, joints: Vec::new() }));
        }
        let mut objects = composition.objects.iter().enumerate();
        let Some((parent, site)) =
            objects.find_map(|(index, object)| Some((index, object.region_site(name)?)))
        else {
            // A region without a site is one that nothing can be placed on or asked about.
            return Ok(None);
        };
        Ok(Some(SceneRegion {
            name: name.to_owned(),
            site: self.site(name)?,
            size: site.size,
            parent: Some(parent),
            joints: self.joints(&site.joints)?,
        }))
    }
}

fn try_array<T: Default + Copy, const N: usize, E>(
    mut get: impl FnMut(usize) -> Result<T, E>,
) -> Result<[T; N], E> {
    let mut array = [T::default(); N];
    for (index, slot) in array.iter_mut().enumerate() {
        *slot = get(index)?;
    }
    Ok(array)
}
