/**
 * Notes that help the reader of a failure. Any part of a test may add one. The runner prints them with each
 * failure, also of hooks.
 */
const notes: (() => string)[] = []

export function onFailure(note: () => string): void {
  notes.push(note)
}

export function failureNotes(): string {
  return notes.map((note) => note()).join('')
}
