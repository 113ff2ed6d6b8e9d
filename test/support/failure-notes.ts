/**
 * What else the reader of a failure needs, told by whoever knows it. The runner prints it with each failure,
 * of hooks too.
 */
const notes: (() => string)[] = []

export function onFailure(note: () => string): void {
  notes.push(note)
}

export function failureNotes(): string {
  return notes.map((note) => note()).join('')
}
