/**
 * Whether a text may be stored and passed on everywhere in the platform. It must have no NUL, which neither
 * PostgreSQL nor the arguments of a process can hold, and no half of a surrogate pair, which UTF-8 can not
 * hold.
 */
export function isPlainText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

/** Returns the text with U+FFFD in place of each character that `isPlainText` does not allow. */
export function toPlainText(text: string): string {
  return isPlainText(text) ? text : text.toWellFormed().replaceAll('\0', '\ufffd')
}

/** Names the first character that `isPlainText` does not allow, such as `U+0000`; empty if there is none. */
export function firstFlaw(text: string): string {
  const [flaw] = /[\0\p{Cs}]/u.exec(text) ?? []
  return flaw === undefined ? '' : `U+${hexadecimal(flaw)}`
}

/**
 * Returns the text in a form that fits into a message: control characters and halves of surrogate pairs are
 * escaped as in JSON.
 */
export function visibleText(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cs}]/gu, (character) => `\\u${hexadecimal(character).toLowerCase()}`)
}

function hexadecimal(character: string): string {
  return character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')
}
