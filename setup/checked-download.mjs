import { createHash } from 'node:crypto'

/**
 * How long set-up waits for a connection and for a whole download, so that a site that does not answer does
 * not delay it for long. The largest archive is about 60 MB.
 */
const connectLimitMs = 5_000
const downloadLimitMs = 180_000

/**
 * Fetches the bytes at `url`. Throws if they do not have this SHA-256, so that a file which somebody
 * replaced is never unpacked or run. Also throws if no digest is known.
 */
export async function fetchChecked(url, sha256) {
  if (sha256 === undefined) throw new Error(`no digest is known for ${url}`)
  const bytes = await fetchBytes(url)
  const found = createHash('sha256').update(bytes).digest('hex')
  if (found !== sha256) throw new Error(`${url} has the SHA-256 ${found}, but ${sha256} is expected`)
  return bytes
}

async function fetchBytes(url) {
  const stop = new AbortController()
  const connecting = setTimeout(() => stop.abort(new Error('no answer')), connectLimitMs)
  try {
    const answer = await fetch(url, {
      signal: AbortSignal.any([stop.signal, AbortSignal.timeout(downloadLimitMs)]),
    })
    if (!answer.ok) throw new Error(`status ${answer.status}`)
    clearTimeout(connecting)
    return Buffer.from(await answer.arrayBuffer())
  } finally {
    clearTimeout(connecting)
  }
}
