import { pino } from 'pino'
import type { Logger } from 'pino'
import { build as buildPretty } from 'pino-pretty'

/**
 * One log for the whole stack, on stderr: readable text on a terminal, JSON lines otherwise. Parts of Roost
 * write pino lines, which are passed on with the part's name. The lines of other programs are put into pino
 * lines, with the level that they seem to have.
 */
export interface StackLog {
  readonly log: Logger
  onLine(part: string, line: string): void
  /**
   * From now on logs the lines of other programs as `debug`. While a stack stops, these programs complain
   * about services that have ended, and that is expected.
   */
  quieten(): void
}

type Level = 'debug' | 'info' | 'warn' | 'error'

export function createStackLog({
  level,
  pretty,
}: {
  readonly level: string
  readonly pretty: boolean
}): StackLog {
  const destination = pretty
    ? buildPretty({ ignore: 'pid,hostname,part', messageFormat: '{part}: {msg}', destination: 2, sync: true })
    : pino.destination({ dest: 2, sync: true })
  const log = pino({ level, base: undefined }, destination).child({ part: 'stack' })
  const unnamed = pino({ level, base: undefined }, destination)
  let quiet = false
  return {
    log,
    quieten() {
      quiet = true
    },
    onLine(part, line) {
      if (line.trim() === '') return
      const parsed = parseLine(line)
      if (parsed === 'pino') destination.write(`{"part":${JSON.stringify(part)},${line.slice(1)}\n`)
      else unnamed[quiet ? 'debug' : parsed.level]({ part, ...parsed.fields }, parsed.message)
    },
  }
}

interface ForeignLine {
  readonly level: Level
  readonly message: string
  readonly fields?: Readonly<Record<string, unknown>>
}

/**
 * Finds out what a line is: a pino line of a Roost part, a JSON line of another program (Temporal), or text
 * (PostgreSQL, the registry).
 */
export function parseLine(line: string): 'pino' | ForeignLine {
  const json = line.startsWith('{') ? parseObject(line) : undefined
  if (json === undefined) return { level: levelOfText(line), message: line }
  if (typeof json['level'] === 'number' && typeof json['time'] === 'number') return 'pino'
  const { level, msg, ts: _ts, time: _time, ...fields } = json
  return { level: levelOfWord(String(level).toLowerCase()), message: String(msg), fields }
}

function parseObject(line: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line) as Record<string, unknown>
  } catch {
    return undefined
  }
}

/**
 * The level of a line of text. PostgreSQL writes `LOG:` for routine messages and `FATAL:` for a client that
 * it refused. The registry writes `level=warning`.
 */
function levelOfText(line: string): Level {
  // PostgreSQL writes this line because the supervisor asks whether it is ready yet.
  if (line.includes('the database system is starting up')) return 'debug'
  // Every push first asks for layers that do not exist yet, and the registry logs each such answer as an
  // error.
  if (line.includes('msg="response completed with error"') && /http\.response\.status=4\d\d/.test(line))
    return 'debug'
  const word = /\b(LOG|DETAIL|HINT|STATEMENT|NOTICE|WARNING|ERROR|FATAL|PANIC):/.exec(line)?.[1]
  return levelOfWord((word ?? /\blevel=(\w+)/.exec(line)?.[1] ?? 'info').toLowerCase())
}

function levelOfWord(word: string): Level {
  if (['log', 'detail', 'hint', 'statement', 'notice', 'debug', 'trace'].includes(word)) return 'debug'
  if (['warn', 'warning'].includes(word)) return 'warn'
  if (['error', 'fatal', 'panic', 'dpanic'].includes(word)) return 'error'
  return 'info'
}
