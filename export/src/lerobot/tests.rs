use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use arrow::array::{AsArray as _, RecordBatch};
use arrow::datatypes::{Float64Type, Int64Type};
use serde_json::Value;

use super::columns::tests::episode;
use super::*;

const CAMERAS: [&str; 2] = ["agentview", "wrist"];
const SIZE: [u32; 2] = [48, 32];

fn recipe(fps: u32) -> Recipe {
    Recipe { fps, size: SIZE, cameras: CAMERAS.map(str::to_owned).to_vec() }
}

/// A picture whose light tells the control step.
fn picture(step: u64, camera: &str) -> Vec<u8> {
    let shade = (40 + 8 * step) as u8;
    let other = if camera == "wrist" { 200 } else { 20 };
    [shade, other, 128].repeat((SIZE[0] * SIZE[1]) as usize)
}

fn add(dataset: &mut Dataset, episode: &Episode) -> u64 {
    dataset.append(episode, |step, camera| Ok::<_, ExportError>(picture(step, camera))).unwrap()
}

fn episodes() -> Vec<Episode> {
    vec![episode("a", 11, "push"), episode("b", 7, "pull"), episode("c", 4, "push")]
}

/// Reads a dataset as LeRobot does, and fails unless it is whole; its number of episodes.
fn check_whole(dir: &Path) -> u64 {
    let read_json = |file: &str| -> Value {
        serde_json::from_str(&fs::read_to_string(dir.join(file)).unwrap()).unwrap()
    };
    let info = read_json("meta/info.json");
    let total = |name: &str| info[name].as_u64().unwrap();
    let all = |folder: &str, ending: &str| -> Vec<PathBuf> {
        let mut files = Vec::new();
        for chunk in fs::read_dir(dir.join(folder)).unwrap() {
            for file in fs::read_dir(chunk.unwrap().path()).unwrap() {
                let path = file.unwrap().path();
                assert!(path.extension().is_some_and(|e| e == ending), "{path:?} is left over");
                files.push(path);
            }
        }
        files.sort();
        files
    };
    let tables = |folder: &str| -> Vec<RecordBatch> {
        all(folder, "parquet").iter().flat_map(|path| tables::read(path).unwrap()).collect()
    };
    let whole = |tables: &[RecordBatch], name: &str| -> Vec<i64> {
        let columns = tables.iter().map(|table| table.column_by_name(name).unwrap());
        columns.flat_map(|column| column.as_primitive::<Int64Type>().values().to_vec()).collect()
    };

    let (rows, episodes) = (tables("data"), tables("meta/episodes"));
    let expected: Vec<i64> = (0..total("total_frames") as i64).collect();
    assert_eq!(whole(&rows, "index"), expected);
    let lengths = whole(&episodes, "length");
    assert_eq!(lengths.len() as u64, total("total_episodes"));
    assert_eq!(lengths.iter().sum::<i64>() as u64, total("total_frames"));
    for (from, to, length) in whole(&episodes, "dataset_from_index")
        .into_iter()
        .zip(whole(&episodes, "dataset_to_index"))
        .zip(&lengths)
        .map(|((from, to), length)| (from, to, *length))
    {
        assert_eq!(to - from, length);
    }
    let stats = read_json("meta/stats.json");
    assert_eq!(stats["action"]["count"][0].as_u64(), Some(total("total_frames")));

    for camera in CAMERAS {
        let videos = all(&format!("videos/observation.images.{camera}"), "mp4");
        let pictures: u64 = videos.iter().map(|path| pictures_in(path)).sum();
        assert_eq!(pictures, total("total_frames"));
        let seconds = |name: &str| -> Vec<f64> {
            let name = format!("videos/observation.images.{camera}/{name}");
            let columns = episodes.iter().map(|table| table.column_by_name(&name).unwrap());
            columns
                .flat_map(|column| column.as_primitive::<Float64Type>().values().to_vec())
                .collect()
        };
        let (from, to) = (seconds("from_timestamp"), seconds("to_timestamp"));
        let fps = info["fps"].as_f64().unwrap();
        for ((from, to), length) in from.iter().zip(&to).zip(&lengths) {
            assert!(((to - from) * fps - *length as f64).abs() < 1e-6);
        }
    }
    total("total_episodes")
}

