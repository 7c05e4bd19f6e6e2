/** The page on WebRTC. */
import { realClock } from '../../shared/base/clock.ts'
import { createPrng } from '../../shared/base/prng.ts'
import { isBench, isLearning } from '../session/routes.ts'
import { agentOf, createBreathe } from './browser.ts'
import { Lab } from './session/lab.ts'
import { startPage } from './start.tsx'

/** Loaded beside the page and not before it: what is drawn first needs no network. */
const library = import('../index.ts')

function startLab(): void {
  const [seed = 1] = crypto.getRandomValues(new Uint32Array(1))
  startPage(
    new Lab({
      async join({ room, create, kind }) {
        const { join } = await library
        const group = await join({ create, kind, until: 'seat', ...(room === undefined ? {} : { room }) })
        return {
          group,
          room: group.room,
          name: group.name,
          onServer: (listener) => group.server.on('state', listener),
        }
      },
      clock: realClock,
      prng: createPrng(seed),
      agent: agentOf(navigator.userAgent),
      breathe: createBreathe(() => realClock.now()),
    }),
  )
}

if (isLearning(location.pathname))
  void import('./learn/start.tsx').then(({ startLearning }) => startLearning())
else if (isBench(location.pathname)) void import('./bench/start.tsx').then(({ startBench }) => startBench())
else startLab()
