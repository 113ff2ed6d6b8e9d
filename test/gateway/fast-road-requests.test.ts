import assert from 'node:assert/strict'
import fc from 'fast-check'
import { defaultHttpLimits } from '../../src/gateway/http/http-limits.ts'
import { readCertainHead } from '../../src/gateway/http/http1/request-reader.ts'
import type { CertainHead } from '../../src/gateway/http/http1/request-reader.ts'
import { requestsFrom } from '../support/http-grammar.ts'
import { NodeParser } from '../support/node-parser.ts'
import { Tape, explained, fuzzRuns, fuzzTimeoutMs, tapes } from '../support/tape.ts'

/** Small limits, so that short heads reach them. */
const limits = { ...defaultHttpLimits, maxHeaderBytes: 700, maxHeaderCount: 40, maxTargetBytes: 90 }

/** One parser of Node for all cases: a new one would cost more than what it reads. */
const node = new NodeParser('requests', limits.maxHeaderBytes)

/**
 * Has Node read a request that the fast road takes, as the next one of the connection. Node gets it in
 * pieces that end before and after the last byte of the head and of the body. That shows that both end
 * exactly there.
 */
function readAlike({ head, keepsAlive, end }: CertainHead, bytes: Buffer): void {
  const { messages, completeCount: before } = node
  const count = messages.length
  const body = head.bodyBytes ?? 0
  assert.equal(node.feed(bytes.subarray(0, end - 1)), undefined)
  assert.equal(messages.length, count, 'Node ends the head earlier')
  assert.equal(node.feed(bytes.subarray(end - 1, end)), undefined)
  const message = messages[count]
  assert.ok(message !== undefined, 'Node does not end the head here')
  assert.deepEqual(
    {
      method: message.method,
      target: message.target,
      fields: message.fields,
      keepsAlive: message.keepsAlive,
    },
    { method: head.method, target: head.target, fields: head.fields, keepsAlive },
  )
  assert.equal(message.upgrades, false)
  if (body > 0) {
    const last = end + body - 1
    assert.equal(node.feed(bytes.subarray(end, last)), undefined)
    assert.equal(node.completeCount, before, 'Node ends the body earlier')
    if (last >= bytes.length) return
    assert.equal(node.feed(bytes.subarray(last, last + 1)), undefined)
    assert.equal(message.body, bytes.toString('latin1', end, last + 1))
  }
  assert.equal(node.completeCount, before + 1, 'Node does not end the request here')
  assert.equal(messages.length, count + 1)
}

/** What is read of a part of the bytes must agree with what is read of all of them. */
function readInPieces(bytes: Buffer, cut: number): void {
  const whole = readCertainHead(bytes, limits)
  const part = readCertainHead(bytes.subarray(0, cut), limits)
  if (typeof whole === 'string') {
    assert.equal(typeof part, 'string', 'the first piece is taken, the whole is not')
    if (whole === 'incomplete') assert.equal(part, 'incomplete')
  } else if (cut < whole.end) assert.equal(part, 'incomplete')
  else assert.deepEqual(part, whole)
}

/** Reads all that the fast road takes of the bytes of a connection. Returns how many requests that is. */
function takenOf(bytes: Buffer, tape: Tape): number {
  let rest = bytes
  node.begin()
  for (let count = 0; ; count += 1) {
    if (rest.length === 0) return count
    readInPieces(rest, 1 + tape.below(rest.length))
    const found = readCertainHead(rest, limits)
    if (typeof found === 'string') return count
    readAlike(found, rest)
    if (!found.keepsAlive) return count + 1
    rest = rest.subarray(found.end + (found.head.bodyBytes ?? 0))
  }
}

describe('the fast road', () => {
  it('reads whatever it takes as Node does, and leaves the rest', function () {
    this.timeout(fuzzTimeoutMs)
    const { numRuns = 0, ...settings } = fuzzRuns(200_000)
    let taken = 0
    let left = 0
    let later = 0
    fc.assert(
      fc.property(tapes, (choices) => {
        const tape = new Tape(choices)
        const bytes = requestsFrom(tape)
        const count = explained(bytes, () => takenOf(bytes, tape))
        if (count === 0) left += 1
        else taken += 1
        later += Math.max(0, count - 1)
      }),
      { numRuns, ...settings },
    )
    const share = (count: number): string => `${Math.round((count / (taken + left)) * 100)} %`
    const shares = `taken ${share(taken)}, left ${share(left)}, later ones taken ${share(later)}`
    if (fuzzTimeoutMs === 0) console.log(`      ${shares}`)
    assert.ok(taken > numRuns / 5 && left > numRuns / 5 && later > numRuns / 10, shares)
  })

  it('takes a head of the largest size also if the last bytes of its end come later', () => {
    const line = 'GET / HTTP/1.1\r\nHost: app.test\r\nX: '
    const bytes = Buffer.from(`${line.padEnd(limits.maxHeaderBytes, 'x')}\r\n\r\n`)
    for (let cut = 1; cut <= bytes.length; cut += 1) readInPieces(bytes, cut)
    assert.notEqual(typeof readCertainHead(bytes, limits), 'string')
    const larger = Buffer.from(`${line.padEnd(limits.maxHeaderBytes + 1, 'x')}\r\n\r\n`)
    assert.equal(readCertainHead(larger, limits), 'uncertain')
  })
})
