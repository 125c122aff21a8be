//! What each way of acting costs a model that decides the same: ten recorded episodes
//! are played again by a scripted model, and the tokens of every request are counted.
//!
//!     ./rua cargo run --release -p planner --example lean -- [EPISODES]
//!
//! The model's replies are scripted, and the robot's answers are those on record; the
//! model loop, the prompts, the cells and what an agent reads of them are real. Text is
//! counted by `o200k_base`, a picture by the provider's published rule. Input is the sum
//! over all requests, as a provider bills it; what a request shares with the one before
//! is billed as cached.

mod robot;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use eyre::{Context as _, Result, eyre};
use planner::{Backend as _, Control, Ending, Episode, Model, Setting};
use ruaflow_llm::testing::{Play, Server};
use ruaflow_llm::{Endpoint, Prices, Usage, Wire, image_tokens};
use ruaflow_prompt::{Arm, Budgets, Rules, tokens};
use ruaflow_record::{CallRecord, PartRecord, TurnLine, TurnRecord, read_turns};
use ruaflow_robots::{Default, Feedback, Images, RobotApi};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use self::robot::{Far, Recorded};

const EPISODES: &str = "tests/reference/episodes.jsonl";
const POLICY: &str = "take_and_put.py";
/// Whose prices and picture rule count.
const MODEL: &str = "gpt-5.5";
/// What a provider adds to each message, tokens.
const PER_MESSAGE: u64 = 3;
/// The reference system's prompt (contract, API reference, knowledge) and its two
/// tools, tokens; as its text was counted, see docs/planners.md.
const REFERENCE_PROMPT: u64 = 497 + 4351 + 1450;

/// A way of acting, with what is shown.
struct Way {
    name: &'static str,
    arm: Arm,
    feedback: Feedback,
    images: Images,
    /// Counts the reference's prompt in place of ours.
    as_reference: bool,
}

const fn ours(name: &'static str, arm: Arm, images: Images) -> Way {
    Way { name, arm, feedback: Feedback::Pure, images, as_reference: false }
}

const WAYS: [Way; 4] = [
    ours("`cells`, the default", Arm::Cells, Images::OnDemand),
    ours("`program`", Arm::Program, Images::OnDemand),
    ours("`tools`", Arm::Tools, Images::OnMotion),
    Way {
        name: "`cells` by the reference's protocol",
        arm: Arm::Cells,
        feedback: Feedback::Rich,
        images: Images::OnMotion,
        as_reference: true,
    },
];

/// An episode that was recorded.
#[derive(Deserialize)]
struct Episodes {
    policy: String,
    suite: String,
    task: u32,
    solved: bool,
    calls: Vec<Recorded>,
}

/// A call that the model makes.
#[derive(Clone)]
struct Move {
    method: String,
    arguments: String,
}

/// What one episode cost.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    calls: u64,
    replies: u64,
    pictures: u64,
    input: u64,
    cached: u64,
    output: u64,
    dollars: f64,
    solved: bool,
}

fn main() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let wanted = std::env::args().nth(1).map_or(Ok(10), |count| count.parse())?;
    let text = std::fs::read_to_string(root.join(EPISODES)).wrap_err(EPISODES)?;
    let episodes: Vec<Episodes> = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Episodes>(line).ok())
        .filter(|episode| episode.policy.ends_with(POLICY))
        .take(wanted)
        .collect();
    println!(
        "| way of acting | solved | tool calls | replies | pictures | input tokens | of it cached | output | dollars |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for way in &WAYS {
        let mut costs = Vec::new();
        for episode in &episodes {
            let cost = play(&root, way, episode)
                .wrap_err_with(|| format!("{} {} by {}", episode.suite, episode.task, way.name))?;
            if cost.solved != episode.solved {
                eprintln!(
                    "{} {} by {}: solved {}",
                    episode.suite, episode.task, way.name, cost.solved
                );
            }
            costs.push(cost);
        }
        println!("{}", row(way.name, &costs));
    }
    Ok(())
}

fn row(name: &str, costs: &[Cost]) -> String {
    let count = costs.len().max(1) as f64;
    let mean = |of: fn(&Cost) -> f64| costs.iter().map(of).sum::<f64>() / count;
    format!(
        "| {name} | {} of {} | {:.1} | {:.1} | {:.1} | {:.0} | {:.0} | {:.0} | {:.4} |",
        costs.iter().filter(|cost| cost.solved).count(),
        costs.len(),
        mean(|c| c.calls as f64),
        mean(|c| c.replies as f64),
        mean(|c| c.pictures as f64),
        mean(|c| c.input as f64),
        mean(|c| c.cached as f64),
        mean(|c| c.output as f64),
        mean(|c| c.dollars),
    )
}

