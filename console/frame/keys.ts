import { signal } from '@preact/signals'
import { addressOf, go } from './place.ts'

/** Shows the list of keys. */
export const keysShown = signal(false)

/** The pages that a key opens after `g`. */
const pages: readonly (readonly [key: string, title: string, address: string])[] = [
  ['o', 'the overview', addressOf()],
  ['i', 'the instances', addressOf('instances')],
  ['s', 'the services', addressOf('services')],
  ['v', 'the volumes', addressOf('volumes')],
  ['m', 'the images', addressOf('images')],
  ['c', 'the certificates', addressOf('certificates')],
  ['a', 'autoscale', addressOf('autoscale')],
  ['y', 'your account', addressOf('account')],
]

export const keyList: readonly (readonly [keys: string, what: string])[] = [
  ...pages.map(([key, title]) => [`g ${key}`, `Go to ${title}`] as const),
  ['c', 'Create an instance'],
  ['/', 'Search on this page'],
  ['↑ ↓', 'Move in a list, Home and End too'],
  ['Enter', 'Open what is marked in a list'],
  ['Space', 'Select it, for an action on several'],
  ['Esc', 'Leave a field, close a dialog'],
  ['?', 'Show these keys'],
]

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
    const address = pages.find(([each]) => each === key)?.[2]
    if (address !== undefined) go(address)
    return address !== undefined
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
