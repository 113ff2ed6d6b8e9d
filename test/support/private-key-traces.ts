import { createPrivateKey } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import type { Dirent } from 'node:fs'
import path from 'node:path'

/** The file in a stack's data directory with the routes that a gateway uses while the API is away. */
export const routesFile = 'gateway/routes.jsonl'

/**
 * Whether a file of a stack is left out of a search, or a folder, which is given with a final slash. The
 * files of instances and images have gigabytes, and the keys of certificates never get into them.
 */
export function holdsNoKeys(file: string): boolean {
  return /^(agent|registry)\//.test(file)
}

/**
 * Looks for private keys in places where none may be, in any form that a part of Roost or a library would
 * write.
 */
export class PrivateKeyTraces {
  readonly #forms: { readonly what: string; readonly bytes: Buffer }[] = []

  /** Adds a key to look for. Findings are reported under `name`. */
  add(name: string, pem: string): void {
    const key = createPrivateKey(pem)
    const types = key.asymmetricKeyType === 'rsa' ? ['pkcs8', 'pkcs1'] : ['pkcs8', 'sec1']
    for (const type of types) {
      const line = middleLine(key.export({ format: 'pem', type: type as never }).toString())
      this.#forms.push({ what: `${name}, a line of ${type}`, bytes: Buffer.from(line) })
    }
    const jwk = key.export({ format: 'jwk' })
    for (const part of ['d', 'p'] as const) {
      const text = jwk[part]
      if (typeof text !== 'string') continue
      const raw = Buffer.from(text, 'base64url')
      this.#forms.push({ what: `${name}, ${part} as bytes`, bytes: raw })
      for (const encoding of ['base64url', 'base64', 'hex'] as const) {
        const bytes = Buffer.from(raw.toString(encoding))
        this.#forms.push({ what: `${name}, ${part} in ${encoding}`, bytes })
      }
    }
  }

  /** The traces of the keys in a content. */
  in(place: string, content: Buffer | string): readonly string[] {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content
    return this.#forms.filter((form) => bytes.includes(form.bytes)).map(({ what }) => `${place}: ${what}`)
  }

  /** The same for every file below a directory, except for the files and folders that are left out. */
  inFiles(directory: string, isLeftOut: (place: string) => boolean): readonly string[] {
    const tracesBelow = (folder: string): readonly string[] =>
      entriesOf(folder).flatMap((entry) => {
        const file = path.join(folder, entry.name)
        const place = path.relative(directory, file)
        if (entry.isDirectory()) return isLeftOut(`${place}/`) ? [] : tracesBelow(file)
        return entry.isFile() && !isLeftOut(place) ? this.in(place, contentOf(file)) : []
      })
    return tracesBelow(directory)
  }

  /** The same for the command line and environment of every process. */
  inProcesses(): readonly string[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) =>
        ['cmdline', 'environ'].flatMap((what) =>
          this.in(`process ${pid}`, contentOf(`/proc/${pid}/${what}`)),
        ),
      )
  }
}

/**
 * A line in the middle of the PEM: the first holds little but the kind of key, and the last may be short.
 */
function middleLine(pem: string): string {
  const lines = pem.split('\n').filter((line) => line !== '' && !line.startsWith('-----'))
  return lines[Math.floor(lines.length / 2)] ?? ''
}

/** The entries of a folder; none if the folder is gone meanwhile. */
function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

/** The content of a file; empty if the file is gone meanwhile. */
function contentOf(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch {
    return Buffer.alloc(0)
  }
}
