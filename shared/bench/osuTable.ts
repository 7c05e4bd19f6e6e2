/** The text of the OSU micro-benchmarks in their full form: latency over the ranks, each rank's a mean of its iterations. */
import type { Collective } from '../schedule/types.ts'
import type { BenchStart, Row } from './events.ts'
import { type About, algorithmText, type BenchFormat, operatorName, typeName } from './format.ts'

const titles: Readonly<Record<Collective, string>> = {
  allreduce: 'Allreduce',
  reduceScatter: 'Reduce_scatter',
  allgather: 'Allgather',
  reduce: 'Reduce',
  broadcast: 'Broadcast',
  gather: 'Gather',
  scatter: 'Scatter',
  alltoall: 'Alltoall',
  barrier: 'Barrier',
}

export function createOsuTable({ version }: About): BenchFormat {
  let start: BenchStart | undefined
  let block = ''
  let failed = 0
  const isChecked = () => start !== undefined && start.plan.check > 0
  const headOf = (row: Row) => [
    `# Datatype: ${typeName(row.dtype)}, operator: ${operatorName(row.op)}, algorithm: ${row.label}.`,
    `# ${'Size'.padEnd(8)}${['Avg Latency(us)', 'Min Latency(us)', 'Max Latency(us)'].map((title) => title.padStart(18)).join('')}${'Iterations'.padStart(12)}${isChecked() ? 'Validation'.padStart(12) : ''}`,
  ]
  return {
    tell(event) {
      if (event.kind === 'start') {
        start = event.start
        return [`# Papilio ${titles[start.plan.collective]} Latency Test v${version}`]
      }
      if (event.kind !== 'row') return []
      const { row } = event
      const { byRank, wrong } = row.outOfPlace
      const own = `${row.dtype} ${row.op} ${row.root} ${row.label}`
      const head = own === block ? [] : headOf(row)
      block = own
      if (wrong !== undefined && wrong > 0) failed++
      const us = (seconds: number) => (seconds * 1e6).toFixed(2).padStart(18)
      const line = [
        String(row.bytes).padEnd(10),
        us(byRank.avg),
        us(byRank.min),
        us(byRank.max),
        String(row.iterations).padStart(12),
        isChecked() ? (wrong === undefined ? 'N/A' : wrong === 0 ? 'Pass' : 'Fail').padStart(12) : '',
      ].join('')
      const used = row.label === row.algorithm ? [] : [`# ${row.bytes} bytes: ${algorithmText(row)}`]
      return [...head, ...used, line]
    },
    finish: (errors) => [
      ...errors.map((error) => `# ${error}`),
      ...(failed > 0 ? [`# DATA VALIDATION ERROR: ${failed} of the sizes have wrong elements.`] : []),
    ],
  }
}
