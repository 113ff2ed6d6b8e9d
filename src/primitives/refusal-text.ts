/** What another part answers may be long. This is the most that people get to read of it. */
const maxLength = 500

/** The sentence in a refusal of another part, `{ message }`. Undefined if there is none. */
export function refusalText(body: string): string | undefined {
  try {
    const { message } = JSON.parse(body) as { readonly message?: unknown }
    return typeof message === 'string' && message !== '' ? message.slice(0, maxLength) : undefined
  } catch {
    return undefined
  }
}
