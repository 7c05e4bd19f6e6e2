/** The flags of a command line, parsed and refused in words of ours: those of Node speak of syntax. */
import { parseArgs } from 'node:util'
import { ArgumentError } from '../../shared/base/errors.ts'

/** What a flag takes. */
type Flag = { readonly type: 'string' | 'boolean'; readonly short?: string }

/** @throws ArgumentError for what is no flag, and for a flag that lacks its value or has one that it does not take */
export function readFlags(
  argv: readonly string[],
  options: Readonly<Record<string, Flag>>,
): Readonly<Record<string, string | boolean | undefined>> {
  // Not strict: a value may begin with a dash then, and who reads the value says what is wrong with -4.
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, tokens: true })
  const values: Record<string, string | boolean> = {}
  for (const token of tokens) {
    if (token.kind === 'positional') throw wrong(`"${token.value}" belongs to no flag; flags begin with --`)
    if (token.kind !== 'option') continue
    const { name, rawName, value } = token
    const option = Object.hasOwn(options, name) ? options[name] : undefined
    if (!option) throw wrong(`There is no flag ${rawName}`)
    if (option.type === 'string' && value === undefined) throw wrong(`${rawName} needs a value`)
    if (option.type === 'boolean' && value !== undefined) throw wrong(`${rawName} takes no value`)
    values[name] = value ?? true
  }
  return values
}

const wrong = (message: string) => new ArgumentError('argv', message)
