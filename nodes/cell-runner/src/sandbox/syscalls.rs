//! A list of the system calls that the process may make; any other kills it.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, apply_filter_all_threads,
};

use super::NODE;

/// Standard error, where an allocation that fails and a panic leave their words.
const LAST_WORDS: i32 = 2;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

pub(super) fn restrict() -> Result<String, String> {
    let (polite, strict) = filters().map_err(|error| error.to_string())?;
    // The strict one does not allow a second.
    for filter in [polite, strict] {
        apply_filter_all_threads(&filter).map_err(|error| error.to_string())?;
    }
    Ok("any system call outside a short list kills the process".to_owned())
}

/// The kernel takes the strictest answer of the two.
fn filters() -> Result<(BpfProgram, BpfProgram), BackendError> {
    let arch = std::env::consts::ARCH.try_into()?;
    let polite = SeccompFilter::new(
        refused(),
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EACCES.unsigned_abs()),
        arch,
    )?;
    let mut rules = allowed()?;
    rules.extend(refused());
    let strict = SeccompFilter::new(rules, SeccompAction::KillProcess, SeccompAction::Allow, arch)?;
    Ok((polite.try_into()?, strict.try_into()?))
}

/// What libraries try in good faith (the C library looks for the time zone):
/// they are told that they may not.
fn refused() -> Rules {
    let mut calls = vec![
        libc::SYS_openat,
        libc::SYS_newfstatat,
        libc::SYS_statx,
        libc::SYS_readlinkat,
        libc::SYS_faccessat,
        libc::SYS_faccessat2,
        libc::SYS_getcwd,
        libc::SYS_ioctl,
        libc::SYS_fcntl,
    ];
    #[cfg(target_arch = "x86_64")]
    calls.extend([libc::SYS_open, libc::SYS_stat, libc::SYS_readlink, libc::SYS_access]);
    calls.into_iter().map(|call| (call, vec![])).collect()
}

/// Memory, waiting, time, and the way to the node.
fn allowed() -> Result<Rules, BackendError> {
    let always = [
        libc::SYS_brk,
        libc::SYS_clock_getres,
        libc::SYS_clock_gettime,
        libc::SYS_clock_nanosleep,
        libc::SYS_close,
        libc::SYS_exit,
        libc::SYS_exit_group,
        libc::SYS_fstat,
        libc::SYS_futex,
        libc::SYS_getpid,
        libc::SYS_getrandom,
        libc::SYS_gettid,
        libc::SYS_gettimeofday,
        libc::SYS_madvise,
        libc::SYS_mremap,
        libc::SYS_munmap,
        libc::SYS_nanosleep,
        libc::SYS_restart_syscall,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sched_getaffinity,
        libc::SYS_sched_yield,
        libc::SYS_sigaltstack,
    ];
    let mut rules: Rules = always.into_iter().map(|call| (call, vec![])).collect();
    let to_node = || argument(0, SeccompCmpOp::Eq, NODE);
    let last_words = || argument(0, SeccompCmpOp::Eq, LAST_WORDS);
    // Memory that the process wrote is never run.
    let not_executable =
        || argument(2, SeccompCmpOp::MaskedEq(libc::PROT_EXEC.unsigned_abs().into()), 0);
    let itself = std::process::id().cast_signed();
    for (call, rule) in [
        (libc::SYS_write, vec![to_node()?, last_words()?]),
        (libc::SYS_writev, vec![last_words()?]),
        (libc::SYS_sendto, vec![to_node()?]),
        (libc::SYS_recvmsg, vec![to_node()?]),
        (libc::SYS_mmap, vec![not_executable()?]),
        (libc::SYS_mprotect, vec![not_executable()?]),
        // An abort signals its own thread.
        (libc::SYS_tgkill, vec![argument(0, SeccompCmpOp::Eq, itself)?]),
    ] {
        rules.insert(call, rule);
    }
    Ok(rules)
}

fn argument(index: u8, op: SeccompCmpOp, value: i32) -> Result<SeccompRule, BackendError> {
    let value = u64::from(value.unsigned_abs());
    let condition = SeccompCondition::new(index, SeccompCmpArgLen::Dword, op, value)?;
    SeccompRule::new(vec![condition])
}
