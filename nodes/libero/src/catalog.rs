//! The benchmark's things: where the model of each category lies, how it is
//! turned when it is placed, and at which joint positions it counts as open,
//! closed, on or off.
//!
//! Values: LIBERO-PRO 0.1.1, the classes of `libero/libero/envs/objects`.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// A category of objects or fixtures.
#[derive(Debug, Clone, PartialEq)]
pub struct Category {
    /// As task files call it (`akita_black_bowl`).
    pub name: &'static str,
    /// Where it comes from, which decides where its model lies.
    pub family: Family,
    /// Stem of its model's files.
    model: &'static str,
    /// How it is turned when it is placed.
    pub rotation: Rotation,
    /// Its joints' meaning, when it has some.
    pub articulation: Option<Articulation>,
}

/// Origin of a category's model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Cabinets, stoves, the microwave: joints of their own.
    Articulated,
    /// The HOPE grocery objects.
    Hope,
    /// Google Scanned Objects.
    Scanned,
    /// TurboSquid models.
    Turbosquid,
    /// Made for LIBERO-PRO.
    Custom,
}

/// An axis of the world frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Forward.
    X,
    /// Left.
    Y,
    /// Up.
    Z,
}

/// Ranges of angles, radians, that a placement draws from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rotation {
    /// One turn about one axis.
    Single(Axis, [f64; 2]),
    /// Turns about several axes, in this order.
    Several(&'static [(Axis, [f64; 2])]),
}

/// Ranges of joint positions (radians or metres) that count as a state, and
/// that a start in this state is drawn from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Articulation {
    /// A drawer or door.
    Opening {
        /// Positions that a start in the state "open" is drawn from.
        open: [f64; 2],
        /// Positions that a start in the state "closed" is drawn from.
        close: [f64; 2],
        /// Whether it opens towards greater joint positions.
        opens_up: bool,
    },
    /// A knob.
    Switch {
        /// Positions that a start in the state "on" is drawn from.
        on: [f64; 2],
        /// Positions that a start in the state "off" is drawn from.
        off: [f64; 2],
    },
}

impl Articulation {
    /// Whether a joint at `position` is open; never for a knob.
    pub fn is_open(&self, position: f64) -> bool {
        match *self {
            Self::Opening { open, opens_up: true, .. } => position > open[0],
            Self::Opening { open, opens_up: false, .. } => position < open[1],
            Self::Switch { .. } => false,
        }
    }

    /// Whether a joint at `position` is closed; never for a knob.
    pub fn is_closed(&self, position: f64) -> bool {
        match *self {
            Self::Opening { close, opens_up: true, .. } => position < close[1],
            Self::Opening { close, opens_up: false, .. } => position > close[0],
            Self::Switch { .. } => false,
        }
    }

    /// Whether a knob at `position` is on; never for a drawer or door.
    pub fn is_on(&self, position: f64) -> bool {
        matches!(*self, Self::Switch { on, .. } if position >= on[0])
    }

    /// Whether a knob at `position` is off; never for a drawer or door.
    pub fn is_off(&self, position: f64) -> bool {
        matches!(*self, Self::Switch { off, .. } if position < off[1])
    }
}

impl Category {
    /// The XML file, relative to the asset folder.
    pub fn model_path(&self) -> String {
        let model = self.model;
        match self.family {
            Family::Articulated => format!("articulated_objects/{model}.xml"),
            Family::Hope => format!("stable_hope_objects/{model}/{model}.xml"),
            Family::Scanned => format!("stable_scanned_objects/{model}/{model}.xml"),
            Family::Turbosquid => format!("turbosquid_objects/{model}/{model}.xml"),
            Family::Custom => format!("custom_objects/{model}/{model}.xml"),
        }
    }
}

/// The category of that name.
pub fn find(name: &str) -> Option<&'static Category> {
    CATEGORIES.iter().find(|category| category.name == name)
}

/// Whether a fixture category is a workspace's own table or floor, which the arena brings.
pub fn is_workspace(category: &str) -> bool {
    matches!(
        category,
        "table" | "floor" | "kitchen_table" | "living_room_table" | "study_table" | "coffee_table"
    )
}

/// Every category.
pub fn all() -> &'static [Category] {
    &CATEGORIES
}

