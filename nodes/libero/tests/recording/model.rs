//! Checksums of compiled models.

use std::collections::BTreeMap;

use mujoco_rs::wrappers::MjModel;

/// The arrays of `model` whose checksums are not those recorded.
pub fn differing_physics(model: &MjModel, recorded: &BTreeMap<String, u32>) -> Vec<String> {
    let ours = physics_checksums(model);
    let differs =
        |(name, sum): (&String, &u32)| (ours.get(name.as_str()) != Some(sum)).then(|| name.clone());
    recorded.iter().filter_map(differs).collect()
}

/// Checksum of the model's binary form, with `signature`, which each compilation
/// gets anew, in place of its own.
pub fn binary_checksum(model: &MjModel, signature: u64) -> (usize, u32) {
    let mut binary = vec![0; model.size()];
    model.save_to_buffer(&mut binary).expect("room for the model");
    let own = model.signature().to_le_bytes();
    if let Some(at) = binary.windows(8).position(|bytes| bytes == own) {
        binary[at..at + 8].copy_from_slice(&signature.to_le_bytes());
    }
    (binary.len(), crc32(&binary))
}

macro_rules! checksums {
    ($model:expr; $($name:ident)*) => {
        BTreeMap::from([$((stringify!($name), crc32(bytes($model.$name())))),*])
    };
}

/// The list that `recording.py` has.
fn physics_checksums(model: &MjModel) -> BTreeMap<&'static str, u32> {
    checksums! { model;
        body_parentid body_rootid body_weldid body_jntnum body_jntadr body_dofnum body_dofadr
        body_pos body_quat body_ipos body_iquat body_mass body_inertia body_gravcomp
        jnt_type jnt_qposadr jnt_dofadr jnt_bodyid jnt_limited jnt_solref jnt_solimp jnt_pos
        jnt_axis jnt_stiffness jnt_range jnt_margin
        dof_solref dof_solimp dof_frictionloss dof_armature dof_damping
        geom_bodyid geom_contype geom_conaffinity geom_condim geom_group geom_priority
        geom_solmix geom_solref geom_solimp geom_friction geom_margin geom_gap
        site_bodyid site_size site_pos site_quat
        cam_bodyid cam_pos cam_quat cam_fovy
        actuator_trntype actuator_trnid actuator_gear actuator_ctrlrange actuator_forcerange
        actuator_gainprm actuator_biasprm
        exclude_signature qpos0
    }
}

fn bytes<T>(values: &[T]) -> &[u8] {
    // SAFETY: MuJoCo's arrays are of plain numbers, without padding.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// The CRC-32 of zip and zlib.
fn crc32(bytes: &[u8]) -> u32 {
    static TABLE: [u32; 256] = table();
    let step = |crc: u32, &byte: &u8| TABLE[usize::from(crc as u8 ^ byte)] ^ (crc >> 8);
    !bytes.iter().fold(!0, step)
}

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let (mut value, mut bit) = (index as u32, 0);
        while bit < 8 {
            value = if value & 1 == 1 { 0xEDB8_8320 ^ (value >> 1) } else { value >> 1 };
            bit += 1;
        }
        table[index] = value;
        index += 1;
    }
    table
}
