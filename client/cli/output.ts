/** Where a command writes: results to standard output, everything else to standard error. */
export interface Output {
  line(text: string): void
  error(text: string): void
}

export const standardOutput: Output = {
  line: (text) => process.stdout.write(`${text}\n`),
  error: (text) => process.stderr.write(`${text}\n`),
}

/** `papilio ... | head`: when the reader has seen enough and goes, there is nothing left to do. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit()
  })
}
