# What tests run with if everything is built with a sanitizer: lit.cfg.py loads
# it, and the nested suite of googletest/, which may run without the other.

# Sanitizers take address space without end: tests leave that unlimited. What takes
# minutes under them is shorter.
config.environment["HEDDLE_SANITIZED"] = config.heddle_sanitize

# What LLVM fills is not what ASan has seen it fill, and what its threads share is
# not what TSan has seen them lock. LLVM replaces a thread's signal stack, which ASan
# would unmap when the thread ends. Tests of kernels start the linker once threads
# run.
config.environment["ASAN_OPTIONS"] = (
    "allow_user_poisoning=0:detect_container_overflow=0:"
    "detect_odr_violation=0:use_sigaltstack=0:exitcode=99"
)
config.environment["UBSAN_OPTIONS"] = "print_stacktrace=1:exitcode=99"
config.environment[
    "TSAN_OPTIONS"
] = "ignore_noninstrumented_modules=1:die_after_fork=0:exitcode=99"
