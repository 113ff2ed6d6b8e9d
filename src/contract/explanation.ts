import { Type } from 'typebox'

/** The fields of every explanation. The command line shows the same sentences and the same text. */
export const explanationFields = {
  now: Type.String({ description: 'What the object is doing at present and why.' }),
  next: Type.String({ description: 'What comes next by itself, with its time if that is known.' }),
  failure: Type.Optional(Type.String({ description: 'What went wrong last, if it still matters.' })),
  text: Type.String({
    description: 'The whole explanation as lines of text, which `Accept: text/plain` selects as the answer.',
  }),
}

/** Of explanations that need more than the database has. */
export const noteField = Type.Optional(
  Type.String({ description: 'Why only what is recorded is told; absent if all that was asked answered.' }),
)
