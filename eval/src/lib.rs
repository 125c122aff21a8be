//! Many episodes: what a campaign has to play and has played, what runs of any of
//! the compared systems say, with intervals, scene by scene, and as a page.

mod campaign;
mod compare;
mod foreign;
mod plan;
mod read;
mod report;
mod stats;
mod summary;
mod text;
mod thumbnails;
mod trial;

pub use crate::campaign::{Batch, Campaign, CampaignError, Standing, batches};
pub use crate::compare::{Comparison, Difference, Unpaired, compare};
pub use crate::plan::{Catalog, Plan, PlanError, Player, Scene};
pub use crate::read::{Found, Problem, find};
pub use crate::report::{html, markdown};
pub use crate::stats::{Estimate, bootstrap_mean, mcnemar, mean, median, wilson};
pub use crate::summary::{Grouping, Summary, dimension, summarize};
pub use crate::text::{interval, number, percent, share, short};
pub use crate::trial::{Key, Numbers, Outcome, Spent, Trial};
