/** Tables of docs/numbers.md: which types, operators and wires there are, from the tables that refuse the others. */
import { codecOf, type Wire, wires } from '../shared/wire/codec.ts'
import { type DType, dtypes } from '../shared/wire/dtype.ts'
import { admitted, operatorNames } from '../shared/wire/operator.ts'
import { decimal, table } from './table.ts'

const nameOf = (dtype: DType) => {
  const name = dtypes[dtype].create(0).constructor.name
  if (dtype === 'f16') return `${name} with \`dtype: 'f16'\`, or Float16Array`
  return dtype === 'bf16' ? `${name} with \`dtype: 'bf16'\`` : name
}

const typeTable = () =>
  table(
    ['dtype', 'array', 'bytes', ...operatorNames.map((op) => `\`${op}\``)],
    (Object.keys(dtypes) as DType[]).map((dtype) => [
      `\`${dtype}\``,
      nameOf(dtype),
      String(dtypes[dtype].bytes),
      ...operatorNames.map((op) => (admitted[dtype].includes(op) ? 'yes' : '-')),
    ]),
  )

const wireTable = () =>
  table(
    ['wire', 'for', 'operators', 'bytes per element', 'elements in a block'],
    (Object.keys(wires) as Wire[]).map((wire) => {
      const { dtypes: types, operators } = wires[wire]
      const codec = codecOf(wire, types[0]!, 'sum')!
      return [
        `\`${wire}\``,
        types.map((dtype) => `\`${dtype}\``).join(', '),
        operators.map((op) => `\`${op}\``).join(', '),
        decimal(codec.encodedBytes(codec.block) / codec.block),
        String(codec.block),
      ]
    }),
  )

export const numberTables = { types: typeTable, wires: wireTable }
