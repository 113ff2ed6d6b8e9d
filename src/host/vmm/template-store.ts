import type { TemplateFiles } from './machine-plan.ts'
import type { VmSpec } from './vmm.ts'

/** Pre-booted guests to start from. */
export interface TemplateStore {
  /** A template that fits, if one is ready; otherwise one may be made in the background for the next start. */
  take(spec: VmSpec): Promise<TemplateFiles | undefined>
  /** A start from the template for `spec` failed: it is not used again. */
  reject(spec: VmSpec, reason: string): void
  close(): Promise<void>
}
