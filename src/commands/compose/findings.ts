/** A line of a file that a person wrote. */
export interface Place {
  readonly file: string
  readonly line: number
}

/** What is to be said of a line. */
export interface Finding extends Place {
  readonly text: string
}

/** The most findings that are kept. A person reads no more of them, and a hostile file makes no more. */
const maxFindings = 100

/**
 * What was found while a project is read. A refusal keeps the project from being made, and all of them are
 * told together; a note is only told.
 */
export class Findings {
  readonly #refusals: Finding[] = []
  readonly #notes: Finding[] = []

  refuse({ file, line }: Place, text: string): void {
    add(this.#refusals, { file, line, text })
  }

  note({ file, line }: Place, text: string): void {
    add(this.#notes, { file, line, text })
  }

  get refusals(): readonly Finding[] {
    return this.#refusals.toSorted((a, b) => a.line - b.line)
  }

  get notes(): readonly Finding[] {
    return this.#notes.toSorted((a, b) => a.line - b.line)
  }
}

/** Adds a finding once. A line that is used several times by an alias is told of only once. */
function add(findings: Finding[], finding: Finding): void {
  if (findings.length >= maxFindings) return
  if (findings.some(({ line, text }) => line === finding.line && text === finding.text)) return
  findings.push(finding)
}

export function findingText({ file, line, text }: Finding): string {
  return `${file}:${String(line)}: ${text}`
}
