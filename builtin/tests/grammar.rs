//! The grammar over every instruction of LIBERO and of LIBERO-PRO's complete suites.

#![allow(clippy::unwrap_used)]

use ruaflow_builtin::{Goal, Level, NotUnderstood, Part, Phrase, Place, Relation, Side, parse};

/// Suite, task and instruction, as `rua suites SUITE --json` tells them.
const INSTRUCTIONS: &str = include_str!("instructions.tsv");

fn instructions() -> impl Iterator<Item = (&'static str, &'static str)> {
    INSTRUCTIONS.lines().map(|line| {
        let mut fields = line.split('\t');
        (fields.next().unwrap(), fields.nth(1).unwrap())
    })
}

fn thing(name: &str) -> Phrase {
    Phrase::named(name)
}

fn at(name: &str, relation: Relation, of: &[&str]) -> Phrase {
    let place = Place { not: false, relation, of: of.iter().map(|name| thing(name)).collect() };
    Phrase { place: Some(place), ..thing(name) }
}

fn side(side: Side, name: &str) -> Phrase {
    Phrase { side: Some(side), ..thing(name) }
}

fn drawer(level: Level, cabinet: &str) -> Phrase {
    Phrase { part: Some(Part::Drawer(level)), ..thing(cabinet) }
}

fn compartment(side: Side) -> Phrase {
    Phrase { part: Some(Part::Compartment(side)), ..thing("caddy") }
}

fn place(object: Phrase, relation: Relation, place: Phrase) -> Goal {
    Goal::Place { object, relation, place }
}

