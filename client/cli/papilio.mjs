#!/usr/bin/env node
/** The command `papilio` of an installed package: the sources are TypeScript, which Node 20 runs through tsx. */
import { register } from 'tsx/esm/api'

register()
const { main } = await import('./main.ts')
const { endWithReader, standardOutput } = await import('./output.ts')
endWithReader()
process.exitCode = await main(process.argv.slice(2), standardOutput)