fn pictures_in(path: &Path) -> u64 {
    let file = fs::File::open(path).unwrap();
    let bytes = file.metadata().unwrap().len();
    let video = mp4::Mp4Reader::read_header(BufReader::new(file), bytes).unwrap();
    u64::from(video.sample_count(1).unwrap())
}

#[test]
fn several_runs_become_one_dataset_whole_after_each_episode() {
    let tmp = tempfile::tempdir().unwrap();
    let dir = tmp.path().join("set");
    let mut dataset = Dataset::open(&dir, recipe(20), false).unwrap();
    let mut rows = 0;
    for (at, episode) in episodes().iter().enumerate() {
        assert!(!dataset.holds(&episode.source));
        rows += add(&mut dataset, episode);
        assert_eq!(check_whole(&dir), at as u64 + 1);
    }
    assert_eq!((rows, dataset.rows()), (22, 22));
    dataset.pack().unwrap();
    assert_eq!(check_whole(&dir), 3);
    drop(dataset);
    assert!(dir.join("data/chunk-000/file-000.parquet").exists());
    assert!(!dir.join("data/chunk-000/file-001.parquet").exists());
    assert_eq!(fs::read_dir(tmp.path()).unwrap().count(), 1, "nothing lies beside it");
    read_by_pyarrow(&dir);
}

/// What pyarrow finds, as LeRobot would through it and pandas.
fn read_by_pyarrow(dir: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(root.join("../.venv/bin/python"))
        .arg(root.join("tests/read.py"))
        .arg(dir)
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["rows"], 22);
    assert_eq!(found["row_groups"], 3);
    assert_eq!(found["task_index"], serde_json::json!(["task"]));
    assert_eq!(found["tasks"], serde_json::json!(["push", "pull"]));
    assert_eq!(found["episode_tasks"], serde_json::json!([["push"], ["pull"], ["push"]]));
    assert_eq!(found["types"]["action"], "fixed_size_list<item: float>[7]");
    assert_eq!(found["types"]["timestamp"], "float");
    assert_eq!(found["types"]["next.done"], "bool");
    assert_eq!(found["undescribed"], serde_json::json!([]));
    assert_eq!(found["without_stats"], serde_json::json!([]));
    assert_eq!(found["image_stats"], serde_json::json!([3, 1, 1]));
}

#[test]
fn an_error_in_the_middle_of_an_episode_leaves_those_before() {
    let tmp = tempfile::tempdir().unwrap();
    let dir = tmp.path().join("set");
    let all = episodes();
    let mut dataset = Dataset::open(&dir, recipe(10), false).unwrap();
    let refused = dataset.append(&all[0], |step, camera| match step {
        4 => Err(all[0].refused("no picture")),
        _ => Ok(picture(step, camera)),
    });
    assert!(refused.unwrap_err().to_string().contains("no picture"));
    assert!(!dir.exists(), "there is no dataset without an episode");
    add(&mut dataset, &all[0]);
    let refused = dataset.append(&all[1], |_, _| Ok::<_, ExportError>(vec![0; 5]));
    assert!(matches!(refused, Err(ExportError::Video(_))));
    assert_eq!(check_whole(&dir), 1);
    add(&mut dataset, &all[1]);
    assert_eq!(check_whole(&dir), 2);
}

#[test]
fn a_dataset_goes_on_where_it_was_left_and_only_with_the_same_recipe() {
    let tmp = tempfile::tempdir().unwrap();
    let dir = tmp.path().join("set");
    let all = episodes();
    let mut dataset = Dataset::open(&dir, recipe(10), false).unwrap();
    add(&mut dataset, &all[0]);
    add(&mut dataset, &all[1]);
    dataset.pack().unwrap();
    drop(dataset);

    let refused = Dataset::open(&dir, recipe(10), false).err().unwrap().to_string();
    assert!(refused.contains("2 episodes") && refused.contains("--resume"), "{refused}");
    let refused = Dataset::open(&dir, recipe(20), true).err().unwrap().to_string();
    assert!(refused.contains("a rate of 10, not 20"), "{refused}");

    let mut dataset = Dataset::open(&dir, recipe(10), true).unwrap();
    assert!(dataset.holds(&all[1].source) && !dataset.holds(&all[2].source));
    let mut other = episode("d", 5, "push");
    other.card.robot = "template".to_owned();
    let nothing = |_: u64, _: &str| Ok::<Vec<u8>, ExportError>(Vec::new());
    let refused = dataset.append(&other, nothing).unwrap_err().to_string();
    assert!(refused.contains("the robot libero, not template"), "{refused}");
    add(&mut dataset, &all[2]);
    dataset.pack().unwrap();
    assert_eq!(check_whole(&dir), 3);

    let at_once = tmp.path().join("at_once");
    let mut dataset = Dataset::open(&at_once, recipe(10), false).unwrap();
    for episode in &all {
        add(&mut dataset, episode);
    }
    dataset.pack().unwrap();
    let info = |dir: &Path| fs::read(dir.join("meta/info.json")).unwrap();
    assert!(info(&dir) == info(&at_once));
    let rows = |dir: &Path| tables::read(&dir.join("data/chunk-000/file-000.parquet")).unwrap();
    assert!(rows(&dir) == rows(&at_once));
    let mean = |dir: &Path| {
        let text = fs::read_to_string(dir.join("meta/stats.json")).unwrap();
        let stats: Value = serde_json::from_str(&text).unwrap();
        stats["observation.state"]["mean"][0].as_f64().unwrap()
    };
    assert!((mean(&dir) - mean(&at_once)).abs() < 1e-12);
}

