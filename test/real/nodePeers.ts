/** Peers in processes of their own, which end and stand still by signals. */
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { Emitter } from '../../shared/base/emitter.ts'
import type { Command, FaultKind, Said } from './messages.ts'
import { type Peer, type PeerSource, reuse } from './peers.ts'

const kinds: readonly FaultKind[] = ['kill', 'stop', 'return', 'cut', 'leave', 'server']

export function createNodePeers(): PeerSource {
  return reuse(kinds, startPeer)
}

async function startPeer(): Promise<Peer> {
  const child = spawn(process.execPath, ['--import', 'tsx', join(import.meta.dirname, 'nodeMember.ts')], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const peer = new ProcessPeer(child)
  await new Promise<void>((resolve, reject) => {
    peer.heard.on('said', ({ type }) => {
      if (type === 'ready') resolve()
    })
    peer.heard.on('gone', () => reject(new Error('The process of a peer ended before it was ready.')))
  })
  return peer
}

class ProcessPeer implements Peer {
  readonly heard = new Emitter<{ said: Said; gone: number }>()
  readonly #child: ChildProcess
  isGone = false

  constructor(child: ChildProcess) {
    this.#child = child
    child.on('message', (said) => this.heard.emit('said', said as Said))
    child.once('exit', () => {
      this.isGone = true
      this.heard.emit('gone', Date.now())
    })
  }

  post(command: Command): void {
    if (!this.isGone) this.#child.send(command, () => {})
  }

  /** A process ends or stops itself, at the very moment. */
  strike(): void {}

  pause(): void {
    this.#child.kill('SIGSTOP')
  }

  resume(): void {
    this.#child.kill('SIGCONT')
  }

  async end(): Promise<void> {
    if (this.isGone) return
    const gone = new Promise<void>((resolve) => {
      this.heard.on('gone', () => resolve())
    })
    this.#child.kill('SIGKILL')
    await gone
  }
}
