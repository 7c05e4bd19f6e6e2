/** OpenMPI's MPI_Allreduce over TCP on the hosts of a lab: Debian's openmpi-bin and libopenmpi-dev. */
import { execFileSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Lab } from '../../lab/hosts.ts'
import { type MpiCall, parseMpiLine } from './mpiOutput.ts'

export interface MpiGroup {
  allreduce(bytes: number): Promise<MpiCall>
  close(): Promise<void>
}

/** One rank on each host from 1 to `size`. */
export async function startMpi(lab: Lab, size: number): Promise<MpiGroup> {
  const program = join(lab.folder, 'allreduce')
  compile(program)
  const hosts = Array.from({ length: size }, (_, at) => lab.address(at + 1))
  const child = lab.start(
    0,
    [
      'mpirun',
      '--allow-run-as-root',
      ...['--host', hosts.join(',')],
      ...['--map-by', 'node'],
      ...['--bind-to', 'none'],
      // Instead of ssh: a program on a host of the lab is one in a namespace.
      ...['--mca', 'plm_rsh_agent', writeAgent(lab, size)],
      ...['--mca', 'btl', 'tcp,self'],
      ...['--mca', 'btl_tcp_if_include', 'eth0'],
      ...['--mca', 'oob_tcp_if_include', 'eth0'],
      // Ranks that wait spin, and here they share processors.
      ...['--mca', 'mpi_yield_when_idle', '1'],
      program,
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const { stdin, stdout } = child
  if (!stdin || !stdout) throw new Error('mpirun has no pipes.')
  stdin.on('error', () => {})
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  const nextLine = async () => {
    const { value, done } = await lines.next()
    if (done) throw new Error('mpirun has ended.')
    return String(value)
  }
  const first = await nextLine()
  if (first !== `ready ${size}`) throw new Error(`MPI says: ${first}`)
  return {
    async allreduce(bytes) {
      stdin.write(`${bytes}\n`)
      return parseMpiLine(await nextLine())
    },
    close: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve())
        stdin.end()
      }),
  }
}

function compile(program: string): void {
  const source = join(import.meta.dirname, '../../lab/allreduce.c')
  try {
    execFileSync('mpicc', ['-O2', '-o', program, source], { stdio: ['ignore', 'inherit', 'inherit'] })
  } catch (cause) {
    throw new Error('The comparison needs OpenMPI: apt-get install openmpi-bin libopenmpi-dev', { cause })
  }
}

/** Called as `agent ADDRESS COMMAND...`. Hosts need names of their own, and folders: they are one machine. */
function writeAgent(lab: Lab, size: number): string {
  const path = join(lab.folder, 'agent')
  const cases = Array.from({ length: size }, (_, at) => `  ${lab.address(at + 1)}) host=${at + 1} ;;`).join(
    '\n',
  )
  writeFileSync(
    path,
    `#!/bin/sh
case $1 in
${cases}
  *) echo "no host $1" >&2; exit 1 ;;
esac
shift
mkdir -p ${lab.folder}/mpi$host
export TMPDIR=${lab.folder}/mpi$host
exec ip netns exec ${lab.prefix}$host unshare --uts sh -c "hostname host$host; $*"
`,
  )
  chmodSync(path, 0o755)
  return path
}
