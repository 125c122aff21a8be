//! Files as others read them.
#![allow(clippy::unwrap_used)]

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use openh264::decoder::Decoder;
use openh264::formats::YUVSource as _;
use ruaflow_video::{Mp4Video, VideoError, join};

const SIZE: [u32; 2] = [96, 64];

/// A bright square that moves to the right over a slope.
fn picture(step: usize) -> Vec<u8> {
    let [width, height] = SIZE.map(|side| side as usize);
    let mut rgb = Vec::new();
    for row in 0..height {
        for col in 0..width {
            let inside = (20..36).contains(&row) && (4 * step..4 * step + 16).contains(&col);
            rgb.extend(if inside { [220, 180, 40] } else { [40, (2 * col) as u8, 90] });
        }
    }
    rgb
}

fn write(path: &Path, pictures: usize, rate: f64) {
    let mut video = Mp4Video::create(path, SIZE, rate).unwrap();
    for step in 0..pictures {
        video.push(&picture(step)).unwrap();
    }
    assert_eq!(video.finish().unwrap(), pictures as u64);
}

fn open(path: &Path) -> mp4::Mp4Reader<BufReader<File>> {
    let bytes = std::fs::metadata(path).unwrap().len();
    mp4::Mp4Reader::read_header(BufReader::new(File::open(path).unwrap()), bytes).unwrap()
}

#[test]
fn a_video_holds_its_pictures_at_their_times() {
    let tmp = tempfile::tempdir().unwrap();
    let path = tmp.path().join("a.mp4");
    write(&path, 15, 12.5);
    let mut file = open(&path);
    let track = &file.tracks()[&1];
    assert_eq!((u32::from(track.width()), u32::from(track.height())), (SIZE[0], SIZE[1]));
    assert_eq!((track.sample_count(), track.timescale()), (15, 12_500));
    assert!((file.duration().as_secs_f64() - 15.0 / 12.5).abs() < 2e-3);

    let mut stream = Vec::new();
    for set in [track.sequence_parameter_set().unwrap(), track.picture_parameter_set().unwrap()] {
        stream.extend([0, 0, 0, 1]);
        stream.extend(set);
    }
    let mut decoder = Decoder::new().unwrap();
    decoder.decode(&stream).unwrap();
    for step in 0..15 {
        let sample = file.read_sample(1, step as u32 + 1).unwrap().unwrap();
        assert_eq!((sample.start_time, sample.duration), (1000 * step as u64, 1000));
        assert_eq!(sample.is_sync, step == 0, "picture {step}");
        let mut stream = Vec::new();
        let mut rest = &sample.bytes[..];
        while let Some((length, after)) = rest.split_first_chunk::<4>() {
            let (unit, after) = after.split_at(u32::from_be_bytes(*length) as usize);
            stream.extend([0, 0, 0, 1]);
            stream.extend(unit);
            rest = after;
        }
        let decoded = decoder.decode(&stream).unwrap().unwrap();
        let mut rgb = vec![0; 3 * (SIZE[0] * SIZE[1]) as usize];
        decoded.write_rgb8(&mut rgb);
        let off: f64 =
            rgb.iter().zip(picture(step)).map(|(a, b)| f64::from(a.abs_diff(b))).sum::<f64>()
                / rgb.len() as f64;
        assert!(off < 8.0, "picture {step} is {off:.1} off");
        assert_eq!(decoded.dimensions(), (SIZE[0] as usize, SIZE[1] as usize));
    }
}

#[test]
fn the_same_pictures_give_the_same_file() {
    let tmp = tempfile::tempdir().unwrap();
    let (a, b) = (tmp.path().join("a.mp4"), tmp.path().join("b.mp4"));
    write(&a, 5, 20.0);
    write(&b, 5, 20.0);
    assert!(std::fs::read(a).unwrap() == std::fs::read(b).unwrap());
}

