import type { Explanation } from '../domain/instance/explanation.ts'

/** An explanation as lines of text, as the command line and the API show it. */
export function explanationText({ now, next, failure }: Explanation): string {
  const lines = [now, `next: ${next}`]
  if (failure !== undefined) lines.push(`the last try failed: ${failure}`)
  return lines.join('\n')
}

/** Begins a text about what only the rows tell. `trouble` says why nothing newer is known. */
export function recordedOnly(trouble: string): string {
  return `${trouble}; this is what is recorded:`
}

/** Why nothing is known beside the rows if no workflow can be asked. */
export const controlSilent = 'the control plane does not answer'

/** One line of a list. */
export function point(text: string): string {
  return `  - ${text}`
}