#[test]
fn every_instruction_is_understood() {
    let mut failed = Vec::new();
    let mut all = 0;
    for (suite, instruction) in instructions() {
        all += 1;
        if let Err(error) = parse(instruction) {
            failed.push(format!("{suite}: {instruction:?}: {error}"));
        }
    }
    println!("{} of {all} instructions understood", all - failed.len());
    assert!(all == 290 && failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn what_is_asked_is_what_is_understood() {
    use Relation::{Between, FrontOf, In, NextTo, On, RightOf};
    let on_plate = |bowl| place(bowl, On, thing("plate"));
    let cases: &[(&str, Vec<Goal>)] = &[
        (
            "Pick the akita black bowl between the plate and the ramekin and place it on the plate",
            vec![on_plate(at("black bowl", Between, &["plate", "ramekin"]))],
        ),
        (
            "pick the akita black bowl not between the plate and the ramekin and place it on the plate",
            vec![on_plate(Phrase {
                place: Some(Place {
                    not: true,
                    relation: Between,
                    of: vec![thing("plate"), thing("ramekin")],
                }),
                ..thing("black bowl")
            })],
        ),
        (
            "take black bowl next to ramekin and place on plate",
            vec![on_plate(at("black bowl", NextTo, &["ramekin"]))],
        ),
        (
            "pick the akita black bowl in the top layer of the wooden cabinet and place it on the plate",
            vec![on_plate(Phrase {
                place: Some(Place {
                    not: false,
                    relation: In,
                    of: vec![drawer(Level::Top, "wooden cabinet")],
                }),
                ..thing("black bowl")
            })],
        ),
        (
            "take the black bowl from the top drawer and put it on plate",
            vec![on_plate(Phrase {
                place: Some(Place {
                    not: false,
                    relation: In,
                    of: vec![drawer(Level::Top, "cabinet")],
                }),
                ..thing("black bowl")
            })],
        ),
        ("lift bowl from stove and set on plate", vec![on_plate(at("bowl", On, &["stove"]))]),
        (
            "grab alphabet soup and put it into basket",
            vec![place(thing("alphabet soup"), In, thing("basket"))],
        ),
        ("open the cabinet’s middle drawer", vec![Goal::Open(drawer(Level::Middle, "cabinet"))]),
        (
            "slide open the top drawer and place the bowl in it",
            vec![
                Goal::Open(drawer(Level::Top, "cabinet")),
                place(thing("bowl"), In, drawer(Level::Top, "cabinet")),
            ],
        ),
        (
            "open the top layer of the drawer and put the bowl inside",
            vec![
                Goal::Open(drawer(Level::Top, "cabinet")),
                place(thing("bowl"), In, drawer(Level::Top, "cabinet")),
            ],
        ),
        (
            "put the wine bottle on the top of the drawer",
            vec![place(thing("wine bottle"), On, thing("cabinet"))],
        ),
        (
            "move the plate to the stove’s front",
            vec![Goal::Push { object: thing("plate"), relation: FrontOf, place: thing("stove") }],
        ),
        ("switch on the stove", vec![Goal::TurnOn(thing("stove"))]),
        ("turn off the stove", vec![Goal::TurnOff(thing("stove"))]),
        (
            "switch stove on and put moka pot on it",
            vec![Goal::TurnOn(thing("stove")), place(thing("moka pot"), On, thing("stove"))],
        ),
        (
            "put both the cream cheese box and the butter in the basket",
            vec![
                place(thing("cream cheese box"), In, thing("basket")),
                place(thing("butter"), In, thing("basket")),
            ],
        ),
        (
            "put both moka pots on the stove",
            vec![place(Phrase { count: 2, ..thing("moka pot") }, On, thing("stove"))],
        ),
        (
            "put black bowl inside bottom drawer and close it",
            vec![
                place(thing("black bowl"), In, drawer(Level::Bottom, "cabinet")),
                Goal::Close(drawer(Level::Bottom, "cabinet")),
            ],
        ),
        (
            "place yellow and white mug in microwave and close door",
            vec![
                place(thing("yellow and white mug"), In, thing("microwave")),
                Goal::Close(thing("microwave")),
            ],
        ),
        (
            "place white mug on left plate and yellow-white mug on right plate",
            vec![
                place(thing("white mug"), On, side(Side::Left, "plate")),
                place(thing("yellow and white mug"), On, side(Side::Right, "plate")),
            ],
        ),
        (
            "place white mug on plate and chocolate pudding to right",
            vec![
                place(thing("white mug"), On, thing("plate")),
                place(thing("chocolate pudding"), RightOf, thing("plate")),
            ],
        ),
        (
            "pick up the red mug and place it to the right compartment of the caddy",
            vec![place(thing("red mug"), In, compartment(Side::Right))],
        ),
        (
            "pick up the book and place in back compartment",
            vec![place(thing("book"), In, compartment(Side::Back))],
        ),
        (
            "put the butter at the back in the top drawer of the cabinet and close it",
            vec![
                place(side(Side::Back, "butter"), In, drawer(Level::Top, "cabinet")),
                Goal::Close(drawer(Level::Top, "cabinet")),
            ],
        ),
        (
            "stack the left bowl on the right bowl and place them in the tray",
            vec![
                place(side(Side::Left, "bowl"), On, side(Side::Right, "bowl")),
                place(side(Side::Right, "bowl"), In, thing("tray")),
            ],
        ),
        (
            "close the top drawer of the cabinet and put the black bowl on top of it",
            vec![
                Goal::Close(drawer(Level::Top, "cabinet")),
                place(thing("black bowl"), On, thing("cabinet")),
            ],
        ),
    ];
    for (instruction, expected) in cases {
        assert_eq!(parse(instruction).as_ref(), Ok(expected), "{instruction:?}");
    }
}

#[test]
fn the_words_to_look_for_are_those_that_were_said() {
    let first = |instruction: &str| match parse(instruction).unwrap().remove(0) {
        Goal::Place { object, place, .. } => (object.to_string(), place.to_string()),
        other => panic!("{other}"),
    };
    assert_eq!(
        first("pick the bowl between plate and the ramekin and place it on the left plate"),
        ("bowl between the plate and the ramekin".to_owned(), "left plate".to_owned()),
    );
    assert_eq!(
        first("pick the bowl not on the stove and put it in the lower drawer"),
        ("bowl not on the stove".to_owned(), "bottom drawer of the cabinet".to_owned()),
    );
}

#[test]
fn what_is_not_understood_is_said() {
    let error = |instruction: &str| parse(instruction).unwrap_err();
    assert_eq!(error("  "), NotUnderstood::Empty);
    assert_eq!(error("juggle the plates"), NotUnderstood::Verb("juggle".to_owned()));
    assert_eq!(error("close it"), NotUnderstood::Pronoun("it".to_owned()));
    for half in [
        "pick up the bowl",
        "put the bowl",
        "put the bowl on",
        "put the bowl on the plate gracefully and",
        "turn the stove",
        "put the bowl between the plate",
        "pick the bowl not and place it on the plate",
        "open the",
        "bitte stelle die Schale auf den Teller",
        "\u{1F916} \u{0} on on on",
    ] {
        assert!(parse(half).is_err(), "{half:?} was understood as {:?}", parse(half));
    }
}

/// Whatever is said, there is an answer, and soon.
#[test]
fn any_words_in_any_order_are_answered() {
    let words: Vec<&str> = instructions().flat_map(|(_, text)| text.split(' ')).collect();
    arbtest::arbtest(|u| {
        let count = u.int_in_range(0..=30)?;
        let mut said = Vec::new();
        for _ in 0..count {
            said.push(*u.choose(&words)?);
        }
        if let Ok(goals) = parse(&said.join(" ")) {
            assert!(!goals.is_empty() && goals.iter().all(|goal| !goal.to_string().is_empty()));
        }
        Ok(())
    });
    let long = "and the bowl ".repeat(20_000);
    assert!(parse(&long).is_err());
}
