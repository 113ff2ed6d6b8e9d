import assert from 'node:assert/strict'
import { parseLine } from '../../../src/launch/parts/part-log.ts'

describe("a line of a part's output", () => {
  it('is passed on as it is when the part wrote it with pino', () => {
    assert.equal(parseLine('{"level":30,"time":1,"msg":"hello"}'), 'pino')
  })

  it('keeps level and fields of a program that writes JSON of its own', () => {
    assert.deepEqual(parseLine('{"level":"WARN","ts":"now","msg":"slow","shard":3}'), {
      level: 'warn',
      message: 'slow',
      fields: { shard: 3 },
    })
  })

  const texts: readonly (readonly [string, string])[] = [
    ['2026-11-21 10:00:00 UTC [1] LOG:  checkpoint starting', 'debug'],
    ['2026-11-21 10:00:00 UTC [1] ERROR:  duplicate key', 'error'],
    ['2026-11-21 10:00:00 UTC [1] FATAL:  the database system is starting up', 'debug'],
    ['2026-11-21 10:00:00 UTC [1] FATAL:  could not write to the disk', 'error'],
    ['level=error msg="response completed with error" http.response.status=404', 'debug'],
    ['level=error msg="response completed with error" http.response.status=500', 'error'],
    ['time="2026-11-21" level=warning msg="slow"', 'warn'],
    ['    at Module.load (node:internal)', 'info'],
    ['{ not json', 'info'],
  ]
  for (const [line, level] of texts) {
    it(`has the level ${level}: ${line}`, () => {
      assert.deepEqual(parseLine(line), { level, message: line })
    })
  }
})
