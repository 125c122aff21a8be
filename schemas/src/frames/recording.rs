//! Recorder → every node: what has arrived and what is missing.

use crate::frame::frame;

frame! {
    /// Recorder → a node: which of its numbered batches have arrived. The node forgets what is confirmed and sends again what is missing.
    topic "receipt" version 1
    pub struct Receipt / ReceiptRef {
        /// Node the receipt is for.
        node: String,
        /// All batches below this number have arrived.
        through: u64,
        /// Numbers of batches that should have arrived and have not.
        missing: Vec<u64>,
    }
}
