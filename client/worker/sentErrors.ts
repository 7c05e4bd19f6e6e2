/** Errors between threads: structured clones lose class and fields, and callers decide by both. */
import * as errors from '../../shared/base/errors.ts'

export interface SentError {
  readonly name: string
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly cause: SentError | undefined
}

const classes = new Map<string, { readonly prototype: object }>(
  Object.entries(errors).filter(([, value]) => typeof value === 'function'),
)

export function sendError(error: unknown): SentError {
  if (!(error instanceof Error))
    return { name: 'Error', message: String(error), fields: {}, cause: undefined }
  const { name, message, cause } = error
  const fields = Object.fromEntries(
    Object.entries(error).filter(([key]) => key !== 'name' && key !== 'cause'),
  )
  return { name, message, fields, cause: cause === undefined ? undefined : sendError(cause) }
}

export function receiveError({ name, message, fields, cause }: SentError): Error {
  const error = new Error(message, cause && { cause: receiveError(cause) })
  const known = classes.get(name)
  if (known) Object.setPrototypeOf(error, known.prototype)
  return Object.assign(error, { name }, fields)
}
