import { useState } from 'preact/hooks'
import type { VNode } from 'preact'

const copiedMs = 1_500

/** A command to paste into a terminal. */
export function Command({ text, label }: { readonly text: string; readonly label: string }): VNode {
  const [copied, setCopied] = useState(false)
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), copiedMs)
  }
  return (
    <div class="command">
      <pre tabIndex={0} role="region" aria-label={label}>
        {text}
      </pre>
      <button type="button" class="button quiet" onClick={() => void copy()} aria-label={`Copy: ${label}`}>
        {copied ? 'Copied' : 'Copy'}
      </button>
    </div>
  )
}

/** The command that sends a request with a body, for the shell. `path` begins below the API's address. */
export function requestCommand(path: string, body: string, method: 'POST' | 'PATCH' = 'POST'): string {
  const quoted = body.replaceAll("'", String.raw`'\''`)
  const how = method === 'POST' ? '' : `-X ${method} `
  return `curl ${how}-H "Authorization: Bearer $TOKEN" \\\n  ${apiAddress()}/${path} \\\n  -d '${quoted}'`
}

/** The beginning of every command: the address of this installation. */
export function apiAddress(): string {
  return `${location.origin}/v1`
}