fn play(root: &Path, way: &Way, recorded: &Episodes) -> Result<Cost> {
    let api = ruaflow_robots::find("libero")?;
    let moves: Vec<Move> = recorded
        .calls
        .iter()
        .map(|call| Move { method: call.method.clone(), arguments: call.arguments.clone() })
        .collect();
    let server = Server::start(script(api, way, &moves)?)?;
    let program = root.join("bin/cell-runner");
    let robot = Far::start(&program, way.feedback, way.images, &recorded.calls);
    let folder = tempfile::tempdir()?;
    let setting = Setting {
        number: 0,
        dir: folder.path().join("episodes/000"),
        card: robot::card(),
        rules: Arc::new(rules(way)),
        control: Control::default(),
    };
    let mut episode = Episode::new(setting, Box::new(robot)).map_err(|error| eyre!(error))?;
    let mut model = Model::new(Endpoint::new(Wire::Chat, &server.url(), MODEL), Prices::shipped());
    let ending = model.play(&mut episode).map_err(|error| eyre!(error))?;
    let mut cost = count(folder.path(), way)?;
    cost.solved = ending == Ending::Over;
    Ok(cost)
}

fn rules(way: &Way) -> Rules {
    Rules {
        arm: way.arm,
        feedback: way.feedback,
        images: way.images,
        cell_timeout: Some(Duration::from_secs(120)),
        budgets: Budgets { time: Some(Duration::from_secs(1200)), ..Budgets::default() },
        show_budgets: true,
        // As LIBERO's dataflow has it.
        perception: true,
        ..Rules::default()
    }
}

/// The replies that make the recorded moves: look, take, put.
fn script(api: &RobotApi, way: &Way, moves: &[Move]) -> Result<Vec<Play>> {
    let closed = moves.iter().position(|one| one.method == "set_gripper");
    let (take, put) = moves.split_at(closed.ok_or_else(|| eyre!("nothing is gripped"))? + 2);
    let measures = [json!({ "row": 520, "col": 540 }), json!({ "row": 600, "col": 640 })];
    let measure = |arguments: &Value| Move {
        method: "back_project".to_owned(),
        arguments: arguments.to_string(),
    };
    let state = Move { method: "state".to_owned(), arguments: "{}".to_owned() };
    let show = |camera: &str| Move {
        method: "show".to_owned(),
        arguments: json!({ "camera": camera }).to_string(),
    };
    let groups: [(&str, Vec<Move>); 4] = [
        ("look at the scene", vec![show("agentview")]),
        ("measure where it is and where it goes", measures.iter().map(measure).collect()),
        ("take it", [take, &[state.clone(), show("wrist")]].concat()),
        ("put it down", [put, &[state]].concat()),
    ];
    let groups = groups.into_iter();
    let finish =
        || Play::call("finish", json!({ "status": "success", "summary": "It is in its place." }));
    let mut script: Vec<Play> = match way.arm {
        Arm::Tools => groups
            .flat_map(|(_, moves)| moves)
            .map(|one| Ok(Play::call(&one.method, Value::Object(given(api, &one)?))))
            .collect::<Result<_>>()?,
        Arm::Program => {
            let (looking, acting): (Vec<_>, Vec<_>) = groups
                .partition(|(title, _)| !title.starts_with("take") && !title.starts_with("put"));
            let program = |groups: Vec<(&str, Vec<Move>)>| -> Result<Play> {
                let body: String = groups
                    .iter()
                    .map(|(title, moves)| code(api, title, moves))
                    .collect::<Result<Vec<_>>>()?
                    .concat();
                let body: String = body.lines().map(|line| format!("    {line}\n")).collect();
                Ok(Play::call("run_program", json!({ "code": format!("def run(robo):\n{body}") })))
            };
            vec![program(looking)?, program(acting)?]
        }
        _ => groups
            .map(|(title, moves)| {
                Ok(Play::call("python", json!({ "code": code(api, title, &moves)? })))
            })
            .collect::<Result<_>>()?,
    };
    script.push(finish());
    Ok(script)
}

/// Moves as an agent writes them: it prints what it wants to know.
fn code(api: &RobotApi, title: &str, moves: &[Move]) -> Result<String> {
    let mut text = format!("# {title}\n");
    for one in moves {
        let given: Vec<String> =
            given(api, one)?.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let call = format!("robo.{}({})", one.method, given.join(", "));
        text.push_str(&match one.method.as_str() {
            "move_to" => format!("m = {call}\nprint(m.reached, m.final_eef_pos)\n"),
            "back_project" => format!("print({call}.world_xyz)\n"),
            "state" => format!("s = {call}\nprint(s.eef_pos, s.gripper_opening, robo.done)\n"),
            _ => format!("{call}\n"),
        });
    }
    Ok(text)
}

