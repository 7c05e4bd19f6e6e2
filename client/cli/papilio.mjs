#!/usr/bin/env node
/** The command `papilio` of an installed package: the sources are TypeScript, which Node 20 runs through tsx. */
import { register } from 'tsx/esm/api'

register()
await import('./main.ts')
