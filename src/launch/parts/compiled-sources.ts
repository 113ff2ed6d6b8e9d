import path from 'node:path'

/**
 * The variables with which one of Roost's own parts keeps what Node compiled of its sources, below this
 * directory. Reading and compiling them is most of a start, which takes about half of the time with these
 * files. Nobody but the part's user may write there, because the part runs what the files hold. A source has
 * one file, which is replaced when the source changes. The part calls `flushCompileCache` to write them: at
 * its end, when Node would do so, it may be killed.
 */
export function compiledIn(directory: string): Readonly<Record<string, string>> {
  return { NODE_COMPILE_CACHE: path.join(directory, 'compiled') }
}
