/**
 * Notes that help the reader of a failure. Any part of a test may add one. The runner prints all of them
 * with each failure of a test or a hook.
 */
const notes: (() => string)[] = []

export function onFailure(note: () => string): void {
  notes.push(note)
}

export function failureNotes(): string {
  return notes.map((note) => note()).join('')
}
