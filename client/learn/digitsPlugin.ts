/** Puts the handwritten digits beside the built page, made from the npm package; the page itself never loads that. */
import type { Plugin } from 'vite'
import { assertDigits, digitsPath } from './digitsFile.ts'
import { digitsFromPackage } from './packages.ts'

async function makeDigits(): Promise<Uint8Array> {
  const bytes = await digitsFromPackage()
  assertDigits(bytes)
  return bytes
}

export function digitsPlugin(): Plugin {
  let made: Promise<Uint8Array> | undefined
  return {
    name: 'papilio-digits',
    async generateBundle() {
      this.emitFile({ type: 'asset', fileName: digitsPath, source: await makeDigits() })
    },
    configureServer({ middlewares }) {
      middlewares.use((request, response, next) => {
        if (request.url?.split('?')[0] !== `/${digitsPath}`) return next()
        made ??= makeDigits()
        made.then((bytes) => response.end(bytes), next)
      })
    },
  }
}
