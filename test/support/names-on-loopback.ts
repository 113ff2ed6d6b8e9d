import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'

/**
 * Loaded into a program before anything else, by `--import`: names below `localhost` lead to this machine.
 * Most resolvers do the same, but not that of every machine that runs the tests.
 */
const { lookup } = dns
type Lookup = (name: string, ...rest: readonly unknown[]) => void
const onLoopback: Lookup = (name, ...rest) =>
  (lookup as unknown as Lookup)(name.endsWith('.localhost') ? '127.0.0.1' : name, ...rest)
dns.lookup = onLoopback as unknown as typeof dns.lookup
syncBuiltinESMExports()
