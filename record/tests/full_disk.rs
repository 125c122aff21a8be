//! A disk that fills up, played by the process's own file size limit; alone in
//! its process because that limit holds for all of it.

use std::fs;

use ruaflow_record::{RecordError, TopicReader, TopicWriter, stamped_batch};
use ruaflow_schemas::Cancel;

fn limit_file_size(bytes: u64) {
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: both calls only read their arguments.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &limit), 0);
    }
}

#[test]
fn what_was_written_before_the_disk_was_full_stays_readable() {
    let tmp = tempfile::tempdir().unwrap();
    let path = tmp.path().join("cancel.arrows");
    let batch =
        stamped_batch(0, 0, 0, &vec![Cancel { id: "x".repeat(100), reason: String::new() }; 10]);
    let mut writer = TopicWriter::create(&path, batch.schema()).unwrap();
    limit_file_size(20_000);
    let mut written = 0;
    let error = loop {
        match writer.append(&batch) {
            Ok(()) => written += 1,
            Err(error) => break error,
        }
        assert!(written < 1000, "the limit has no effect");
    };
    // Where the test's own output goes to a file, the limit would hold for that too.
    limit_file_size(libc::RLIM_INFINITY);
    assert!(matches!(&error, RecordError::DiskFull { dir } if dir == tmp.path()), "{error}");
    assert!(error.to_string().contains(tmp.path().to_str().unwrap()), "{error}");
    assert!(written > 3);
    assert_eq!(
        fs::metadata(&path).unwrap().len(),
        writer.bytes(),
        "the part of a batch was taken back"
    );
    let mut reader = TopicReader::open(&path).unwrap();
    let read = std::iter::from_fn(|| reader.next_batch().unwrap()).count();
    assert_eq!(read, written);
}
