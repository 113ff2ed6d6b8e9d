import { strict as assert } from 'node:assert'
import { randomBytes } from 'node:crypto'
import { newJoinSecret, readJoinToken, writeJoinToken } from '../../../src/trust/join-token.ts'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

describe('tokens with which machines join', () => {
  const whole = { secret: newJoinSecret(), fingerprint: randomBytes(32) }
  const token = writeJoinToken(whole)

  it('are read as they were written', () => {
    for (let round = 0; round < 200; round++) {
      const wanted = { secret: newJoinSecret(), fingerprint: randomBytes(32) }
      assert.deepEqual(readJoinToken(writeJoinToken(wanted)), wanted)
    }
  })

  it('are words of a command line and no options, whatever their bytes are', () => {
    const secret = Buffer.alloc(24, 0xf8).toString('base64url')
    assert.match(secret, /^-/)
    const wanted = { secret, fingerprint: randomBytes(32) }
    assert.match(writeJoinToken(wanted), /^[a-z]/)
    assert.deepEqual(readJoinToken(writeJoinToken(wanted)), wanted)
  })

  it('are never alike', () => {
    assert.equal(new Set(Array.from({ length: 1_000 }, () => newJoinSecret())).size, 1_000)
  })

  it('are refused if a part is missing, or something is added', () => {
    for (let start = 0; start < token.length; start++) {
      for (let end = start; end <= token.length; end++) {
        if (end - start === token.length) continue
        assert.equal(readJoinToken(token.slice(start, end)), undefined, `${start} to ${end}`)
      }
    }
    for (const text of [
      `${token}A`,
      `A${token}`,
      `${token} `,
      ` ${token}`,
      `${token}\n`,
      `${token}==`,
      token + token,
    ])
      assert.equal(readJoinToken(text), undefined, JSON.stringify(text))
  })

  it('are refused or are others if one character is another', () => {
    for (let place = 0; place < token.length; place++) {
      for (const character of `${alphabet}+/= ä`) {
        if (character === token[place]) continue
        const read = readJoinToken(token.slice(0, place) + character + token.slice(place + 1))
        if (read === undefined) continue
        assert.ok(alphabet.includes(character), `place ${place}: ${character}`)
        const isOther = read.secret !== whole.secret || !read.fingerprint.equals(whole.fingerprint)
        assert.ok(isOther, `place ${place}: ${character}`)
      }
    }
  })
})