const UPRIGHT: Rotation = Rotation::Single(Axis::X, [FRAC_PI_2, FRAC_PI_2]);
const FLAT: Rotation = Rotation::Single(Axis::X, [0.0, 0.0]);
const FLAT_Y: Rotation = Rotation::Single(Axis::Y, [0.0, 0.0]);
const TURNED: Rotation = Rotation::Single(Axis::Z, [FRAC_PI_2, FRAC_PI_2]);
const DOWN: Rotation = Rotation::Single(Axis::X, [-FRAC_PI_2, -FRAC_PI_2]);
const LEANING_BACK: Rotation = Rotation::Single(Axis::X, [-FRAC_PI_2, -FRAC_PI_4]);
const LEANING: Rotation = Rotation::Single(Axis::X, [FRAC_PI_4, FRAC_PI_2]);
const UPRIGHT_TURNED: Rotation =
    Rotation::Several(&[(Axis::X, [FRAC_PI_2, FRAC_PI_2]), (Axis::Z, [FRAC_PI_2, FRAC_PI_2])]);
const AS_MODELLED: Rotation =
    Rotation::Several(&[(Axis::X, [0.0, 0.0]), (Axis::Y, [0.0, 0.0]), (Axis::Z, [0.0, 0.0])]);
const TUMBLED: Rotation = Rotation::Several(&[
    (Axis::X, [-FRAC_PI_2, -FRAC_PI_2]),
    (Axis::Y, [-PI, -PI]),
    (Axis::Z, [PI, PI]),
]);

const DRAWERS: Articulation =
    Articulation::Opening { open: [-0.16, -0.14], close: [0.0, 0.005], opens_up: false };
const BURNER: Articulation = Articulation::Switch { on: [0.5, 2.1], off: [-0.005, 0.0] };

const fn hope(name: &'static str, rotation: Rotation) -> Category {
    Category { name, family: Family::Hope, model: name, rotation, articulation: None }
}

const fn scanned(name: &'static str, model: &'static str, rotation: Rotation) -> Category {
    Category { name, family: Family::Scanned, model, rotation, articulation: None }
}

const fn turbosquid(name: &'static str, rotation: Rotation) -> Category {
    Category { name, family: Family::Turbosquid, model: name, rotation, articulation: None }
}

const fn custom(name: &'static str, rotation: Rotation) -> Category {
    Category { name, family: Family::Custom, model: name, rotation, articulation: None }
}

const fn articulated(
    name: &'static str,
    rotation: Rotation,
    articulation: Option<Articulation>,
) -> Category {
    Category { name, family: Family::Articulated, model: name, rotation, articulation }
}

