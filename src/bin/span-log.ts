import { pino } from 'pino'
import { onSpan } from '../primitives/spans.ts'

/** Writes every span of this part to its log, whatever the log's level, if `ROOST_SPANS` asks for that. */
export function logSpans({ spans }: { readonly spans: boolean }): void {
  if (!spans) return
  const log = pino({ level: 'info' })
  onSpan(({ name, ...span }) => log.info({ ...span, span: name }, 'span'))
}
