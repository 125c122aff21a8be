//! How an agent acts: the beginning of the system prompt.

use std::fmt::Write as _;
use std::time::Duration;

use ruaflow_robots::{Feedback, Images, RobotApi};

use crate::rules::{Arm, Rules};

pub(crate) fn contract(api: &RobotApi, rules: &Rules) -> String {
    match rules.arm {
        Arm::Cells => cells(api, rules),
        Arm::Program => program(api, rules),
        Arm::SingleShot => single_shot(),
        Arm::Tools => by_tools(rules),
    }
}

fn cells(api: &RobotApi, rules: &Rules) -> String {
    let mut text = String::from(
        "# Working in cells\n\nYou control a robot by writing Python. Each `python` call runs a \
         cell at once beside the live robot, in one namespace for the whole episode: variables, \
         functions and imports stay. A motion call blocks and returns what was measured. No model \
         runs inside a cell, so put into it what code can decide (loops, checks, retries), and end \
         it where you want to look or think.\n\n",
    );
    text.push_str(
        "- There already: `robo`, `np` (numpy), `math`, `time`, `log` (= `print`), \
         `display(image)` (array or PIL image), `help(x)`, `finish(status, summary)`.\n",
    );
    imports(&mut text, api, rules);
    feedback(&mut text, rules, "the value of the last expression");
    limits(&mut text, rules, "A cell");
    text.push_str(
        "- The benchmark alone judges. Once `robo.done` is True, stop. Otherwise end with \
         `finish(\"success\" | \"failure\" | \"stuck\", \"what happened\")`, in a cell or as a \
         tool.\n",
    );
    text
}

fn program(api: &RobotApi, rules: &Rules) -> String {
    let mut text = String::from(
        "# Working in programs\n\nYou control a robot by writing Python programs. Each \
         `run_program` call runs one complete file beside the live robot: it defines \
         `run(robo)`, which is called once, and starts with an empty namespace. The scene and the \
         files of the workspace stay from one program to the next. A motion call blocks and \
         returns what was measured. No model runs inside a program, so put into it what code can \
         decide: loops, checks, retries.\n\n",
    );
    text.push_str(
        "- There already: `np` (numpy), `math`, `time`, `log` (= `print`), `display(image)` \
         (array or PIL image), `finish(status, summary)`.\n",
    );
    imports(&mut text, api, rules);
    feedback(&mut text, rules, "what `run` returned");
    limits(&mut text, rules, "A program");
    if let Some(most) = rules.max_programs {
        let _ = writeln!(text, "- You may run {most} program{} in all.", plural(most));
    }
    text.push_str(
        "- The benchmark alone judges. Once `robo.done` is True, stop. Otherwise end with \
         `finish(\"success\" | \"failure\" | \"stuck\", \"what happened\")`, in a program or as a \
         tool.\n",
    );
    text
}

fn single_shot() -> String {
    "# Writing one program\n\nYou control a robot by one Python program, which runs once beside \
     the live robot. You will not see what it does, so let it look, check and try again by itself. \
     Reply with one complete file in a single fenced block of Python: it defines `run(robo)`, \
     which is called once. A motion call blocks and returns what was measured.\n\n- Importable: \
     the standard modules that only compute, `numpy` and `PIL`. There is no network and no other \
     process.\n- Objects' poses are never given: look for them with `robo`'s methods.\n- The \
     benchmark alone judges. Once `robo.done` is True, return.\n"
        .to_owned()
}

fn by_tools(rules: &Rules) -> String {
    let mut text = String::from(
        "# Working with tools\n\nYou control a robot by calling tools, one method of the robot \
         each. A motion call blocks and returns what was measured. Numbers are plain: where the \
         text below says `robo.NAME`, give its value.\n\n",
    );
    let pictures = match rules.images {
        Images::OnMotion => ", and the cameras' pictures",
        Images::OnDemand | Images::None => "",
    };
    let _ = writeln!(
        text,
        "- You get back, as JSON: the call's result or its error; after a motion also the robot's \
         state{pictures}. Objects' poses are never given: look for them."
    );
    if rules.images == Images::OnDemand {
        text.push_str("- You see a picture when you call `show`.\n");
    }
    text.push_str(
        "- Calls in one reply run in order; when one fails, those after it are not run. There is \
         no reset.\n- The benchmark alone judges. End with `finish` when the task is done or you \
         are stuck.\n",
    );
    text
}

fn imports(text: &mut String, api: &RobotApi, rules: &Rules) {
    let names: Vec<&str> = ruaflow_robots::guides(api.name).iter().map(|(name, _)| *name).collect();
    let guides = if rules.guides && !names.is_empty() {
        format!(" (`guides/` there says more of the robot: {})", names.join(", "))
    } else {
        String::new()
    };
    let _ = writeln!(
        text,
        "- Importable: the standard modules that only compute, and `PIL` (`Image`, `ImageDraw`, \
         `ImageOps`). `open()` and `import` reach the episode's workspace folder and nothing \
         else{guides}; there is no network and no other process."
    );
}

fn feedback(text: &mut String, rules: &Rules, value: &str) {
    let calls = match rules.feedback {
        Feedback::Pure => "",
        Feedback::Rich => ", the calls made with their outcomes and the robot's state",
    };
    let pictures = match rules.images {
        Images::OnDemand => "the pictures that `robo.show()` and `display()` asked for",
        Images::OnMotion => {
            "every camera's picture after a motion, and those that `robo.show()` and `display()` \
             asked for"
        }
        Images::None => "the pictures given to `display()`; no camera's by itself",
    };
    let _ = writeln!(
        text,
        "- You get back: what was printed (8,000 characters at most, the middle is cut), {value}, \
         a traceback if it failed{calls}, and {pictures}. Objects' poses are never given: look for \
         them."
    );
}

fn limits(text: &mut String, rules: &Rules, what: &str) {
    let deadline = match rules.cell_timeout {
        Some(time) => format!("a deadline of {}", seconds(time)),
        None => "a deadline".to_owned(),
    };
    let lost = match rules.arm {
        Arm::Cells => "; if its process had to be killed, you are told that your names are gone",
        _ => "",
    };
    let _ = writeln!(
        text,
        "- {what} has {deadline} and a memory limit. One that hangs is stopped{lost}. The scene \
         stays as it is. There is no reset."
    );
}

pub(crate) fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

pub(crate) fn plural(count: u32) -> &'static str {
    if count == 1 { "" } else { "s" }
}
