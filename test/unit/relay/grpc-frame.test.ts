import assert from 'node:assert/strict'
import fc from 'fast-check'
import { framed, FrameReader } from '../../../src/relay/grpc-frame.ts'
import { GrpcCode, GrpcStatus, invalid, statusFields } from '../../../src/relay/grpc-status.ts'

const limitBytes = 1_000

function read(pieces: readonly Uint8Array[], reserve = () => true): Buffer | GrpcStatus {
  const reader = new FrameReader({ limitBytes, reserve })
  for (const piece of pieces) {
    const status = reader.push(Buffer.from(piece))
    if (status !== undefined) return status
  }
  return reader.end()
}

function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].toSorted((a, b) => a - b)
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}

describe('a message of gRPC', () => {
  it('is read the same in whatever pieces it comes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: limitBytes }), fc.array(fc.nat()), (message, places) => {
        assert.deepEqual(read(cut(framed(message), places)), Buffer.from(message))
      }),
    )
  })

  it('is refused if anything is missing or too much, in whatever pieces it comes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 50 }), fc.array(fc.nat()), fc.nat(), (message, places, size) => {
        const whole = framed(message)
        const short = read(cut(whole.subarray(0, size % whole.length), places))
        const long = read(cut(Buffer.concat([whole, Buffer.alloc(1)]), places))
        for (const status of [short, long]) {
          assert.ok(status instanceof GrpcStatus)
          assert.equal(status.code, GrpcCode.InvalidArgument)
        }
      }),
    )
  })

  it('is refused by its length alone, before any memory is taken for it', () => {
    const asked: number[] = []
    const reserve = (bytes?: number): boolean => asked.push(bytes ?? 0) < 0
    const large = read([Buffer.from([0, 0, 0, 3, 0xe9])], reserve)
    assert.ok(large instanceof GrpcStatus)
    assert.match(large.message, /larger than max \(1001 vs\. 1000\)/)
    assert.deepEqual(asked, [])
    const refused = read([Buffer.from([0, 0, 0, 3, 0xe8])], reserve)
    assert.ok(refused instanceof GrpcStatus)
    assert.equal(refused.code, GrpcCode.ResourceExhausted)
    assert.deepEqual(asked, [1_000])
  })

  it('is followed by a text in which only printable characters stand for themselves', () => {
    assert.deepEqual(statusFields(invalid('100 % “ä”\n')), {
      'grpc-status': '3',
      'grpc-message': '100 %25 %E2%80%9C%C3%A4%E2%80%9D%0A',
    })
  })
})
