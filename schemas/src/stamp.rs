/// What every frame carries in its metadata, next to the payload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Id of the run: one start of a dataflow.
    pub run: String,
    /// Episode within the run, from 0. `-1` before the first reset.
    pub episode: i64,
    /// Counts the frames one node has sent on one topic, from 0.
    pub seq: u64,
    /// Topic whose schema the payload has.
    pub schema: String,
    /// Version of that schema.
    pub schema_version: u32,
}

impl Stamp {
    pub const RUN: &'static str = "run";
    pub const EPISODE: &'static str = "episode";
    pub const SEQ: &'static str = "seq";
    pub const SCHEMA: &'static str = "schema";
    pub const SCHEMA_VERSION: &'static str = "schema_version";
}
