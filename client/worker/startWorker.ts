/** The worker that a group runs in, where the browser can pass data channels to one. */
import type { Clock } from '../../shared/base/clock.ts'
import type { GroupThread } from '../rtc/join.ts'
import type { GroupWorker, Port, ToPage } from './messages.ts'
import { createRemoteGroup } from './remoteGroup.ts'

/** The script is small, and comes from where the page came from. */
const patienceSeconds = 5

/** Undefined when this browser, or this page, cannot have it: the group then runs on the thread of the page. */
export async function startGroupThread(clock: Clock): Promise<GroupThread | undefined> {
  if (typeof Worker === 'undefined' || !canPassChannels()) return undefined
  let worker: Worker
  try {
    worker = new Worker(new URL('./groupWorker.ts', import.meta.url), { type: 'module', name: 'papilio' })
  } catch {
    return undefined
  }
  const isLoaded = await new Promise<boolean>((resolve) => {
    const cancel = clock.after(patienceSeconds, () => resolve(false))
    const settle = (value: boolean) => {
      cancel()
      resolve(value)
    }
    worker.onmessage = () => settle(true)
    worker.onerror = (event) => {
      event.preventDefault()
      settle(false)
    }
  })
  if (isLoaded)
    return {
      createGroup: (parts) => createRemoteGroup(wrap(worker), parts),
      stop: () => worker.terminate(),
    }
  worker.terminate()
  return undefined
}

/** A browser that cannot says so only when it is asked to. */
function canPassChannels(): boolean {
  const connection = new RTCPeerConnection()
  try {
    const channel = connection.createDataChannel('') as unknown as Transferable
    new MessageChannel().port1.postMessage(channel, [channel])
    return true
  } catch {
    return false
  } finally {
    connection.close()
  }
}

function wrap(worker: Worker): GroupWorker {
  const port: Port = worker
  return {
    post: (message, transfer) => port.postMessage(message, transfer),
    onMessage(listener) {
      port.onmessage = ({ data }: MessageEvent<ToPage>) => listener(data)
    },
    onError(listener) {
      worker.onerror = ({ message }) => listener(new Error(message))
    },
    stop: () => worker.terminate(),
  }
}
