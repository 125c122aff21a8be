//! The workspaces that tasks play on: table, floor, kitchen, living room,
//! study, coffee table.
//!
//! Values: LIBERO-PRO 0.1.1, the classes of `libero/libero/envs/problems`,
//! `arenas` and `robots`.

/// One class of workspace.
#[derive(Debug, Clone, PartialEq)]
pub struct Workspace {
    /// The task file's problem name, in lower case.
    pub class: &'static str,
    /// The table's or floor's own name; a region whose name contains it lies on it.
    pub surface: &'static str,
    /// Category of the surface, which the arena brings.
    pub category: &'static str,
    /// Origin of regions, world frame, metres.
    pub origin: [f64; 3],
    /// Height at which fixtures are placed above the origin, metres.
    pub fixture_height: f64,
    /// Whether placed objects keep their whole radius inside their region.
    pub keep_inside: bool,
    /// Where the robot stands.
    pub base: Base,
    /// Arena model, below the asset folder's `scenes`.
    pub arena: &'static str,
    /// Texture of the floor, below the asset folder's `textures`.
    pub floor: &'static str,
    /// Texture of the walls.
    pub wall: &'static str,
    /// A table that the arena model leaves to be sized.
    pub table: Option<Table>,
    /// Body that carries the sites of the surface's regions.
    pub zone_body: &'static str,
    /// Where such a site lies, seen from its rectangle's centre, in the body's frame.
    pub zone_offset: [f64; 3],
    /// Cameras that are moved or added.
    pub cameras: &'static [Camera],
}

/// Where the robot stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Base {
    /// Whether it stands on a pedestal.
    pub pedestal: bool,
    /// Foot of the pedestal, or of the robot, world frame, metres.
    pub position: [f64; 3],
}

/// A table of legs and a top.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Table {
    /// Full size of the top, metres.
    pub size: [f64; 3],
    /// Sliding, torsional and rolling friction.
    pub friction: [f64; 3],
}

/// A fixed camera.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    /// Its name.
    pub name: &'static str,
    /// Position, world frame, metres.
    pub position: [f64; 3],
    /// Orientation (w, x, y, z).
    pub quaternion: [f64; 4],
}

/// The workspace of that class.
pub fn find(class: &str) -> Option<&'static Workspace> {
    WORKSPACES.iter().find(|workspace| workspace.class == class)
}

const TABLE_SIZE: [f64; 3] = [1.0, 1.2, 0.05];
const LOW_TABLE_SIZE: [f64; 3] = [0.70, 1.6, 0.024];

const LIGHT_GRAY_FLOOR: &str = "light-gray-floor-tile.png";
const WOOD_PLANK_FLOOR: &str = "seamless_wood_planks_floor.png";
const GRAY_CERAMIC_FLOOR: &str = "gray_ceramic_tile.png";
const LIGHT_GRAY_WALL: &str = "light-gray-plaster.png";
const YELLOW_LINEN_WALL: &str = "yellow_linen_wall_texture.png";

const DOWN: [f64; 4] = [
    0.638_017_773_628_234_9,
    0.304_849_743_843_078_6,
    0.304_849_863_052_368_16,
    0.638_017_773_628_234_9,
];
const LEVEL: [f64; 4] = [
    0.618_216_693_401_336_7,
    0.343_230_754_137_039_2,
    0.343_231_439_590_454_1,
    0.618_217_706_680_297_9,
];
const FRONT: [f64; 4] = [0.56, 0.43, 0.43, 0.56];
const PAPER: [f64; 4] = [0.513, 0.353, 0.443, 0.645];

const fn camera(name: &'static str, position: [f64; 3], quaternion: [f64; 4]) -> Camera {
    Camera { name, position, quaternion }
}

const GALLERY: Camera = camera(
    "galleryview",
    [2.844_547_668_904_445, 2.127_968_479_344_066_7, 3.128_616_846_013_882],
    [
        0.422_613_799_571_990_97,
        0.233_744_114_637_374_88,
        0.416_469_395_160_675_05,
        0.770_269_095_897_674_6,
    ],
);
const TABLE_VIEW: Camera =
    camera("agentview", [0.658_613_174_683_477_1, 0.0, 1.610_350_024_037_242_3], DOWN);

