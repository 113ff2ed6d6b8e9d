/**
 * What is text everywhere in the platform: no NUL, which neither PostgreSQL nor the arguments of a process
 * can hold, and no half of a surrogate pair, which UTF-8 can not hold.
 */
export function isPlainText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

/** The same text, with U+FFFD in place of what `isPlainText` does not allow. */
export function toPlainText(text: string): string {
  return isPlainText(text) ? text : text.toWellFormed().replaceAll('\0', '\ufffd')
}

/** The first character that `isPlainText` does not allow, such as `U+0000`; empty where there is none. */
export function firstFlaw(text: string): string {
  const [flaw] = /[\0\p{Cs}]/u.exec(text) ?? []
  return flaw === undefined ? '' : `U+${hexadecimal(flaw)}`
}

/**
 * A text as it can stand in a message: control characters and halves of surrogate pairs are escaped as in
 * JSON.
 */
export function visibleText(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cs}]/gu, (character) => `\\u${hexadecimal(character).toLowerCase()}`)
}

function hexadecimal(character: string): string {
  return character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')
}
