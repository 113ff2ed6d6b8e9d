/** How the guest's C is compiled; `guest/build.mjs` has the same. */
export const languageFlags = ['-std=c11', '-D_GNU_SOURCE', '-Wall', '-Wextra', '-Werror']

/**
 * For GCC with its own C library, because that of the guest has no sanitizers. A finding ends the program
 * with a report on standard error.
 */
export const sanitizerFlags = ['-O1', '-g', '-fsanitize=address,undefined', '-fno-sanitize-recover=all']

/** A finding has an exit code that no program has. Memory that a short program does not give back is none. */
export const sanitizerEnvironment = {
  ASAN_OPTIONS: 'exitcode=99:detect_leaks=0',
  UBSAN_OPTIONS: 'exitcode=99:print_stacktrace=1',
}

export const sanitizerReport = /Sanitizer|runtime error/
