import type { VNode } from 'preact'
import { Dialog } from './dialog.tsx'
import { keyList, keysShown } from './keys.ts'

/** The dialog that lists the keys. */
export function KeyList(): VNode | null {
  if (!keysShown.value) return null
  const close = (): void => {
    keysShown.value = false
  }
  return (
    <Dialog title="Keys" onClose={close}>
      <dl class="keys">
        {keyList.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <div class="actions">
        <button type="button" class="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
