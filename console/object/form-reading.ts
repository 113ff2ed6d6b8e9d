/** The request that a form means, or the first thing that is wrong with it. The API checks the rest. */
export type FormReading<R, Field extends string = string> =
  | { readonly ok: true; readonly request: R }
  | { readonly ok: false; readonly field: Field; readonly problem: string }
