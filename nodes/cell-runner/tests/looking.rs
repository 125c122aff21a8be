//! The methods that look, with a made-up robot and perception node.
#![allow(clippy::unwrap_used)]

mod common;

use std::time::Duration;

use common::seeing::Flow;
use ruaflow_robots::Primitives;
use ruaflow_schemas::{Bytes, Segment, SegmentInstance};

/// A mask of a square in the high picture.
fn square(rows: std::ops::Range<usize>, cols: std::ops::Range<usize>) -> Vec<u8> {
    let inside = |at: usize| rows.contains(&(at / 1024)) && cols.contains(&(at % 1024));
    (0..1024 * 1024).map(|at| u8::from(inside(at))).collect()
}

fn seen(score: f64, mask: Vec<u8>) -> SegmentInstance {
    SegmentInstance { label: "box".to_owned(), score, mask: Bytes(mask) }
}

#[test]
fn a_point_is_where_the_camera_saw_it() {
    let mut flow = Flow::new();
    // The middle of the picture is below the camera, the box is at -x and +y.
    let printed = flow.stdout(
        "p = robo.back_project(512, 512)\n\
         print(p.world_xyz, p.pixel, p.camera, p.resolution, p.step, p.image_size)\n\
         print(robo.back_project(96, 96, resolution='low', camera='wrist').world_xyz)\n\
         print(robo.back_project(10, 20, resolution=(200, 100)).image_size)",
    );
    assert_eq!(
        printed,
        "(0.0005, -0.0005, 0.0) (512, 512) agentview high 0 (1024, 1024)\n\
         (-0.0923, 0.0923, 0.25)\n(100, 200)\n"
    );
    let asked: Vec<_> =
        flow.looks.iter().map(|l| (l.camera.as_str(), l.width, l.height, l.depth)).collect();
    assert_eq!(
        asked,
        [("agentview", 1024, 1024, true), ("wrist", 256, 256, true), ("agentview", 200, 100, true)]
    );
    assert_eq!(
        flow.error("robo.back_project(1024, 0)"),
        "ToolError: back_project: pixel (1024, 0) is outside the picture of 1024 rows and 1024 columns"
    );
    assert_eq!(
        flow.error("robo.back_project(0, 0)"),
        "ToolError: back_project: no depth at pixel (0, 0); try one beside it"
    );
    assert_eq!(flow.looks.len(), 3, "the same picture is asked for once");
}

