//! What the mind does with what cells measured, against a world that is a list of answers.

#![allow(clippy::unwrap_used)]

use ruaflow_builtin::{Ending, Ran, World, solve};

/// Answers each cell by the first rule whose words it holds; all cells are kept.
struct Told<'a> {
    rules: Vec<(&'a str, &'a str)>,
    cells: Vec<String>,
    /// The world ends after a cell that holds this.
    end: &'a str,
}

impl<'a> Told<'a> {
    fn new(end: &'a str, rules: &[(&'a str, &'a str)]) -> Self {
        let mut rules = rules.to_vec();
        rules.extend([
            ("look", r#"{"found": true}"#),
            ("pick(", r#"{"held": true}"#),
            ("put(", r#"{"kept": true}"#),
            ("check(", r#"{"placed": true}"#),
            ("open_drawer(", r#"{"is_open": 0.15}"#),
            ("close_drawer(", r#"{"is_open": 0.0}"#),
            ("turn_knob(", r#"{"moved": 1.2}"#),
        ]);
        Told { rules, cells: Vec::new(), end }
    }

    /// The cells without the helpers.
    fn steps(&self) -> Vec<&str> {
        self.cells.iter().skip(1).map(String::as_str).collect()
    }
}

impl World for Told<'_> {
    type Over = &'static str;

    fn run(&mut self, code: &str, title: &str) -> Result<Ran, Self::Over> {
        assert!(!title.is_empty() && self.cells.len() < 200);
        self.cells.push(code.to_owned());
        let helpers = code.contains("def find_all(");
        if !helpers && !self.end.is_empty() && code.contains(self.end) {
            return Err("solved");
        }
        let answer = self.rules.iter().find(|(words, _)| !helpers && code.contains(words));
        let stdout = answer.map_or(String::new(), |(_, answer)| format!("measuring\n{answer}\n"));
        Ok(Ran { stdout, ..Ran::default() })
    }
}

#[test]
fn a_task_is_a_cell_for_each_step() {
    let mut world = Told::new("put(", &[]);
    let ended = solve("pick up the milk and place it in the basket", &mut world);
    assert_eq!(ended, Err("solved"));
    assert_eq!(
        world.steps(),
        [
            r#"look("object 0", "milk")"#,
            r#"look("place 0", "basket")"#,
            r#"pick("object 0", 0)"#,
            r#"put("place 0", "in")"#,
        ]
    );
}

#[test]
fn a_missed_grasp_is_followed_by_another_where_the_thing_is_now() {
    let missed = [(r#"pick("object 0", 0)"#, r#"{"held": false}"#)];
    let mut world = Told::new("put(", &missed);
    assert!(solve("put the bowl next to the stove on the plate", &mut world).is_err());
    assert_eq!(
        world.steps()[3..],
        [
            r#"look_again("object 0", "bowl")"#,
            r#"look_again("place 0", "plate")"#,
            r#"pick("object 0", 1)"#,
            r#"put("place 0", "on")"#,
        ]
    );
}

#[test]
fn words_that_find_nothing_are_said_more_simply_but_not_at_the_cost_of_the_wrong_thing() {
    let blind = [("\"object 0\"", r#"{"found": false, "why": "there are 2 of them"}"#)];
    let mut world = Told::new("", &blind);
    let ended = solve("pick the black bowl on the stove and place it on the plate", &mut world);
    assert_eq!(
        world.steps()[..3],
        [
            r#"look("object 0", "black bowl on the stove")"#,
            r#"look("object 0", "black bowl", alone=True)"#,
            r#"look("object 0", "bowl", alone=True)"#,
        ]
    );
    let Ok(Ending::GaveUp(why)) = ended else { panic!("{ended:?}") };
    assert!(why.contains("there are 2 of them") && !why.contains('\n'), "{why}");
}

#[test]
fn a_drawer_that_is_shut_is_opened_before_something_goes_into_it() {
    let shut = [("look_into(", r#"{"found": false, "why": "the top drawer is not open"}"#)];
    let mut world = Told::new("", &shut);
    assert!(matches!(solve("put the bowl in the top drawer", &mut world), Ok(Ending::GaveUp(_))));
    assert_eq!(
        world.steps()[1..4],
        [
            r#"look_into("place 0", "cabinet", "top")"#,
            r#"open_drawer("cabinet", "top", 0)"#,
            r#"look_into("place 0", "cabinet", "top")"#,
        ]
    );
}

#[test]
fn a_drawer_that_stays_shut_is_pulled_another_way() {
    let stuck = [(r#""top", 0)"#, r#"{"is_open": 0.01}"#)];
    let mut world = Told::new(r#""top", 1)"#, &stuck);
    assert!(solve("open the top drawer", &mut world).is_err());
    assert_eq!(
        world.steps(),
        [r#"open_drawer("cabinet", "top", 0)"#, r#"open_drawer("cabinet", "top", 1)"#]
    );
}

#[test]
fn two_of_a_kind_share_their_place() {
    let mut world = Told::new("share=1", &[]);
    assert!(solve("put both moka pots on the stove", &mut world).is_err());
    let steps = world.steps();
    assert_eq!(steps[0], r#"look("object 0", "moka pot not on the stove")"#);
    assert_eq!(steps[3], r#"put("place 0", "on", share=-1)"#);
    assert_eq!(steps.last(), Some(&r#"put("place 0", "on", share=1)"#));
}

#[test]
fn what_is_done_but_not_judged_so_is_done_once_more() {
    let mut world = Told::new("", &[]);
    let ended = solve("turn on the stove", &mut world);
    assert!(matches!(ended, Ok(Ending::Finished(_))), "{ended:?}");
    assert_eq!(world.steps(), [r#"turn_knob("stove", 1)"#; 2]);
}

#[test]
fn what_is_not_understood_runs_nothing() {
    let mut world = Told::new("", &[]);
    let Ok(Ending::GaveUp(why)) = solve("juggle the plates", &mut world) else { panic!() };
    assert!(why.contains("juggle"), "{why}");
    assert!(world.cells.is_empty());
}

/// Cells may print anything, or crash: there is an end to it.
#[test]
fn nonsense_from_cells_comes_to_an_end() {
    for nonsense in ["", "{", "[1, 2]", r#"{"found": "yes"}"#, "\u{0}\u{fffd}", "null"] {
        let mut world = Told::new("", &[("", nonsense)]);
        let ended = solve("open the top drawer and put the bowl inside", &mut world);
        assert!(matches!(ended, Ok(Ending::GaveUp(_))), "{nonsense:?}: {ended:?}");
    }
}
