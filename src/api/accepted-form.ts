import { TextForm } from '../contract/operation.ts'

/**
 * Whether the header `Accept` selects the text form of an answer. Only a type that is named itself counts: a
 * client that sends a wildcard or nothing gets what the form sends by itself.
 */
export function selectsText(form: TextForm, accept: string): boolean {
  return selected[form](accept)
}

const selected = {
  [TextForm.Prometheus]: (accept) => !names(accept, 'application/json'),
  [TextForm.Explanation]: (accept) => names(accept, 'text/plain') && !names(accept, 'application/json'),
} satisfies Record<TextForm, (accept: string) => boolean>

function names(accept: string, type: string): boolean {
  return accept.split(',').some((part) => part.split(';')[0]?.trim().toLowerCase() === type)
}
