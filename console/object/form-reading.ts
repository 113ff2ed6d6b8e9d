/** The request that a form means, or the first thing that is wrong with it. The API checks the rest. */
export type FormReading<R, Field extends string = string> =
  | { readonly ok: true; readonly request: R }
  | { readonly ok: false; readonly field: Field; readonly problem: string }

/** Reads a whole number. Returns a sentence about what is wrong if it is none. */
export function readWholeNumber(
  text: string,
  { min, max = Infinity }: { readonly min: number; readonly max?: number },
): number | string {
  const value = Number(text)
  if (text.trim() !== '' && Number.isInteger(value) && value >= min && value <= max) return value
  const range = max === Infinity ? `from ${min} on` : `from ${min} to ${max}`
  return `Give a whole number ${range}; '${text.trim().slice(0, 40)}' is none.`
}
