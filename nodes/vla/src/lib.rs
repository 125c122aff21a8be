//! Action chunks from a vision-language-action policy.