#[test]
fn an_unfinished_video_leaves_nothing() {
    let tmp = tempfile::tempdir().unwrap();
    let path = tmp.path().join("a.mp4");
    let mut video = Mp4Video::create(&path, SIZE, 20.0).unwrap();
    video.push(&picture(0)).unwrap();
    drop(video);
    let empty = Mp4Video::create(&path, SIZE, 20.0).unwrap().finish();
    assert!(matches!(empty, Err(VideoError::Empty)));
    assert_eq!(std::fs::read_dir(tmp.path()).unwrap().count(), 0);
}

#[test]
fn what_cannot_be_a_video_is_refused() {
    let tmp = tempfile::tempdir().unwrap();
    let path = tmp.path().join("a.mp4");
    for size in [[95, 64], [96, 8], [4096, 64]] {
        let refused = Mp4Video::create(&path, size, 20.0).err().unwrap();
        assert!(matches!(refused, VideoError::Size { .. }), "{refused}");
    }
    for rate in [0.0, -1.0, f64::NAN, 1e9] {
        let refused = Mp4Video::create(&path, SIZE, rate).err().unwrap();
        assert!(matches!(refused, VideoError::Rate(_)), "{refused}");
    }
    let mut video = Mp4Video::create(&path, SIZE, 20.0).unwrap();
    let refused = video.push(&[0; 10]).unwrap_err();
    assert!(matches!(refused, VideoError::Picture { found: 10, .. }), "{refused}");
    let nowhere = Mp4Video::create(&tmp.path().join("x/a.mp4"), SIZE, 20.0).err().unwrap();
    assert!(nowhere.to_string().contains("a.mp4"), "{nowhere}");
}

#[test]
fn videos_of_one_kind_become_one() {
    let tmp = tempfile::tempdir().unwrap();
    let paths: Vec<_> = ["a.mp4", "b.mp4"].map(|name| tmp.path().join(name)).to_vec();
    write(&paths[0], 7, 10.0);
    write(&paths[1], 3, 10.0);
    let out = tmp.path().join("both.mp4");
    assert_eq!(join(&paths, &out).unwrap(), 10);
    let mut both = open(&out);
    assert_eq!(both.tracks()[&1].sample_count(), 10);
    for (path, offset) in paths.iter().zip([0, 7]) {
        let mut part = open(path);
        for number in 1..=part.tracks()[&1].sample_count() {
            let expected = part.read_sample(1, number).unwrap().unwrap();
            let found = both.read_sample(1, number + offset).unwrap().unwrap();
            assert_eq!(found.start_time, expected.start_time + 1000 * u64::from(offset));
            assert!(found.bytes == expected.bytes && found.is_sync == expected.is_sync);
        }
    }

    write(&paths[1], 3, 20.0);
    let refused = join(&paths, &out).unwrap_err();
    assert!(matches!(&refused, VideoError::Different(path) if *path == paths[1]), "{refused}");
    std::fs::write(&paths[1], "no video").unwrap();
    assert!(matches!(join(&paths, &out), Err(VideoError::Read { .. })));
    assert!(matches!(join(&[], &out), Err(VideoError::Empty)));
    assert_eq!(open(&out).tracks()[&1].sample_count(), 10, "what was there stays");
    assert_eq!(std::fs::read_dir(tmp.path()).unwrap().count(), 3);
}

#[test]
fn seek_points_come_as_often_as_asked() {
    let tmp = tempfile::tempdir().unwrap();
    let path = tmp.path().join("a.mp4");
    let mut video = Mp4Video::with_seek_points(&path, SIZE, 10.0, 2).unwrap();
    for step in 0..6 {
        video.push(&picture(step)).unwrap();
    }
    video.finish().unwrap();
    let mut file = open(&path);
    let sync: Vec<bool> =
        (1..=6).map(|number| file.read_sample(1, number).unwrap().unwrap().is_sync).collect();
    assert_eq!(sync, [true, false, true, false, true, false]);
}
