/** As much of JSON Schema as our published schemas use; a keyword that it does not know is an error, so that nothing goes unchecked. */
type Schema = Readonly<Record<string, unknown>>

const silent = new Set(['$schema', '$defs', 'title', 'description'])

/** What breaks the schema, as `path: why`; empty when nothing does. */
export function problemsOf(value: unknown, schema: Schema, root: Schema = schema, path = '$'): string[] {
  const problems: string[] = []
  const complain = (why: string) => problems.push(`${path}: ${why}`)
  const inner = (part: unknown, of: unknown, name: string) =>
    problems.push(...problemsOf(part, of as Schema, root, `${path}.${name}`))
  const fields = isRecord(value) ? value : undefined
  for (const [keyword, rule] of Object.entries(schema)) {
    if (silent.has(keyword)) continue
    switch (keyword) {
      case '$ref': {
        const [, , name = ''] = String(rule).split('/')
        problems.push(...problemsOf(value, (root.$defs as Record<string, Schema>)[name]!, root, path))
        break
      }
      case 'const':
        if (value !== rule) complain(`is not ${rule}`)
        break
      case 'enum':
        if (!(rule as unknown[]).includes(value)) complain(`${value} is none of ${rule}`)
        break
      case 'type':
        if (![rule].flat().some((name) => isOfType(value, String(name)))) complain(`${value} is no ${rule}`)
        break
      case 'format':
        if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(String(value)))
          complain(`${value} is no ${rule}`)
        break
      case 'minimum':
        if (typeof value === 'number' && value < Number(rule)) complain(`${value} is below ${rule}`)
        break
      case 'oneOf': {
        const fits = (rule as Schema[]).filter((each) => problemsOf(value, each, root).length === 0)
        if (fits.length !== 1) complain(`fits ${fits.length} of ${(rule as Schema[]).length} shapes`)
        break
      }
      case 'items':
        if (Array.isArray(value)) for (const [at, item] of value.entries()) inner(item, rule, String(at))
        break
      case 'required':
        for (const name of rule as string[]) if (fields && !(name in fields)) complain(`lacks ${name}`)
        break
      case 'properties':
        for (const [name, of] of Object.entries(rule as object))
          if (fields && name in fields) inner(fields[name], of, name)
        break
      case 'additionalProperties': {
        const known = Object.keys((schema.properties ?? {}) as object)
        for (const name of Object.keys(fields ?? {}).filter((each) => !known.includes(each)))
          if (rule === false) complain(`has ${name}, which is not known`)
          else inner(fields![name], rule, name)
        break
      }
      default:
        throw new Error(`this test does not know the keyword ${keyword}`)
    }
  }
  return problems
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function isOfType(value: unknown, name: string): boolean {
  switch (name) {
    case 'object':
      return isRecord(value)
    case 'array':
      return Array.isArray(value)
    case 'integer':
      return Number.isInteger(value)
    case 'null':
      return value === null
    default:
      return typeof value === name
  }
}