/// The arguments that are not the method's defaults.
fn given(api: &RobotApi, one: &Move) -> Result<Map<String, Value>> {
    let method = api.method(&one.method).ok_or_else(|| eyre!("no method {}", one.method))?;
    let all: Map<String, Value> = serde_json::from_str(&one.arguments)?;
    let is_default = |name: &str, value: &Value| match method.param(name).map(|param| param.default)
    {
        Some(Default::None) => value.is_null(),
        Some(Default::Float(default)) => value.as_f64() == Some(default),
        Some(Default::Int(default)) => value.as_i64() == Some(default),
        Some(Default::Str(default)) => value.as_str() == Some(default),
        Some(Default::Required | Default::FirstCamera) | None => false,
    };
    Ok(all.into_iter().filter(|(name, value)| !is_default(name, value)).collect())
}

/// Counts what every request of a run sent.
fn count(run: &Path, way: &Way) -> Result<Cost> {
    let lines = read_turns(&run.join("episodes/000"))?;
    let calls: Vec<&CallRecord> = lines
        .iter()
        .filter_map(|line| if let TurnLine::Call(call) = line { Some(&**call) } else { None })
        .collect();
    let turns: Vec<&TurnRecord> = lines
        .iter()
        .filter_map(|line| if let TurnLine::Turn(turn) = line { Some(&**turn) } else { None })
        .collect();
    let mut cost = Cost { replies: turns.len() as u64, ..Cost::default() };
    cost.calls = calls.iter().filter(|call| call.tool != "finish").count() as u64;
    let prices = Prices::shipped();
    // Tokens and pictures of each message of a request, and the input of the one before.
    let mut talk: Vec<(u64, u64)> = Vec::new();
    let mut before = 0;
    for turn in &turns {
        let kept = |name: &Option<String>| -> Result<u64> {
            let Some(name) = name else { return Ok(0) };
            Ok(tokens(&std::fs::read_to_string(run.join("prompts").join(name))?) as u64)
        };
        let system = if way.as_reference { REFERENCE_PROMPT } else { kept(&turn.system)? };
        talk.truncate(turn.sent_from);
        for message in &turn.sent {
            let mut sum = (PER_MESSAGE, 0);
            for part in &message.parts {
                let (text, pictures) = size(part, &calls, &turns)?;
                sum = (sum.0 + text, sum.1 + pictures);
            }
            talk.push(sum);
        }
        cost.pictures = talk.iter().map(|message| message.1).sum();
        let input = system + kept(&turn.tools)? + talk.iter().map(|message| message.0).sum::<u64>();
        let output: u64 = turn.reply.iter().map(words).sum();
        let usage = Usage { input, cached: before, output, ..Usage::default() };
        cost.input += input;
        cost.cached += before;
        cost.output += output;
        cost.dollars += prices.price(MODEL, &usage).ok_or_else(|| eyre!("{MODEL} has no price"))?;
        before = input;
    }
    Ok(cost)
}

/// Tokens of a part, and how many pictures are in it.
fn size(part: &PartRecord, calls: &[&CallRecord], turns: &[&TurnRecord]) -> Result<(u64, u64)> {
    let picture = |part: &PartRecord| match part {
        PartRecord::Image { width, height, .. } => image_tokens(MODEL, *width, *height),
        _ => 0,
    };
    Ok(match part {
        PartRecord::Image { .. } => (picture(part), 1),
        PartRecord::Answer { call, .. } => {
            let call = calls
                .iter()
                .find(|one| one.call == *call)
                .ok_or_else(|| eyre!("no call {call}"))?;
            let pictures: u64 = call.images.iter().map(picture).sum();
            (tokens(&call.answer) as u64 + pictures, call.images.len() as u64)
        }
        PartRecord::Reply { turn } => {
            let turn = turns
                .iter()
                .find(|one| one.turn == *turn)
                .ok_or_else(|| eyre!("no turn {turn}"))?;
            (turn.reply.iter().map(words).sum(), 0)
        }
        other => (words(other), 0),
    })
}

/// Tokens of what was written.
fn words(part: &PartRecord) -> u64 {
    match part {
        PartRecord::Text { text } => tokens(text) as u64,
        PartRecord::Call { name, arguments, .. } => (tokens(name) + tokens(arguments)) as u64,
        _ => 0,
    }
}
