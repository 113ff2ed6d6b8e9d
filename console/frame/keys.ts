import { signal } from '@preact/signals'
import { addressOf, go } from './place.ts'

/** Shows the list of keys. */
export const keysShown = signal(false)

export const keyList: readonly (readonly [keys: string, what: string])[] = [
  ['g o', 'Go to the overview'],
  ['g i', 'Go to the instances'],
  ['g a', 'Go to autoscale'],
  ['g y', 'Go to your account'],
  ['c', 'Create an instance'],
  ['/', 'Search on this page'],
  ['↑ ↓', 'Move in a list, Home and End too'],
  ['Enter', 'Open what is marked in a list'],
  ['Space', 'Select it, for an action on several'],
  ['Esc', 'Leave a field, close a dialog'],
  ['?', 'Show these keys'],
]

const places: Readonly<Record<string, () => void>> = {
  o: () => go(addressOf()),
  i: () => go(addressOf('instances')),
  a: () => go(addressOf('autoscale')),
  y: () => go(addressOf('account')),
}

/** How long after `g` the next key names a page. */
const sequenceMs = 1_500
let sequenceUntil = 0

export function watchKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
    const target = event.target as HTMLElement
    if (isField(target)) {
      if (event.key === 'Escape') target.blur()
      return
    }
    if (document.querySelector('dialog[open]') !== null) return
    if (press(event.key)) event.preventDefault()
  })
}

function press(key: string): boolean {
  const isSecond = performance.now() < sequenceUntil
  sequenceUntil = 0
  if (isSecond) {
    places[key]?.()
    return places[key] !== undefined
  }
  switch (key) {
    case 'g':
      sequenceUntil = performance.now() + sequenceMs
      return true
    case 'c':
      go(addressOf('instances', 'new'))
      return true
    case '?':
      keysShown.value = true
      return true
    case '/': {
      const search = document.querySelector<HTMLInputElement>('input[type="search"]')
      search?.focus()
      search?.select()
      return search !== null
    }
    default:
      return false
  }
}

function isField({ tagName, isContentEditable }: HTMLElement): boolean {
  return isContentEditable || ['TEXTAREA', 'SELECT'].includes(tagName) || isTextInput(tagName)
}

function isTextInput(tagName: string): boolean {
  const field = document.activeElement
  return tagName === 'INPUT' && field instanceof HTMLInputElement && field.type !== 'checkbox'
}
