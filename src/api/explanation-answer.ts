import { TextForm } from '../contract/operation.ts'
import type { Operation } from '../contract/operation.ts'
import { selectsText } from './accepted-form.ts'

/**
 * The answer of an explanation as text, if the request selects that: the texts of all entries with an empty
 * line between them. An entry that failed says why. Undefined if the answer is to be JSON.
 */
export function explanationAnswer(
  { textForm }: Pick<Operation, 'textForm'>,
  accept: string,
  entries: readonly object[],
): string | undefined {
  if (textForm !== TextForm.Explanation || !selectsText(textForm, accept)) return undefined
  return entries.map((entry) => `${textOf(entry)}\n`).join('\n')
}

function textOf(entry: object): string {
  const { text, message = '' } = entry as { readonly text?: string; readonly message?: string }
  return text ?? message
}
