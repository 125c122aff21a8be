//! What people call the benchmark's things, as `training/perception/vocabulary.py`
//! has it, for eyes that know things by their names in task files.

/// Other words for the end of a name: `white_yellow_mug` is also a cup.
const ALSO: [(&str, &[&str]); 26] = [
    ("porcelain mug", &["white mug", "white coffee mug", "white cup"]),
    ("red coffee mug", &["red mug", "red cup"]),
    ("white yellow mug", &["yellow white mug", "yellow white cup", "white yellow cup"]),
    ("mug", &["cup", "coffee cup", "coffee mug"]),
    ("plate", &["dish", "dinner plate"]),
    ("ramekin", &["ramekin dish", "small dish"]),
    ("frypan", &["frying pan", "pan", "skillet"]),
    ("moka pot", &["coffee pot", "coffee maker", "espresso maker"]),
    ("alphabet soup", &["soup can", "can of soup", "can of alphabet soup"]),
    ("tomato sauce", &["can of tomato sauce", "tomato sauce can"]),
    ("bbq sauce", &["barbecue sauce", "bottle of bbq sauce", "bbq sauce bottle"]),
    ("butter", &["box of butter", "butter box", "stick of butter"]),
    ("chocolate pudding", &["pudding box", "chocolate", "box of chocolate pudding"]),
    ("cookies", &["cookies box", "cookie box", "box of cookies"]),
    ("cream cheese", &["cream cheese box", "box of cream cheese"]),
    ("ketchup", &["ketchup bottle", "bottle of ketchup"]),
    ("milk", &["milk carton", "carton of milk", "milk box"]),
    ("orange juice", &["orange juice carton", "carton of orange juice"]),
    ("salad dressing", &["salad dressing bottle", "bottle of salad dressing"]),
    ("cabinet", &["drawer", "drawers", "chest of drawers", "cupboard", "drawer cabinet"]),
    ("stove", &["cooktop", "stovetop", "cooker", "burner", "stove burner"]),
    ("microwave", &["oven", "microwave oven"]),
    ("desk caddy", &["desk organizer", "organizer"]),
    ("shelf", &["cabinet shelf", "bookshelf"]),
    ("rack", &["wine rack", "wine holder", "bottle rack"]),
    ("robot", &["robot arm", "arm", "gripper"]),
];

/// How well a phrase names an instance: 1 when people call it so, less when only
/// some words fit; nothing when it is no name of it.
pub fn fit(phrase: &str, instance: &str) -> Option<f32> {
    let asked = words(phrase);
    let name = words(&category(instance).replace('_', " "));
    let ends = (0..name.len()).map(|from| &name[from..]);
    let called = ends.clone().any(|end| end == asked)
        || ends.clone().any(|end| {
            let also = ALSO.iter().filter(|(known, _)| words(known) == end);
            also.flat_map(|(_, others)| *others).any(|other| words(other) == asked)
        });
    if called {
        return Some(1.0);
    }
    let within = |some: &[String], all: &[String]| some.iter().all(|word| all.contains(word));
    match asked.last() == name.last() {
        true if within(&asked, &name) => Some(0.8),
        true if within(&name, &asked) => Some(0.6),
        _ => None,
    }
}

/// `plate_1` is a `plate`.
pub fn category(instance: &str) -> &str {
    match instance.rsplit_once('_') {
        Some((name, number)) if number.chars().all(|c| c.is_ascii_digit()) => name,
        _ => instance,
    }
}

/// Words that count, in the singular.
fn words(text: &str) -> Vec<String> {
    let words = text.split([' ', '-']).filter(|word| !word.is_empty() && *word != "and");
    words.map(|word| singular(word).to_lowercase()).collect()
}

fn singular(word: &str) -> &str {
    match word.strip_suffix('s') {
        Some(stem) if word.len() > 3 && !stem.ends_with('s') => stem,
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_have_the_names_that_instructions_use() {
        for (phrase, instance) in [
            ("akita black bowl", "akita_black_bowl_1"),
            ("black bowl", "akita_black_bowl_2"),
            ("bowl", "white_bowl_1"),
            ("white mug", "porcelain_mug_1"),
            ("yellow and white mug", "white_yellow_mug_1"),
            ("yellow-white mug", "white_yellow_mug_1"),
            ("red mug", "red_coffee_mug_1"),
            ("cup", "white_yellow_mug_1"),
            ("cookies box", "cookies_1"),
            ("cookie box", "yellow_cookies_1"),
            ("cream cheese box", "cream_cheese_1"),
            ("ramekin", "glazed_rim_porcelain_ramekin_1"),
            ("frying pan", "chefmate_8_frypan_1"),
            ("pan", "chefmate_8_frypan_1"),
            ("moka pots", "moka_pot_2"),
            ("wooden cabinet", "wooden_cabinet_1"),
            ("drawer", "wooden_cabinet_1"),
            ("cabinet shelf", "wooden_two_layer_shelf_1"),
            ("caddy", "desk_caddy_1"),
            ("stove", "flat_stove_1"),
            ("rack", "wine_rack_1"),
            ("book", "black_book_1"),
            ("bottle", "wine_bottle_1"),
            ("salad dressing", "new_salad_dressing_1"),
            ("alphabet soup", "bigger_alphabet_soup_1"),
        ] {
            assert_eq!(fit(phrase, instance), Some(1.0), "{phrase}: {instance}");
        }
    }

    #[test]
    fn other_words_fit_less_or_not() {
        assert_eq!(fit("white mug", "white_yellow_mug_1"), Some(0.8));
        assert_eq!(fit("small black bowl", "black_bowl_1"), Some(0.6));
        for (phrase, instance) in [
            ("white mug", "red_coffee_mug_1"),
            ("white", "white_bowl_1"),
            ("wine", "wine_rack_1"),
            ("", "plate_1"),
        ] {
            assert_eq!(fit(phrase, instance), None, "{phrase}: {instance}");
        }
    }
}
