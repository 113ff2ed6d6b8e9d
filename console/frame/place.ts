import { computed, signal } from '@preact/signals'

/** Where in the console a person is: the path below `/console/` and the query. */
const root = '/console/'

interface Place {
  readonly parts: readonly string[]
  readonly query: URLSearchParams
}

const current = signal(readPlace())

export const place = computed(() => current.value)

/** The address of a page, as links have it. */
export function addressOf(...parts: readonly string[]): string {
  return `${root}${parts.map(encodeURIComponent).join('/')}`
}

/** Opens a page of the console. */
export function go(address: string): void {
  history.pushState(undefined, '', address)
  current.value = readPlace()
}

/** Changes the query of the present page, without a new step in the history. */
export function setQuery(query: URLSearchParams): void {
  const text = query.toString()
  history.replaceState(undefined, '', text === '' ? location.pathname : `${location.pathname}?${text}`)
  current.value = readPlace()
}

/** Follows the browser's buttons and all links to pages of the console. */
export function watchPlace(): void {
  addEventListener('popstate', () => {
    current.value = readPlace()
  })
  document.addEventListener('click', (event) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.defaultPrevented)
      return
    const link = (event.target as Element).closest('a')
    if (link === null || link.origin !== location.origin || !link.pathname.startsWith(root)) return
    if (link.target !== '' || link.hash !== '') return
    event.preventDefault()
    go(`${link.pathname}${link.search}`)
  })
}

function readPlace(): Place {
  const parts = location.pathname.slice(root.length).split('/')
  return {
    parts: parts.filter((part) => part !== '').map(decoded),
    query: new URLSearchParams(location.search),
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
