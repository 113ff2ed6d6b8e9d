import path from 'node:path'
import { run } from './command.mjs'

const architecture = { x64: 'x86_64', arm64: 'aarch64' }[process.arch] ?? process.arch

/**
 * The library directories of packages that were extracted into `directory`, for LD_LIBRARY_PATH.
 * @param {string} directory
 */
export function libraryPath(directory) {
  return ['lib', 'usr/lib'].map((one) => path.join(directory, one, `${architecture}-linux-gnu`)).join(':')
}

/**
 * The libraries that a program below `directory` needs and that are neither below `directory` nor on the
 * machine.
 * @param {string} directory
 * @param {string} program
 * @returns {Promise<string[]>}
 */
export async function missingLibraries(directory, program) {
  const env = { LD_LIBRARY_PATH: libraryPath(directory), LC_ALL: 'C' }
  // ldd fails for a static program, which needs nothing.
  const lines = await run('ldd', [path.join(directory, program)], { env }).catch((error) => {
    if (/not a dynamic executable|statically linked/.test(error.message)) return ''
    throw error
  })
  return [...lines.matchAll(/^\s*(\S+) => not found$/gm)].map(([, name]) => name)
}