#[test]
fn pictures_and_points_are_arrays_of_the_cell() {
    let mut flow = Flow::new();
    let printed = flow.stdout(
        "img = robo.image(resolution=64)\n\
         print(img.shape, img.dtype, img[20, 20].tolist(), img[40, 40].tolist())\n\
         w = robo.world_map('wrist', resolution=(48, 32))\n\
         print(w.shape, w.dtype, np.isnan(w[0, 0]).all(), w[10, 15].tolist(), float(w[30, 40, 2]))\n\
         w[:] = 0\n\
         again = robo.world_map('wrist', resolution=(48, 32))\n\
         print(float(again[10, 15, 2]))\n\
         p = robo.back_project(10, 15, camera='wrist', resolution=(48, 32)).world_xyz\n\
         print(np.allclose(again[10, 15], p, atol=1e-4))",
    );
    assert_eq!(
        printed,
        "(64, 64, 3) uint8 [200, 40, 40] [90, 90, 0]\n\
         (32, 48, 3) float32 True [-0.1328125, 0.12890625, 0.25] 0.0\n\
         0.25\nTrue\n"
    );
    let result = flow.run(
        "robo.release()\n\
         print(robo.image(resolution=64)[40, 40].tolist(), robo.image(resolution=64, step=0)[40, 40].tolist())",
    );
    assert_eq!(result.stdout, "[90, 90, 7] [90, 90, 0]\n", "{}", result.error);
    let outcomes: Vec<&str> = result.ledger.iter().map(|e| e.outcome.as_str()).collect();
    assert_eq!(outcomes[1], r#"{"arrays":[{"dtype":"uint8","shape":[64,64,3]}]}"#);
}

#[test]
fn files_are_made_when_somebody_asks() {
    let mut flow = Flow::new();
    let instances = vec![seen(0.8, square(300..301, 300..320))];
    flow.found = Some(Segment { instances, ..Segment::default() });
    let printed = flow.stdout(
        "import json\n\
         for name in ('agentview.png', 'wrist_high.png', 'agentview_policy.png'):\n\
        \x20   print(robo.artifact(name)[:8])\n\
         for name in ('wrist_depth.npz', 'wrist_world.npz', 'agentview_world_high.npz'):\n\
        \x20   print(robo.artifact(name)[:4], len(robo.artifact(name)) // 1000)\n\
         print(json.loads(robo.artifact('wrist_metadata.json'))['width'])\n\
         name = robo.segment('the box').overlay_artifact\n\
         print(robo.artifact(name)[:4], json.loads(robo.artifact('segment_00.json'))['score'])\n\
         print(len(robo.artifact(name)) > len(robo.artifact('agentview_high.png')))",
    );
    assert_eq!(
        printed,
        "b'\\x89PNG\\r\\n\\x1a\\n'\nb'\\x89PNG\\r\\n\\x1a\\n'\nb'\\x89PNG\\r\\n\\x1a\\n'\n\
         b'PK\\x03\\x04' 262\nb'PK\\x03\\x04' 786\nb'PK\\x03\\x04' 12583\n256\n\
         b'\\x89PNG' 0.8\nTrue\n"
    );
}

#[test]
fn a_region_has_a_middle_and_a_median() {
    let mut flow = Flow::new();
    // Half of the window is on the box; its z band leaves the box alone. Ranges
    // may be given the wrong way round and reach beyond the picture.
    let printed = flow.stdout(
        "r = robo.region_center((64, 96), (192, 64), resolution='low', z_min=0.1)\n\
         print(r.center_xyz, r.median_xyz, r.n_valid, r.camera, r.step)\n\
         print(robo.region_center((-50, 16), (0, 16), resolution='low', z_max=0.1).n_valid)",
    );
    assert_eq!(printed, "(-0.0938, 0.1406, 0.25) (-0.0938, 0.1406, 0.25) 2048 agentview 0\n255\n");
    assert_eq!(
        flow.error("robo.region_center((0, 2), (0, 4), resolution='low')"),
        "ToolError: region_center: only 7 pixels of the window have a point in the z band, at \
         least 8 are needed; widen the window or the band"
    );
    assert_eq!(
        flow.error("robo.region_center((5, 5), (0, 4))"),
        "ToolError: region_center: the window is empty: rows [5, 5], columns [0, 4]"
    );
}

#[test]
fn calibrations_and_files_have_the_references_names() {
    let mut flow = Flow::new();
    let printed = flow.stdout(
        "m = robo.camera_meta('wrist')\n\
         print(sorted(m), m['height'], m['intrinsic_K'][0], m['extrinsic_cam2world'][2], m['depth_far'])",
    );
    assert_eq!(
        printed,
        "['camera_name', 'depth_far', 'depth_near', 'extrinsic_cam2world', 'height', \
         'intrinsic_K', 'width'] 256 (256.0, 0.0, 128.0) (0.0, 0.0, -1.0, 1.0) 50.0\n"
    );
    assert!(flow.error("robo.artifact('states.json')").starts_with(
        "ToolError: artifact: there is no file \"states.json\"; files of a camera: agentview.png,"
    ),);
}

#[test]
fn earlier_steps_can_be_looked_at() {
    let mut flow = Flow::new();
    let result = flow.run(
        "robo.release(); robo.release()\n\
         print([robo.back_project(3, 3, resolution='low', step=k).step for k in (0, 1, 2, -1)])",
    );
    assert_eq!((result.stdout.as_str(), result.error.as_str()), ("[0, 1, 2, 2]\n", ""));
    let steps: Vec<i64> = flow.looks.iter().map(|look| look.control_step).collect();
    assert_eq!(steps, [0, 7, 14]);
    assert_eq!(
        flow.error("robo.image(step=3)"),
        "ValueError: image(): there is no step 3; steps are 0 to 2, -1 is the latest"
    );
    assert_eq!(
        flow.error("robo.image('top')"),
        "ValueError: image(): camera must be \"agentview\" or \"wrist\", got str \"top\""
    );
}

#[test]
fn what_a_cell_shows_goes_with_its_result() {
    let mut flow = Flow::new();
    let result = flow.run(
        "robo.show(); robo.show('agentview')\n\
         robo.show('wrist', size=(64, 48), crop=(10, 0, 30, 99))\n\
         robo.release()\n\
         robo.show()",
    );
    assert_eq!(result.error, "");
    let shown: Vec<_> = result
        .images
        .iter()
        .map(|p| (p.name.as_str(), p.camera.as_str(), p.control_step, p.width, p.height))
        .collect();
    assert_eq!(
        shown,
        [
            ("agentview", "agentview", 0, 1024, 1024),
            ("wrist [10:30, 0:64]", "wrist", 0, 64, 20),
            ("agentview", "agentview", 7, 1024, 1024),
        ]
    );
    let crop = image_codec::decode(&result.images[1].png.0).unwrap();
    assert_eq!(crop.pixels[..3], [90, 90, 0]);
    // Row 12 of the picture is where the box begins.
    assert_eq!(crop.pixels[(2 * 64 + 16) * 3..][..3], [200, 40, 40]);

    assert_eq!(
        flow.error("robo.show(size=64, crop=(5, 5, 5, 9))"),
        "ValueError: show(): crop [5, 5, 5, 9] leaves nothing of a picture of 64 rows and 64 columns"
    );
    assert_eq!(
        flow.error("for side in range(1, 99): robo.show(size=side)"),
        "ToolError: show: a cell shows 16 pictures at most"
    );
}

#[test]
fn a_robot_that_sends_no_pictures_is_named() {
    let mut flow = Flow::with(Primitives::Full, Duration::from_millis(100), &["libero"]);
    flow.pictures = false;
    let result = flow.run("robo.show()\nrobo.camera_meta()");
    let silent = "node \"libero\" sent no picture within 0.1 s";
    assert!(result.error.ends_with(&format!("ToolError: camera_meta: {silent}\n")));
    assert!(result.images.is_empty());
    assert_eq!(result.stderr, format!("(no picture of agentview: {silent})\n"));

    flow.runner.on_gone("libero").unwrap();
    assert_eq!(
        flow.error("robo.back_project(1, 1)"),
        "ToolError: back_project: node \"libero\" has died"
    );
    let mut blind = Flow::with(Primitives::Full, Duration::from_secs(30), &[]);
    assert!(
        blind
            .error("robo.show()")
            .starts_with("ToolError: show: this dataflow brings no pictures to the cell runner")
    );
}

#[test]
fn segment_measures_the_mask_it_is_given() {
    let mut flow = Flow::new();
    let instances = vec![seen(0.8, square(300..320, 300..320))];
    flow.found = Some(Segment { instances, ..Segment::default() });
    let printed = flow.stdout(
        "s = robo.segment('the red box')\n\
         print(s.found, s.world_xyz, s.score, s.box, s.camera, s.step, s.overlay_artifact, s.error)\n\
         print(s.label, s.extent, s.pixels, s.seen, s.reason, s.others)\n\
         print(s.mask.shape, s.mask.dtype, int(s.mask.sum()), bool(s.mask[310, 310]))\n\
         w = robo.world_map()[s.mask]\n\
         print(w.shape, [round(v, 4) for v in np.median(w, axis=0).tolist()])\n\
         print(robo.segment(point=(310, 310), min_score=0.9).error)\n\
         print(robo.segment('the red box').overlay_artifact)",
    );
    assert_eq!(
        printed,
        "True (-0.1479, 0.1479, 0.25) 0.8 (300.0, 300.0, 320.0, 320.0) agentview 0 \
         segment_overlay_00.png None\n\
         box (0.0139, 0.0139, 0.0) 400 1.0 None ()\n\
         (1024, 1024) bool 400 True\n\
         (400, 3) [-0.1479, 0.1479, 0.25]\n\
         the best mask scores 0.80, below 0.9\nsegment_overlay_01.png\n"
    );
    let asked = &flow.segments[0];
    assert_eq!((asked.prompt.as_str(), asked.width, asked.point), ("the red box", 1024, None));
    assert_eq!((asked.top_k, asked.min_score, asked.depth.len()), (1, 0.2, 1024 * 1024));
    assert_eq!(flow.segments[1].point, Some([310, 310]));

    flow.found = Some(Segment::default());
    assert_eq!(
        flow.stdout(
            "s = robo.segment('a unicorn'); print(s.found, s.world_xyz, s.score, s.error, s.mask)"
        ),
        "False None None no mask None\n"
    );
    let reason = "2 \"box\" found, none on the plate".to_owned();
    flow.found = Some(Segment { reason: reason.clone(), ..Segment::default() });
    assert_eq!(flow.stdout("print(robo.segment('the box on the plate').error)"), reason + "\n");
}

#[test]
fn several_things_are_told_with_a_mask_each() {
    let mut flow = Flow::new();
    let things = [(0.9, 300..320), (0.7, 700..720), (0.1, 900..910)];
    let instances = things.map(|(score, rows)| seen(score, square(rows, 300..320)));
    let reason = "left: y = -0.20, +0.15 m (of 2)".to_owned();
    flow.found = Some(Segment { instances: instances.to_vec(), reason, ..Segment::default() });
    let printed = flow.stdout(
        "s = robo.segment('the left box', top_k=5)\n\
         print(s.reason, len(s.others))\n\
         other = s.others[0]\n\
         print(type(other).__name__, other.score, other.world_xyz, other.overlay_artifact)\n\
         print(bool(s.mask[310, 310]), bool(s.mask[710, 310]), bool(other.mask[710, 310]))\n\
         print(other == s.others[0], s == s, 'mask' in repr(s), 'SegmentInstance(' in repr(s))\n\
         print(robo.artifact(other.overlay_artifact)[:4])",
    );
    assert_eq!(
        printed,
        "left: y = -0.20, +0.15 m (of 2) 1\n\
         SegmentInstance 0.7 (-0.1973, -0.1934, 0.0) segment_overlay_01.png\n\
         True False True\n\
         True True False True\n\
         b'\\x89PNG'\n"
    );
    assert_eq!(flow.segments[0].top_k, 5);
    let result = flow.run("robo.segment('the left box', resolution=256)");
    assert_eq!(flow.segments[1].width, 256);
    let wrong = "ToolError: segment: its mask has 1048576 bytes for a picture of 65536 pixels";
    assert!(result.error.trim_end().ends_with(wrong), "{}", result.error);
}

#[test]
fn what_segment_can_not_be_asked_is_refused() {
    let mut flow = Flow::new();
    flow.found = Some(Segment { error: "out of memory".to_owned(), ..Segment::default() });
    assert_eq!(flow.error("robo.segment('x')"), "ToolError: segment: out of memory");
    for (code, error) in [
        ("robo.segment(point=(1024, 0))", "segment(): point [1024,0] is outside the picture"),
        ("robo.segment('x', point=(1, 1))", "segment() needs exactly one of prompt and point"),
        ("robo.segment('  ')", "segment(): prompt is empty"),
        ("robo.segment('x', top_k=0)", "segment(): top_k must be greater than 0, got 0"),
        ("robo.segment('x', top_k=21)", "segment(): top_k must be 1 to 20, got 21"),
        ("robo.segment('x', min_score=2)", "segment(): min_score must be 0 to 1, got 2"),
        (
            "robo.segment('x', camera='ceiling')",
            "segment(): camera must be \"agentview\" or \"wrist\", got str \"ceiling\"",
        ),
    ] {
        assert_eq!(flow.error(code), format!("ValueError: {error}"), "{code}");
    }
}

#[test]
fn without_a_perception_node_segment_says_so() {
    let mut flow = Flow::with(Primitives::Full, Duration::from_secs(30), &["libero"]);
    let error = flow.error("robo.segment('the box')");
    assert!(
        error.starts_with("ToolError: segment: no perception node is configured in this run: add"),
        "{error}"
    );
    assert!(flow.looks.is_empty());
}

#[test]
fn a_hidden_skill_is_refused_whatever_it_is_called_with() {
    let mut flow = Flow::with(Primitives::NoVla, Duration::from_secs(30), &["libero"]);
    let result = flow.run(
        "for call in (lambda: robo.pi0_pick(), lambda: robo.pi0_doubled('x', y=1)):\n\
        \x20   try: call()\n\
        \x20   except RuntimeError as error: print(type(error).__name__, error)",
    );
    assert_eq!(
        result.stdout,
        "RuntimeError pi0_pick is not available in this run (no-VLA primitive set)\n\
         RuntimeError pi0_doubled is not available in this run (no-VLA primitive set)\n"
    );
    let listed: Vec<_> = result.ledger.iter().map(|e| (e.method.as_str(), e.ok)).collect();
    assert_eq!(listed, [("pi0_pick", false), ("pi0_doubled", false)]);
    assert!(flow.calls.is_empty());
    // In the full set it goes to the controller.
    let mut flow = Flow::new();
    flow.run("robo.pi0_doubled('open the drawer')");
    assert_eq!(flow.calls[0].arguments, r#"{"prompt":"open the drawer","max_chunks":20}"#);
}
