import { PapilioError } from '../base/errors.ts'
import type { Link } from './types.ts'

/** Refuses a message that the link cannot carry whole: the channel itself would drop it or close. */
export function checkMessageSize(link: Link, message: Uint8Array): void {
  if (message.byteLength <= link.maxMessageBytes) return
  throw new PapilioError(
    'TOO_LARGE',
    `A message of ${message.byteLength} bytes to ${link.peerId} is over the limit of this link, ` +
      `${link.maxMessageBytes} bytes; send it in parts.`,
  )
}
