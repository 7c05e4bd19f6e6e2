/** A peer of the lab benchmark as a process: commands come in as lines of JSON, answers go out so. It ends with its input. */
import { createInterface } from 'node:readline'
import { loadNodeWebrtc } from '../../../client/rtc/nodeWebrtc.ts'
import { type Command, createLabMember } from './member.ts'

const member = createLabMember(await loadNodeWebrtc(), () => Number(process.hrtime.bigint()) / 1e9)

for await (const line of createInterface({ input: process.stdin })) {
  const command: Command = JSON.parse(line)
  const answer = await member(command).then(
    (value) => ({ value }),
    (error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }),
  )
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}
process.exit(0)
