import { expect, it } from 'vitest'
import { createValues, period } from '../../../shared/bench/values.ts'
import { type DType, dtypes } from '../../../shared/wire/dtype.ts'
import { admitted } from '../../../shared/wire/operator.ts'
import { kernelOf } from '../../../shared/wire/resolve.ts'

it('makes folds that are exact in every type, in every order, for few ranks and for many', () => {
  for (const size of [1, 3, 7, 300])
    for (const dtype of size < 300 ? (Object.keys(dtypes) as DType[]) : (['i8', 'bf16'] as const))
      for (const op of admitted[dtype]) {
        if (op === 'mean' || (size === 300 && op !== 'sum')) continue
        const info = dtypes[dtype]
        const values = createValues({ collective: 'allreduce', dtype, op, size, root: -1, seed: 7 })
        const inputs = Array.from({ length: size }, (_, rank) => {
          const vector = info.create(50)
          values.fill(rank, vector)
          return vector
        })
        const combine = kernelOf(dtype, op)
        // From the last rank to the first, and from the middle outwards.
        for (const order of [
          [...inputs].reverse(),
          [...inputs.slice(size >> 1), ...inputs.slice(0, size >> 1)],
        ]) {
          const result = order[0]!.slice()
          for (const other of order.slice(1)) combine(result, other, result)
          expect(values.countWrong(0, result, 50), `${op} of ${dtype} on ${size} ranks`).toBe(0)
        }
      }
})

it('counts each wrong element, also one that is right elsewhere', () => {
  const values = createValues({
    collective: 'allreduce',
    dtype: 'f32',
    op: 'sum',
    size: 1,
    root: -1,
    seed: 1,
  })
  const vector = new Float32Array(3 * period)
  values.fill(0, vector)
  expect(values.countWrong(0, vector, 0)).toBe(0)
  vector[5] = Number.NaN
  vector[2 * period] = -1
  expect(values.countWrong(0, vector, 0)).toBe(2)
  const moved = new Float32Array(4096)
  values.fill(0, moved)
  moved.copyWithin(0, 2048)
  expect(values.countWrong(0, moved, 0)).toBeGreaterThan(1500)
})

it('knows whose part is where', () => {
  const size = 3
  const part = 5
  const fill = (collective: 'allgather' | 'alltoall' | 'scatter', rank: number, length: number) => {
    const values = createValues({ collective, dtype: 'i32', op: undefined, size, root: 2, seed: 3 })
    const vector = new Int32Array(length)
    values.fill(rank, vector)
    return { values, vector }
  }
  const gathered = new Int32Array(15)
  for (let rank = 0; rank < size; rank++) gathered.set(fill('allgather', rank, part).vector, rank * part)
  expect(fill('allgather', 0, part).values.countWrong(1, gathered, part)).toBe(0)
  const exchanged = new Int32Array(15)
  for (let rank = 0; rank < size; rank++)
    exchanged.set(fill('alltoall', rank, 15).vector.subarray(part, 2 * part), rank * part)
  expect(fill('alltoall', 0, 15).values.countWrong(1, exchanged, part)).toBe(0)
  const scattered = fill('scatter', 2, 15).vector.subarray(part, 2 * part)
  expect(fill('scatter', 0, 15).values.countWrong(1, scattered, part)).toBe(0)
  expect(fill('scatter', 0, 15).values.countWrong(0, scattered, part)).toBeGreaterThan(2)
})
