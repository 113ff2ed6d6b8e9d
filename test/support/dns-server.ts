import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { decode, encode } from 'dns-packet'
import type { Answer } from 'dns-packet'

/** A DNS server on loopback that answers what a test says. */
export interface DnsServer {
  /** The server as `<address>:<port>`, the form of the setting `ROOST_ACME_RESOLVER`. */
  readonly resolver: string
  /**
   * The answer to each question, under `<type> <name>`: the records, the response code of a failure, or
   * silence. A question without an entry is answered without records.
   */
  readonly answers: Map<string, readonly Answer[] | number | 'silence'>
  /** The questions, as `<type> <name>`. */
  readonly asked: string[]
  close(): Promise<void>
}

export async function startDnsServer(): Promise<DnsServer> {
  const answers: DnsServer['answers'] = new Map()
  const asked: string[] = []
  const server = createSocket('udp4').bind(0, '127.0.0.1')
  await once(server, 'listening')
  server.on('message', (message, { port, address }) => {
    const { id = 0, questions = [] } = decode(message)
    const question = `${questions[0]?.type} ${questions[0]?.name}`
    asked.push(question)
    const found = answers.get(question) ?? []
    if (found === 'silence') return
    const [records, code] = typeof found === 'number' ? [[], found] : [found, 0]
    server.send(
      encode({ type: 'response', id, questions, answers: [...records], flags: code }),
      port,
      address,
    )
  })
  return {
    resolver: `127.0.0.1:${server.address().port}`,
    answers,
    asked,
    async close() {
      const closed = once(server, 'close')
      server.close()
      await closed
    },
  }
}