static WORKSPACES: [Workspace; 6] = [
    Workspace {
        class: "libero_tabletop_manipulation",
        surface: "main_table",
        category: "table",
        origin: [0.0, 0.0, 0.90],
        fixture_height: 0.01 - TABLE_SIZE[2],
        keep_inside: true,
        base: Base { pedestal: true, position: [-0.16 - TABLE_SIZE[0] / 2.0, 0.0, 0.0] },
        arena: "libero_tabletop_base_style.xml",
        floor: LIGHT_GRAY_FLOOR,
        wall: LIGHT_GRAY_WALL,
        table: Some(Table { size: TABLE_SIZE, friction: [0.6, 0.005, 0.0001] }),
        zone_body: "table",
        zone_offset: [0.0, 0.0, 0.02],
        cameras: &[TABLE_VIEW, camera("frontview", [1.0, 0.0, 1.48], FRONT), GALLERY],
    },
    Workspace {
        class: "libero_floor_manipulation",
        surface: "floor",
        category: "floor",
        origin: [0.0, 0.0, -0.035],
        fixture_height: -0.025,
        keep_inside: true,
        base: Base { pedestal: false, position: [-0.6, 0.0, 0.0] },
        arena: "libero_floor_base_style.xml",
        floor: LIGHT_GRAY_FLOOR,
        wall: LIGHT_GRAY_WALL,
        table: None,
        zone_body: "floor",
        zone_offset: [0.0, 0.0, 0.02],
        cameras: &[
            camera("agentview", [0.896_577_371_683_613_4, 5.216_182_733_499_864e-7, 0.65], LEVEL),
            camera("frontview", [1.0, 0.0, 0.65], FRONT),
            GALLERY,
        ],
    },
    Workspace {
        class: "libero_kitchen_tabletop_manipulation",
        surface: "kitchen_table",
        category: "kitchen_table",
        origin: [0.0, 0.0, 0.90],
        fixture_height: 0.01 - TABLE_SIZE[2],
        keep_inside: false,
        base: Base { pedestal: true, position: [-0.16 - TABLE_SIZE[0] / 2.0, 0.0, 0.0] },
        arena: "libero_kitchen_tabletop_base_style.xml",
        floor: GRAY_CERAMIC_FLOOR,
        wall: YELLOW_LINEN_WALL,
        table: Some(Table { size: TABLE_SIZE, friction: [1.0, 0.005, 0.0001] }),
        zone_body: "table",
        zone_offset: [0.0, 0.0, 0.0],
        cameras: &[
            TABLE_VIEW,
            camera("frontview", [1.0, 0.0, 1.48], FRONT),
            GALLERY,
            camera("paperview", [2.1, 0.535, 2.075], PAPER),
        ],
    },
    Workspace {
        class: "libero_living_room_tabletop_manipulation",
        surface: "living_room_table",
        category: "living_room_table",
        origin: [0.0, 0.0, 0.41],
        fixture_height: 0.01 - LOW_TABLE_SIZE[2],
        keep_inside: false,
        base: Base { pedestal: false, position: [-0.16 - LOW_TABLE_SIZE[0] / 2.0, 0.0, 0.42] },
        arena: "libero_living_room_tabletop_base_style.xml",
        floor: WOOD_PLANK_FLOOR,
        wall: LIGHT_GRAY_WALL,
        table: None,
        zone_body: "living_room_table",
        zone_offset: [0.0, 0.0, 0.41],
        cameras: &[
            camera("agentview", [0.606_577_371_683_613_4, 0.0, 0.96], LEVEL),
            camera("frontview", [1.5, 0.0, 0.9], FRONT),
            GALLERY,
            camera("paperview", [2.1, 0.735, 1.875], PAPER),
        ],
    },
    Workspace {
        class: "libero_study_tabletop_manipulation",
        surface: "study_table",
        category: "study_table",
        origin: [-0.2, 0.0, 0.867],
        fixture_height: 0.01 - TABLE_SIZE[2],
        keep_inside: false,
        base: Base { pedestal: true, position: [-0.25 - TABLE_SIZE[0] / 2.0, 0.0, 0.0] },
        arena: "libero_study_base_style.xml",
        floor: LIGHT_GRAY_FLOOR,
        wall: LIGHT_GRAY_WALL,
        table: None,
        zone_body: "study_table",
        zone_offset: [-0.2, 0.0, 0.867],
        cameras: &[
            camera("agentview", [0.458_613_174_683_477_1, 0.0, 1.610_350_024_037_242_3], DOWN),
            camera("frontview", [1.0, 0.0, 1.48], FRONT),
            GALLERY,
            camera("paperview", [2.1, 0.535, 2.075], PAPER),
        ],
    },
    Workspace {
        class: "libero_coffee_table_manipulation",
        surface: "coffee_table",
        category: "coffee_table",
        origin: [0.0, 0.0, 0.41],
        fixture_height: 0.01 - LOW_TABLE_SIZE[2],
        keep_inside: true,
        base: Base { pedestal: false, position: [-0.16 - LOW_TABLE_SIZE[0] / 2.0, 0.0, 0.41] },
        arena: "libero_coffee_table_base_style.xml",
        floor: WOOD_PLANK_FLOOR,
        wall: LIGHT_GRAY_WALL,
        table: None,
        zone_body: "coffee_table",
        zone_offset: [0.0, 0.0, 0.02],
        cameras: &[
            camera("agentview", [1.5, 0.0, 0.9], FRONT),
            GALLERY,
            camera(
                "canonical_agentview",
                [0.538_613_174_683_477_1, 0.0, 0.790_350_024_037_242_3],
                DOWN,
            ),
        ],
    },
];