#[test]
fn somebody_elses_folder_is_left_alone() {
    let tmp = tempfile::tempdir().unwrap();
    let dir = tmp.path().join("set");
    fs::create_dir_all(dir.join("meta")).unwrap();
    fs::write(dir.join("meta/info.json"), "{}").unwrap();
    for resume in [false, true] {
        let refused = Dataset::open(&dir, recipe(20), resume).err().unwrap();
        assert!(matches!(refused, ExportError::Foreign { .. }), "{refused}");
    }
    assert_eq!(fs::read_dir(tmp.path()).unwrap().count(), 1);
    let file = tmp.path().join("file");
    fs::write(&file, "x").unwrap();
    assert!(Dataset::open(&file, recipe(20), false).is_err());
    assert!(Dataset::open(&file.join("set"), recipe(20), false).is_err());
}

#[test]
fn a_dataset_without_cameras_has_its_rows() {
    let tmp = tempfile::tempdir().unwrap();
    let dir = tmp.path().join("set");
    let blind = Recipe { cameras: Vec::new(), ..recipe(20) };
    let mut dataset = Dataset::open(&dir, blind, false).unwrap();
    let unasked = |_: u64, _: &str| -> Result<Vec<u8>, ExportError> { unreachable!() };
    for episode in episodes() {
        dataset.append(&episode, unasked).unwrap();
    }
    dataset.pack().unwrap();
    assert!(!dir.join("videos").exists());
    let rows = tables::read(&dir.join("data/chunk-000/file-000.parquet")).unwrap();
    assert_eq!(rows.iter().map(RecordBatch::num_rows).sum::<usize>(), 22);
}

const CHILD: &str = "RUAFLOW_EXPORT_CHILD";

/// The process that the test below kills: it exports, and tells of each picture.
#[test]
fn child() {
    let Some(dir) = std::env::var_os(CHILD) else { return };
    let mut dataset = Dataset::open(Path::new(&dir), recipe(20), true).unwrap();
    for number in 0..12 {
        let episode = episode(&format!("r{number}"), 5, "push");
        if dataset.holds(&episode.source) {
            continue;
        }
        let told = dataset.append(&episode, |step, camera| {
            println!("picture");
            Ok::<_, ExportError>(picture(step, camera))
        });
        told.unwrap();
        if number % 3 == 2 {
            dataset.pack().unwrap();
        }
    }
}

#[test]
fn a_kill_at_any_moment_leaves_a_whole_dataset() {
    let tmp = tempfile::tempdir().unwrap();
    let dir = tmp.path().join("set");
    let mut kills = 0;
    // A different moment each time: after so many pictures.
    for pictures in (1..).map(|round: usize| 3 + round * 7 % 23) {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "lerobot::tests::child", "--nocapture"])
            .env(CHILD, &dir)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let told = BufReader::new(child.stdout.take().unwrap());
        let lines = told.lines().map_while(Result::ok);
        let seen = lines.filter(|line| line.contains("picture")).take(pictures).count();
        if seen < pictures {
            assert!(child.wait().unwrap().success());
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        if dir.exists() {
            check_whole(&dir);
        }
    }
    assert!(kills > 3, "{kills}");
    assert_eq!(check_whole(&dir), 12);
    assert_eq!(fs::read_dir(tmp.path()).unwrap().count(), 1, "the last one has cleared up");
}