static CATEGORIES: [Category; 84] = [
    // Articulated.
    articulated(
        "microwave",
        LEANING,
        Some(Articulation::Opening { open: [-2.094, -1.3], close: [-0.005, 0.0], opens_up: false }),
    ),
    articulated("slide_cabinet", LEANING, None),
    articulated("window", LEANING, None),
    articulated("faucet", LEANING, None),
    articulated("basin_faucet", LEANING, None),
    articulated(
        "short_cabinet",
        LEANING,
        Some(Articulation::Opening { open: [0.10, 0.16], close: [-0.005, 0.0], opens_up: true }),
    ),
    articulated(
        "short_fridge",
        LEANING,
        Some(Articulation::Opening { open: [2.0, 2.7], close: [-0.005, 0.0], opens_up: true }),
    ),
    articulated("wooden_cabinet", LEANING, Some(DRAWERS)),
    articulated("yellow_cabinet", LEANING, Some(DRAWERS)),
    articulated("white_cabinet", LEANING, Some(DRAWERS)),
    articulated("flat_stove", FLAT_Y, Some(BURNER)),
    articulated("yellow_stove", FLAT_Y, Some(BURNER)),
    // Groceries.
    hope("alphabet_soup", TURNED),
    hope("bigger_alphabet_soup", TURNED),
    hope("red_alphabet_soup", TURNED),
    hope("bbq_sauce", UPRIGHT),
    hope("green_bbq_sauce", UPRIGHT),
    hope("butter", FLAT),
    hope("green_butter", FLAT),
    hope("cherries", UPRIGHT),
    hope("chocolate_pudding", FLAT),
    hope("green_chocolate_pudding", FLAT),
    hope("cookies", UPRIGHT),
    hope("yellow_cookies", UPRIGHT),
    hope("corn", UPRIGHT),
    hope("cream_cheese", FLAT),
    hope("red_cream_cheese", FLAT),
    hope("ketchup", UPRIGHT_TURNED),
    hope("green_ketchup", UPRIGHT_TURNED),
    hope("blue_ketchup", TURNED),
    hope("macaroni_and_cheese", UPRIGHT_TURNED),
    hope("mayo", UPRIGHT_TURNED),
    hope("milk", UPRIGHT_TURNED),
    hope("bigger_milk", TURNED),
    hope("yellow_milk", TURNED),
    hope("orange_juice", UPRIGHT_TURNED),
    hope("red_orange_juice", UPRIGHT_TURNED),
    hope("popcorn", FLAT),
    hope("salad_dressing", UPRIGHT_TURNED),
    hope("new_salad_dressing", UPRIGHT_TURNED),
    hope("red_salad_dressing", UPRIGHT_TURNED),
    hope("tomato_sauce", TURNED),
    hope("yellow_tomato_sauce", TURNED),
    // Google Scanned Objects.
    scanned("rack", "simple_rack", FLAT),
    scanned("white_bowl", "white_bowl", UPRIGHT),
    scanned("akita_black_bowl", "akita_black_bowl", UPRIGHT),
    scanned("yellow_bowl", "yellow_bowl", UPRIGHT),
    scanned("black_bowl", "black_bowl", UPRIGHT),
    scanned("red_akita_black_bowl", "red_akita_black_bowl", UPRIGHT),
    scanned("bigger_akita_black_bowl", "bigger_akita_black_bowl", UPRIGHT),
    scanned("plate", "plate", UPRIGHT),
    scanned("yellow_plate", "yellow_plate", UPRIGHT),
    scanned("basket", "basket", UPRIGHT),
    scanned("red_basket", "red_basket", UPRIGHT),
    scanned("chefmate_8_frypan", "chefmate_8_frypan", UPRIGHT),
    scanned("glazed_rim_porcelain_ramekin", "glazed_rim_porcelain_ramekin", UPRIGHT),
    scanned("red_ramekin", "red_ramekin", UPRIGHT),
    // TurboSquid.
    turbosquid("wooden_tray", FLAT),
    turbosquid("white_storage_box", FLAT_Y),
    turbosquid("wooden_shelf", FLAT),
    turbosquid("wooden_two_layer_shelf", FLAT),
    turbosquid("wine_rack", FLAT),
    turbosquid("brown_rack", FLAT),
    turbosquid("wine_rack_stand", FLAT),
    turbosquid("wine_bottle", FLAT),
    turbosquid("white_bottle", FLAT),
    turbosquid("dining_set_group", FLAT),
    turbosquid("bowl_drainer", FLAT),
    turbosquid("moka_pot", FLAT),
    turbosquid("yellow_moka_pot", FLAT),
    turbosquid("black_book", LEANING_BACK),
    turbosquid("yellow_book", LEANING_BACK),
    turbosquid("red_yellow_book", DOWN),
    turbosquid("red_coffee_mug", DOWN),
    turbosquid("porcelain_mug", DOWN),
    turbosquid("white_porcelain_mug", DOWN),
    turbosquid("white_yellow_mug", DOWN),
    turbosquid("desk_caddy", FLAT),
    turbosquid("yellow_desk_caddy", FLAT),
    // Made for LIBERO-PRO; the package brings the model of the first only.
    custom("libero_mug_yellow", TUMBLED),
    custom("libero_mug_green", TUMBLED),
    custom("red_box", TUMBLED),
    custom("red_sticker", AS_MODELLED),
    custom("blue_red_sticker", AS_MODELLED),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for (index, category) in all().iter().enumerate() {
            assert!(
                all()[..index].iter().all(|other| other.name != category.name),
                "{} is there twice",
                category.name
            );
        }
    }

    #[test]
    fn states_follow_the_reference_thresholds() {
        let of = |name: &str| find(name).and_then(|category| category.articulation).expect(name);
        let cabinet = of("wooden_cabinet");
        assert!(cabinet.is_open(-0.141) && !cabinet.is_open(-0.14));
        assert!(cabinet.is_closed(0.001) && !cabinet.is_closed(0.0));
        let microwave = of("microwave");
        assert!(microwave.is_open(-1.31) && !microwave.is_open(-1.3));
        assert!(microwave.is_closed(-0.004) && !microwave.is_closed(-0.005));
        let fridge = of("short_fridge");
        assert!(fridge.is_open(2.1) && !fridge.is_open(2.0));
        assert!(fridge.is_closed(-0.001) && !fridge.is_closed(0.0));
        let stove = of("flat_stove");
        assert!(stove.is_on(0.5) && !stove.is_on(0.499));
        assert!(stove.is_off(-0.001) && !stove.is_off(0.0));
        assert!(!stove.is_open(-1.0) && !cabinet.is_on(1.0));
    }
}
