export type Environment = Readonly<Record<string, string | undefined>>

export interface TracingLog {
  warn(fields: object, message: string): void
}
