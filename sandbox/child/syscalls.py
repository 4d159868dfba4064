"""The system calls that a worker may make once a program runs in it: a filter for the kernel (seccomp).

The list holds what Python needs to compute, to start threads, to read its library and to talk on the descriptors that
it has. Whatever else is asked for fails with EPERM: another process, another program, a socket, a trace of someone
else. The filter is made here, in the parent, through the system's libseccomp; the worker gets it as bytes and needs no
library to put it on.
"""

# ruff: noqa: SIM905 - word lists read better than quoted ones

from __future__ import annotations

import errno
import fcntl
import functools
import os
import termios

__all__ = ["system_call_filter"]

_ALLOWED = """
    read readv pread64 write writev lseek close close_range dup fstat newfstatat stat lstat statx statfs
    fstatfs access faccessat faccessat2 readlink readlinkat getcwd getdents64 umask
    mmap munmap mprotect mremap madvise brk membarrier mincore
    poll ppoll select pselect6 recvfrom recvmsg sendto sendmsg shutdown eventfd2 pipe2
    futex futex_waitv set_robust_list get_robust_list rseq set_tid_address sched_yield sched_getaffinity
    rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending sigaltstack restart_syscall
    clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time times setitimer getitimer alarm
    getpid getppid gettid getuid geteuid getgid getegid getpgrp getpgid getsid getrusage getcpu uname sysinfo getrandom
    capget exit exit_group
""".split()
_CLONE_THREAD = 0x10000
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_SET_NAME = 15  # prctl: how Python names its threads
_ANY_COMMAND = 0xFFFFFFFF
"""The bits of a command that the kernel looks at."""
_FCNTL = (fcntl.F_DUPFD, fcntl.F_DUPFD_CLOEXEC, fcntl.F_GETFD, fcntl.F_SETFD, fcntl.F_GETFL)
_IOCTL = ("FIONBIO", "FIONREAD", "FIOCLEX", "FIONCLEX", "TCGETS", "TIOCGWINSZ")  # by name: macOS has not all of them
"""Commands on descriptors that Python uses. Others have the kernel signal a process of one's choice (F_SETOWN,
F_SETSIG, FIOSETOWN), or type on a terminal (TIOCSTI)."""


@functools.cache
def system_call_filter() -> tuple[bytes, str]:
    """The filter as a BPF program, and why there is none; one of the two is empty."""
    try:
        import pyseccomp as seccomp
    except (ImportError, OSError, RuntimeError) as error:
        return b"", f"libseccomp cannot be loaded: {error}"
    try:
        rules = seccomp.SyscallFilter(seccomp.ERRNO(errno.EPERM))
        for name in _ALLOWED:
            if seccomp.resolve_syscall(seccomp.Arch.NATIVE, name) >= 0:
                rules.add_rule(seccomp.ALLOW, name)
        for call, commands in (("fcntl", _FCNTL), ("ioctl", [getattr(termios, name) for name in _IOCTL])):
            for command in commands:
                rules.add_rule(seccomp.ALLOW, call, seccomp.Arg(1, seccomp.MASKED_EQ, _ANY_COMMAND, command))
        rules.add_rule(
            seccomp.ALLOW,
            "fcntl",
            seccomp.Arg(1, seccomp.MASKED_EQ, _ANY_COMMAND, fcntl.F_SETFL),
            seccomp.Arg(2, seccomp.MASKED_EQ, fcntl.FASYNC, 0),  # it would have signals sent
        )
        rules.add_rule(seccomp.ALLOW, "openat", seccomp.Arg(2, seccomp.MASKED_EQ, _WRITES, 0))
        rules.add_rule(seccomp.ALLOW, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, _CLONE_THREAD, _CLONE_THREAD))
        # Its flags lie in memory, where no filter can see them; the C library then falls back on clone.
        rules.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")
        rules.add_rule(seccomp.ALLOW, "prctl", seccomp.Arg(0, seccomp.EQ, _SET_NAME))
        rules.add_rule(seccomp.ALLOW, "prlimit64", seccomp.Arg(0, seccomp.EQ, 0))  # its own, which can only go down
        descriptor = os.memfd_create("filter")
        with os.fdopen(descriptor, "w+b") as file:
            rules.export_bpf(file)
            file.seek(0)
            return file.read(), ""
    except (OSError, ValueError) as error:
        return b"", f"the filter cannot be made: {error}"
