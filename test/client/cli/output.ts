import type { Output } from '../../../client/cli/output.ts'

/** Keeps what a command writes. */
export function recordOutput(): Output & { readonly lines: string[]; readonly errors: string[] } {
  const lines: string[] = []
  const errors: string[] = []
  return { lines, errors, line: (text) => lines.push(text), error: (text) => errors.push(text) }
}
