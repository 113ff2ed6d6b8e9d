import { signal } from '@preact/signals'

/** Light or dark, where a person has chosen; else the page follows the system. */
export const Theme = { System: 'system', Light: 'light', Dark: 'dark' } as const
export type Theme = (typeof Theme)[keyof typeof Theme]

const key = 'theme'
const order: readonly Theme[] = [Theme.System, Theme.Light, Theme.Dark]

export const theme = signal<Theme>(Theme.System)

export function restoreTheme(): void {
  const kept = readKept()
  const found = order.find((one) => one === kept)
  if (found !== undefined) show(found)
}

export function nextTheme(): void {
  const next = order[(order.indexOf(theme.value) + 1) % order.length] ?? Theme.System
  show(next)
  try {
    localStorage.setItem(key, next)
  } catch {
    // The browser keeps nothing for this page; the choice holds until the page is closed.
  }
}

function show(chosen: Theme): void {
  theme.value = chosen
  if (chosen === Theme.System) delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = chosen
}

function readKept(): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}
