/** The bytes of a log as the API writes them, in base64. */
export function bytesOf(output: string): Uint8Array {
  return Uint8Array.from(atob(output), (character) => character.charCodeAt(0))
}
