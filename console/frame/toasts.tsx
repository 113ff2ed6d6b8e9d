import { signal } from '@preact/signals'
import type { VNode } from 'preact'
import { CloseIcon } from './icons.tsx'

interface Toast {
  readonly id: number
  readonly text: string
  readonly isBad: boolean
}

const shownMs = 6_000
const mostToasts = 4
const toasts = signal<readonly Toast[]>([])
let last = 0

/** Says something for some seconds. What went wrong stays until it is closed. */
export function say(text: string, { isBad = false }: { readonly isBad?: boolean } = {}): void {
  const id = ++last
  toasts.value = [...toasts.value, { id, text, isBad }].slice(-mostToasts)
  if (!isBad) setTimeout(() => close(id), shownMs)
}

function close(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id)
}

export function Toasts(): VNode {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, isBad }) => (
        <div key={id} class={isBad ? 'toast bad' : 'toast'}>
          <span>{text}</span>
          <button
            type="button"
            class="button quiet"
            aria-label="Close this message"
            onClick={() => close(id)}
          >
            <CloseIcon />
          </button>
        </div>
      ))}
    </div>
  )
}
