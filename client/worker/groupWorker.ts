/** The script of the worker. */
import { hostGroup } from './host.ts'
import type { Port } from './messages.ts'

hostGroup(self as unknown as Port)
